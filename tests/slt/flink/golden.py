# SPDX-License-Identifier: Apache-2.0
"""Golden files for the comparison with Flink: reading, digests, and marking of origins.

The grammar is that of tests/slt/slt.h. A record is what begins with a known word and ends at a
blank line; origins are comment lines in the header of the file or before a record.
"""
import hashlib
import os
import re

KINDS = ("file", "statement ok", "statement error", "query", "restart", "cat")
HAS_BODY = ("file", "statement ok", "statement error", "query")
HAS_EXPECTED = ("statement error", "query", "cat")
ORIGIN = re.compile(r"^#\s*origin:\s*(.*)$")


class Record:
    """A record: where it is, what it does, what it expects."""

    def __init__(self, kind, arg, line):
        self.kind, self.arg, self.line = kind, arg, line  # line: of its first line, from 0
        self.body, self.expected, self.origin = "", [], None

    def digest(self):
        """Of what is asked and what is expected: a change of either makes a verdict void."""
        text = "\n".join([self.kind, self.arg, self.body] + self.expected)
        return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]

    def has_rows(self):
        return self.kind in ("query", "cat")


class Golden:
    """A golden file."""

    def __init__(self, path):
        self.path = path
        with open(path, encoding="utf-8", newline="") as file:
            self.lines = file.read().split("\n")
        self.compare_rows = False
        self.exempt = set()
        self.origin = None
        self.records = []
        self._read()

    def _read(self):
        at, own = 0, None
        self.header_end = next(i for i, l in enumerate(self.lines) if not l.strip())
        while at < len(self.lines):
            line = self.lines[at].strip()
            if line.startswith("#"):
                match = ORIGIN.match(line)
                if at < self.header_end:
                    self._read_header(line, match)
                elif match:
                    own = match.group(1).split(":")[0].strip()
                at += 1
            elif line:
                record, at = self._read_record(line, at)
                record.origin = own or self.origin
                own = None
                self.records.append(record)
            else:
                at += 1

    def _read_header(self, line, match):
        text = line[1:].strip()
        if match:
            self.origin = match.group(1).split(":")[0].strip()
        elif text == "compare: rows":
            self.compare_rows = True
        elif text.startswith("exempt "):
            self.exempt.add(text.split()[1].rstrip(":"))

    def _read_record(self, line, at):
        kind = next(k for k in KINDS if line.startswith(k))
        record = Record(kind, line[len(kind):].strip(), at)
        at += 1
        if kind in HAS_BODY or kind in HAS_EXPECTED:
            start = at
            while at < len(self.lines) and self.lines[at].strip() != "----" and (
                kind == "file" or self.lines[at].strip()
            ):
                at += 1
            record.body = "\n".join(self.lines[start:at])
            if kind == "file" and record.body:
                record.body += "\n"
        if kind == "file":
            return record, at + 1
        if kind in HAS_EXPECTED:
            at += 1
            while at < len(self.lines) and self.lines[at].strip():
                record.expected.append(self.lines[at])
                at += 1
        return record, at

    def mark(self, reproduced, version):
        """Rewrites the origins: `reproduced` says of each record whether Flink gave its rows."""
        origins = {}
        for record in self.records:
            if record.has_rows():
                was = record.origin if record.origin in ("reference", "sqlite") else "reasoned"
                origins[record.line] = version if reproduced[record.line] else was
        names = sorted(set(origins.values())) or [self.origin]
        most = max(names, key=list(origins.values()).count) if origins else names[0]
        lines = []
        for number, line in enumerate(self.lines):
            if ORIGIN.match(line):
                if number < self.header_end:
                    note = ORIGIN.match(line).group(1).partition(":")[2]
                    keeps = note and line.split("origin:")[1].strip().startswith(most)
                    lines.append(f"# origin: {most}" + (f":{note}" if keeps else ""))
                continue
            if number in origins and origins[number] != most:
                lines.append(f"# origin: {origins[number]}")
            lines.append(line)
        with open(self.path, "w", encoding="utf-8", newline="") as file:
            file.write("\n".join(lines))


def find(paths):
    """The golden files below some paths, in order."""
    found = []
    for path in paths:
        if os.path.isfile(path):
            found.append(path)
            continue
        for folder, _, names in sorted(os.walk(path)):
            found += [os.path.join(folder, n) for n in sorted(names) if n.endswith(".slt")]
    return found
