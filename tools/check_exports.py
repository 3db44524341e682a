#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the symbols that the shared library exports with those that the public headers declare.

    check_exports.py LIBRARY INCLUDE_DIR
"""
import pathlib
import re
import subprocess
import sys


def declared(include_dir):
    """Names of functions declared with MS_API in any public header."""
    names = set()
    for header in sorted(pathlib.Path(include_dir).glob("*.h")):
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
        for match in re.finditer(r"\bMS_API\b[^;{]*?\b(ms_\w+)\s*\(", text):
            names.add(match.group(1))
    return names


def exported(library):
    """Names of ours that the library defines for others."""
    command = ["nm", "-D", "--defined-only", library]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    names = {line.split()[-1] for line in out.stdout.splitlines() if line}
    return {name for name in names if name.startswith("ms_") or name.startswith("msi_")}


def main():
    want = declared(sys.argv[2])
    have = exported(sys.argv[1])
    for name in sorted(want - have):
        print(f"declared with MS_API, not exported: {name}")
    for name in sorted(have - want):
        print(f"exported, not declared with MS_API: {name}")
    if not want:
        print("no declaration was found")
    return 0 if want and want == have else 1


if __name__ == "__main__":
    sys.exit(main())
