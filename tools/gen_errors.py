#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/errors.md from include/millstream/errcode.def.

    tools/gen_errors.py            writes the page
    tools/gen_errors.py --check    exit status 1 when the page is not what would be written
"""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = os.path.join(ROOT, "include", "millstream", "errcode.def")
PAGE = os.path.join(ROOT, "docs", "errors.md")

INTRODUCTION = """\
# Errors

<!-- Generated from include/millstream/errcode.def by tools/gen_errors.py. Do not edit. -->

Every error has a name, which the command line prints and which never changes its meaning; a
SQLSTATE, for programs that know those; and, where they exist, the place in the SQL text, the
particulars and a hint:

    error[UNDEFINED_COLUMN]: column "prize" does not exist
    job.sql:3:8
      SELECT prize FROM bids
             ^^^^^
    hint: Did you mean "price"?

A warning tells of something odd while what was asked for is done. It has the same parts, says
`warning[...]`, and changes no exit status.

The C interface carries the same names as `MS_` constants (`MS_UNDEFINED_COLUMN`) in
`<millstream/base.h>`.
"""

_GROUP = re.compile(r"^/\*\s*(.+?)\.?\s*\*/$")
_ENTRY = re.compile(r'^X\((\w+),\s*"([^"]+)",\s*"([^"]+)"\)$')


def read_groups(text):
    """A list of (title, entries) in the order of the table; the first group has no title. The head
    comment of the file is skipped."""
    body = text[text.index("\nX("):]
    groups = [("", [])]
    for line in body.strip().splitlines():
        entry, group = _ENTRY.match(line), _GROUP.match(line)
        if entry:
            groups[-1][1].append(entry.groups())
        elif group:
            groups.append((group.group(1), []))
        else:
            raise SystemExit(f"errcode.def: cannot read \"{line}\"")
    return groups


def render(groups):
    parts = [INTRODUCTION]
    for title, entries in groups:
        rows = [f"| `{name}` | {state} | {meaning} |" for name, state, meaning in entries
                if name != "OK"]
        if rows:
            heading = f"\n## {title}\n" if title else ""
            noun = "warning" if entries[0][1].startswith("01") else "error"
            table = [f"| {noun} | SQLSTATE | meaning |", "|---|---|---|"] + rows
            parts.append("\n".join([heading] + table) + "\n")
    return "".join(parts)


def main(arguments):
    with open(TABLE, encoding="utf-8") as file:
        page = render(read_groups(file.read()))
    if arguments == ["--check"]:
        try:
            with open(PAGE, encoding="utf-8") as file:
                is_current = file.read() == page
        except FileNotFoundError:
            is_current = False
        if not is_current:
            print("docs/errors.md is stale: run make docs", file=sys.stderr)
        return 0 if is_current else 1
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(page)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
