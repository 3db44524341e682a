#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Flink as an oracle: runs the records of golden files on Flink and compares the rows.

    compare.py PATH ...          runs, prints every difference, ends with counts
    compare.py --mark PATH ...   the same, and writes what was found: the origins in the files and
                                 their lines in verified.txt
    compare.py --check           runs nothing: every record whose origin is Flink is in
                                 verified.txt, with the statement and the rows that Flink gave;
                                 part of the tests

Only --check goes without PyFlink (pip install apache-flink, Java 11 or 17). A record is reproduced
when Flink gave its rows in one of the modes that the file runs in and gave others in none; what
Flink refuses in both modes, or in the tables before it, is not. docs/internals/testing.md says
more.
"""
import os
import shutil
import sys
import tempfile

import golden
import rows

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
VERIFIED = os.path.join(HERE, "verified.txt")
SAME, DIFFERS, REFUSED, SKIPPED = "same", "differs", "refused", "not run"


class Run:
    """A file in one mode."""

    def __init__(self, cluster, file, is_batch):
        from cluster import Refused, Session  # here, as --check does without

        self.refused, self.session_class = Refused, Session
        self.cluster, self.file, self.is_batch = cluster, file, is_batch
        self.tmp = tempfile.mkdtemp(prefix="millstream-flink-")
        self.session = Session(cluster, is_batch)
        self.verdicts, self.notes = {}, {}

    def all(self):
        for record in self.file.records:
            self.verdicts[record.line], self.notes[record.line] = self.one(record)
        shutil.rmtree(self.tmp)
        return self

    def one(self, record):
        if record.kind == "file":
            path = os.path.join(self.tmp, record.arg)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8", newline="") as out:
                out.write(record.body)
            return SAME, ""
        if record.kind == "restart":
            self.session = self.session_class(self.cluster, self.is_batch)
            return SAME, ""
        if record.kind == "cat":
            return self.cat(record)
        if not self.is_runnable(record):
            return SKIPPED, ""
        sql = record.body.replace("${TMP}", self.tmp)
        try:
            if record.arg == "tableau":
                lines = self.session.printed(sql)
                return (SAME if lines == record.expected else DIFFERS), as_note(lines)
            changes = self.session.execute(sql)
        except self.refused as error:
            return (SAME if record.kind == "statement error" else REFUSED), str(error)
        if record.kind == "statement error":
            return DIFFERS, f"Flink takes it: {changes[:3]}"
        return self.compare(record, changes) if record.kind == "query" else (SAME, "")

    def is_runnable(self, record):
        """The SQL client checks settings and prints queries; csv is a format of ours."""
        is_setting = record.body.lstrip().upper().startswith(("SET", "RESET"))
        is_table = record.arg == "tableau" and "SELECT" in record.body
        is_client = is_setting and record.kind != "statement ok"
        return not (record.arg == "csv" or is_table or is_client)

    def compare(self, record, changes):
        ours = [rows.parse_line(line) for line in record.expected]
        if record.arg == "changelog":
            theirs = [(("op", kind),) + row for kind, row in changes]
        else:
            theirs = rows.fold(changes)
        # Flink's batch mode promises no order but that of ORDER BY.
        in_order = self.file.compare_rows and (not self.is_batch or "ORDER BY" in record.body)
        if rows.same_rows(ours, theirs, in_order):
            return SAME, ""
        return DIFFERS, as_note(theirs)

    def cat(self, record):
        path = os.path.join(self.tmp, record.arg)
        names = [path]
        if os.path.isdir(path):
            names = [os.path.join(path, n) for n in os.listdir(path) if n[0] not in "._"]
        lines = []
        for name in names:
            if os.path.isfile(name):
                with open(name, encoding="utf-8") as file:
                    lines += file.read().splitlines()
        if sorted(lines) == sorted(record.expected):
            return SAME, ""
        return (DIFFERS if lines else REFUSED), as_note(sorted(lines))


def as_note(lines):
    return "".join(f"\n        {line}" for line in lines[:20]) or "no row"


def runs_of(cluster, file):
    runs = {}
    if "streaming" not in file.exempt:
        runs["streaming"] = Run(cluster, file, False).all()
    if "batch" not in file.exempt:
        runs["batch"] = Run(cluster, file, True).all()
    return runs


def is_reproduced(record, runs):
    verdicts = [run.verdicts[record.line] for run in runs.values()]
    return SAME in verdicts and DIFFERS not in verdicts


def report(file, runs, counts):
    name = os.path.relpath(file.path, TOP)
    for record in file.records:
        verdicts = {mode: run.verdicts[record.line] for mode, run in runs.items()}
        if record.has_rows():
            key = "reproduced" if is_reproduced(record, runs) else "/".join(verdicts.values())
            counts[key] = counts.get(key, 0) + 1
        for mode, verdict in verdicts.items():
            if verdict not in (SAME, SKIPPED):
                note = runs[mode].notes[record.line]
                print(f"{name}:{record.line + 1}: {mode}: {record.kind} {verdict}: {note}")


def verified_line(name, record):
    return f"{name} {record.digest()}"


def read_verified():
    if not os.path.exists(VERIFIED):
        return []
    with open(VERIFIED, encoding="utf-8") as file:
        return [line for line in file.read().split("\n") if line and not line.startswith("#")]


def write_verified(version, lines_of):
    """Puts the lines of the files that were run in place of the old ones."""
    kept = [line for line in read_verified() if line.split(" ")[0] not in lines_of]
    kept = [line for line in kept if os.path.exists(os.path.join(TOP, line.split(" ")[0]))]
    lines = sorted(kept + [line for lines in lines_of.values() for line in lines])
    with open(VERIFIED, "w", encoding="utf-8") as file:
        file.write("# SPDX-License-Identifier: Apache-2.0\n")
        file.write("# Written by compare.py --mark: records whose rows Flink gave, by the\n")
        file.write(f"# digest of statement and rows. The last run was of {version}.\n")
        file.write("".join(line + "\n" for line in lines))


def compare(paths, mark):
    from cluster import VERSION, Cluster

    version = f"flink-{VERSION}"
    cluster = Cluster()
    counts, lines_of = {}, {}
    for path in golden.find(paths):
        file = golden.Golden(path)
        runs = runs_of(cluster, file)
        report(file, runs, counts)
        sys.stdout.flush()
        if mark:
            name = os.path.relpath(path, TOP)
            reproduced = {r.line: is_reproduced(r, runs) for r in file.records}
            file.mark(reproduced, version)
            kept = [r for r in file.records if r.has_rows() and reproduced[r.line]]
            lines_of[name] = [verified_line(name, record) for record in kept]
    if mark:
        write_verified(version, lines_of)
    cluster.close()
    for key in sorted(counts):
        print(f"{counts[key]:5} {key}")
    return 0


def check():
    verified = set(read_verified())
    bad, good = 0, 0
    for path in golden.find([TOP]):
        name = os.path.relpath(path, TOP)
        for record in golden.Golden(path).records:
            if not record.has_rows() or not (record.origin or "").startswith("flink-"):
                continue
            if verified_line(name, record) in verified:
                good += 1
                continue
            bad += 1
            print(f"{path}:{record.line + 1}: origin {record.origin}, but the statement or its "
                  "rows have changed since: run compare.py --mark, or say origin: reasoned")
    print(f"{good} records are as Flink gave them, {bad} are not")
    return 1 if bad else 0


def main(arguments):
    if arguments == ["--check"]:
        return check()
    mark = "--mark" in arguments
    paths = [argument for argument in arguments if argument != "--mark"]
    if not paths:
        print(__doc__)
        return 2
    return compare(paths, mark)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
