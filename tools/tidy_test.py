#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves that every rule of tools/tidy.py can fail, and that good code passes.

A case is a small tree: the good tree with some files changed. A bad case names the rule that it
breaks and, where it matters, the line; nothing else may be reported.
"""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tidy  # noqa: E402

SPDX_C = "/* SPDX-License-Identifier: Apache-2.0 */\n"
SPDX_HASH = "# SPDX-License-Identifier: Apache-2.0\n"
HEAD = "/*\n * What this file is, why it exists and what it does not do.\n */\n"

LAYERS = """
# lowest first
base
os
sql      only base
exec
engine   not os
"""


def header(guard, body):
    return f"{SPDX_C}{HEAD}#ifndef {guard}\n#define {guard}\n\n{body}\n#endif\n"


def source(body, includes='#include "base/thing.h"\n'):
    return f"{SPDX_C}{HEAD}{includes}\n{body}"


THING_H = header("MS_BASE_THING_H", "int ms_thing_make(int a);\n")
THING_PRIV_H = header("MS_BASE_BASE_PRIV_H", "int msi_base_help(int a);\n")
THING_C = source("static int twice(int a)\n{\n    return 2 * a;\n}\n\n"
                 "int ms_thing_make(int a)\n{\n    return twice(a);\n}\n")

GOOD = {
    "src/layers.txt": LAYERS,
    "src/base/README.md": "# base\n",
    "src/base/thing.h": THING_H,
    "src/base/base_priv.h": THING_PRIV_H,
    "src/base/thing.c": THING_C,
    "tests/unit/base/thing_test.c": SPDX_C + "int main(void)\n{\n    return 0;\n}\n",
}


def good_tree(changes):
    tree = dict(GOOD)
    for path, text in changes.items():
        if text is None:
            tree.pop(path)
        else:
            tree[path] = text
    return tree


def problems_of(tree):
    with tempfile.TemporaryDirectory() as root:
        for path, text in tree.items():
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as file:
                file.write(text)
        problems, _ = tidy.check_tree(root, list(tree))
        return problems


def lines(count, text="    a += 1;\n"):
    return text * count


def function(body, name="ms_thing_make"):
    return f"int {name}(int a)\n{{\n{body}    return a;\n}}\n"


def in_thing(body, includes='#include "base/thing.h"\n'):
    return {"src/base/thing.c": source(body, includes)}


def module(name, include, extra=""):
    """A module with one file that includes something."""
    guard = f"MS_{name.upper()}_USE_H"
    return {
        f"src/{name}/README.md": f"# {name}\n",
        f"src/{name}/use.h": header(guard, f'#include "{include}"\n\nint ms_use_it(int a);\n'),
        f"src/{name}/use.c": source(function(extra, "ms_use_it"), f'#include "{name}/use.h"\n'),
        f"tests/unit/{name}/use_test.c": SPDX_C + "int main(void)\n{\n    return 0;\n}\n",
    }


def deep(depth):
    body = ""
    for level in range(depth):
        body += "    " * (level + 1) + "if (a > 0) {\n"
    body += "    " * (depth + 1) + "a--;\n"
    for level in reversed(range(depth)):
        body += "    " * (level + 1) + "}\n"
    return body


LONG = function(lines(70))
EXEMPT = "/* tidy: long-function: the table reads best in one piece */\n"
OTHER = {"src/os/README.md": "# os\n",
         "src/os/file.h": header("MS_OS_FILE_H", "int ms_file(int a);\n")}
NOTE = "TO" + "DO"

# (rule, line or None, changes)
BAD = [
    ("layer", 8, {**module("sql", "os/file.h"), **OTHER}),
    ("layer", 8, {**module("engine", "os/file.h"), **OTHER}),
    ("layer", 8, {**module("os", "sql/use.h"), **module("sql", "base/thing.h")}),
    ("layer", 1, module("stray", "base/thing.h")),
    ("include", 8, module("os", "base/missing.h")),
    ("include-order", 5, in_thing(THING_C.split("\n\n", 1)[1],
                                  '#include "base/arena.h"\n#include "base/thing.h"\n')
     | {"src/base/arena.h": header("MS_BASE_ARENA_H", "int ms_arena(int a);\n")}),
    ("include-order", 7, in_thing(THING_C.split("\n\n", 1)[1],
                                  '#include "base/thing.h"\n#include <stdio.h>\n'
                                  '#include "base/base_priv.h"\n')),
    ("include-order", 5, in_thing(
        THING_C.split("\n\n", 1)[1],
        '#include "base/thing.h"\n\n#include "base/base_priv.h"\n#include "base/arena.h"\n')
     | {"src/base/arena.h": header("MS_BASE_ARENA_H", "int ms_arena(int a);\n")}),
    ("private-header", 8, module("os", "base/base_priv.h")),
    ("name", 7, in_thing("int thing_make(int a)\n{\n    return a;\n}\n")),
    ("name", 7, in_thing("static int ms_twice(int a)\n{\n    return a;\n}\n")),
    ("name", 9, {"src/base/thing.h": header(
        "MS_BASE_THING_H", "int ms_thing_make(int a);\n"
        "static inline int thing_id(int a)\n{\n    return a;\n}\n")}),
    ("declared", 7, in_thing("int ms_thing_other(int a)\n{\n    return a;\n}\n")),
    ("declared", 7, in_thing("int msi_base_other(int a)\n{\n    return a;\n}\n")),
    ("visibility", 9, module("os", "base/thing.h", "    a = msi_base_help(a);\n")),
    ("type-name", 8, {"src/base/thing.h": header(
        "MS_BASE_THING_H", "typedef struct thing {\n    int (*run)(int a);\n} thing;\n"
        "int ms_thing_make(int a);\n")}),
    ("type-name", 8, {"src/base/thing.h": header(
        "MS_BASE_THING_H", "typedef int ms_thing_t;\nint ms_thing_make(int a);\n")}),
    ("type-name", 8, {"src/base/thing.h": header(
        "MS_BASE_THING_H", "typedef struct ms_thing *ms_thing_ref;\nint ms_thing_make(int a);\n")}),
    ("macro-name", 8, {"src/base/thing.h": header(
        "MS_BASE_THING_H", "#define LIMIT 3\nint ms_thing_make(int a);\n")}),
    ("long-function", 7, in_thing(LONG)),
    ("long-file", None, in_thing(function("") + "\n" * 1200 + "extern int x;\n")),
    ("long-line", 9, in_thing(function("    a += " + "1 + " * 30 + "1;\n"))),
    ("nesting", 13, in_thing(function(deep(5)))),
    ("label", 10, in_thing(function("    a++;\nagain:\n    a--;\n"))),
    ("label", 11, in_thing(function("    a++;\nout:\nout:\n    a--;\n"))),
    ("banned", 9, in_thing(function("    strcpy(b, c);\n"))),
    ("banned", 9, in_thing(function("    a = malloc(3);\n"))),
    ("banned", 9, in_thing(function("    a = time(NULL);\n"))),
    ("banned", 9, in_thing(function("    assert(a > 0);\n"))),
    ("banned", 4, {"tests/unit/base/thing_test.c":
                   SPDX_C + "int main(void)\n{\n    return rand();\n}\n"}),
    ("banned", 9, {"src/base/shim.cc": source(
        "int f(int a)\n{\n    std::free(p);\n    return a;\n}\n"),
                   "tests/unit/base/shim_test.c": GOOD["tests/unit/base/thing_test.c"]}),
    ("no-free", 9, module("sql", "base/thing.h", "    ms_mem_free(p);\n")
     | {"src/sql/use.c": source(function("    ms_mem_free(p);\n", "ms_use_it"),
                                '#include "sql/use.h"\n')}),
    ("comment", 9, in_thing(function("    a++; // more\n"))),
    ("note", 9, in_thing(function(f"    /* {NOTE}: later */\n"))),
    ("note", 1, {"src/base/README.md": f"# base {NOTE}\n"}),
    ("guard", 1, {"src/base/thing.h": header("THING_H", "int ms_thing_make(int a);\n")}),
    ("guard", 1, {"src/base/thing.h": SPDX_C + HEAD + "#pragma once\nint ms_thing_make(int a);\n"}),
    ("spdx", 1, {"tests/unit/base/thing_test.c": "int main(void)\n{\n    return 0;\n}\n"}),
    ("spdx", 1, {"tools/x.py": "import os\n"}),
    ("head", 2, {"src/base/thing.c": SPDX_C + '#include "base/thing.h"\n\n' + function("")}),
    ("readme", 1, {"src/base/README.md": None}),
    ("unit-test", 1, {"tests/unit/base/thing_test.c": None}),
    ("spelling", 7, in_thing("/* The colour of it. */\n" + function(""))),
    ("spelling", 1, {"src/base/README.md": "# Serialisation\n"}),
    ("machine", 7, in_thing("/* See /wo" "rk/main/notes. */\n" + function(""))),
    ("machine", 1, {"src/base/README.md": "# As in iss" "ue 7\n"}),
    ("space", 9, in_thing(function("\ta++;\n"))),
    ("space", 9, in_thing(function("    a++; \n"))),
    ("space", 11, {"src/base/thing.c": source(function("")) + "\n"}),
    ("parse", 1, in_thing("int ms_thing_make(int a)\n{\n    if (a) {\n    return a;\n}\n")),
    ("exemption", 7, in_thing("/* tidy: long-everything: because it is so */\n" + function(""))),
    ("exemption", 7, in_thing(EXEMPT + function(""))),
    ("exemption", 7, in_thing(EXEMPT + "\n" + function(""))),
    ("exemption", 1, {"src/base/thing.c": THING_C.replace(
        HEAD, HEAD + "/* tidy: no-unit-test: the slt files cover it */\n")}),
    ("exemption", 1, {"src/base/thing.c": THING_C.replace(
        HEAD, HEAD + "/* tidy: long-file: one big table */\n")}),
]

# A bad case that must break a second rule as well.
ALSO = {"guard": {"macro-name"}}

GOOD_CASES = {
    "the tree itself": {},
    "a module below": module("os", "base/thing.h"),
    "not excludes only what it names": module("engine", "base/thing.h"),
    "a long function with a reason": in_thing(EXEMPT + LONG),
    "a function at the limit": in_thing(function(lines(66))),
    "four blocks": in_thing(function(deep(4))),
    "initializers are no blocks": in_thing(function(
        "    if (a) {\n        while (a) {\n            do {\n                for (;;) {\n"
        "                    x = (t){.u = {{1, 2}, {3}}};\n"
        "                    use((t[]){{1}}, 2);\n"
        "                }\n            } while (a);\n        }\n    }\n")),
    "braces in comments, texts and characters": in_thing(function(
        "    /* { */\n    s = \"{ \\\" {\";\n    c = '{';\n    c = '\\'';\n")),
    "braces opened by both branches of a condition": in_thing(
        "#ifdef A\nint ms_thing_make(int a)\n{\n#else\nint ms_thing_make(long a)\n{\n#endif\n"
        "    return 0;\n}\n"),
    "banned words in texts, members and declarations": in_thing(function(
        "    s = \"malloc(3)\";\n    a = vtable->free(a) + v.time(a);\n    x = my_rand(3);\n")),
    "a macro with a brace": in_thing("#define BEGIN(x) \\\n    if (x) {\n" + function("")),
    "a label and a conditional": in_thing(function(
        "    switch (a) {\n    case 1:\n    default:\n        a = a ? b : c;\n    }\n"
        "    goto out;\nout:\n")),
    "a private function": {
        "src/base/thing.c": source(
            "int msi_base_help(int a)\n{\n    return a;\n}\n\n"
            "int ms_thing_make(int a)\n{\n    return msi_base_help(a);\n}\n",
            '#include "base/thing.h"\n\n#include "base/base_priv.h"\n\n#include <stdio.h>\n')},
    "a test reaches private functions and mallocs": {
        "tests/unit/base/thing_test.c":
            SPDX_C + '#include "testing.h"\n\n#include "base/base_priv.h"\n\n'
            "int main(void)\n{\n    free(malloc(msi_base_help(1)));\n    return 0;\n}\n",
        "tests/unit/testing.h": header("MS_TESTS_UNIT_TESTING_H", "extern int x;\n")},
    "an exempt file without a test": {
        "tests/unit/base/thing_test.c": None,
        "src/base/thing.c": THING_C.replace(
            HEAD, HEAD + "/* tidy: no-unit-test: the slt files cover it */\n")},
    "a file without a header of its own": {
        "src/base/more.c": source("int ms_thing_more(int a)\n{\n    return a;\n}\n",
                                  '#include "base/thing.h"\n\n#include "base/arena.h"\n'),
        "src/base/arena.h": header("MS_BASE_ARENA_H", "int ms_arena(int a);\n"),
        "src/base/thing.h": header("MS_BASE_THING_H",
                                   "int ms_thing_make(int a);\nint ms_thing_more(int a);\n"),
        "tests/unit/base/more_test.c": GOOD["tests/unit/base/thing_test.c"]},
    "public types": {"src/base/thing.h": header(
        "MS_BASE_THING_H",
        "typedef struct ms_thing ms_thing;\ntypedef void (*ms_thing_fn)(ms_thing *thing);\n"
        "typedef enum ms_color { MS_COLOR_RED } ms_color;\n"
        "typedef struct ms_pair {\n    union {\n        struct {\n            int a;\n"
        "        } b;\n    } c;\n    void (*run)(int a);\n} ms_pair;\n"
        "#define MS_THING_MAX 3\nint ms_thing_make(int a);\n")},
    "names of paths and codes are not spelling": in_thing(
        "/* The group opt/normalise/ answers CANCELLED. */\n" + function("")),
    "a C++ shim": {
        "src/base/shim.cc": source(
            "namespace {\nint helper(int a)\n{\n    return a;\n}\n} // namespace\n\n"
            "extern \"C\" {\nint msi_base_help(int a)\n{\n    return helper(a);\n}\n}\n",
            '#include "base/base_priv.h"\n').replace(" // namespace", " /* namespace */"),
        "tests/unit/base/shim_test.c": GOOD["tests/unit/base/thing_test.c"]},
    "attributes and returned pointers to functions": {
        "src/base/thing.h": header(
            "MS_BASE_THING_H", "int ms_thing_make(int a);\nvoid (*ms_thing_pick(int a))(void);\n"),
        "src/base/thing.c": source(
            "__attribute__((format(printf, 1, 0))) static int show(const char *f)\n{\n"
            "    return f[0];\n}\n\nvoid (*ms_thing_pick(int a))(void)\n{\n    return pick(a);\n}\n"
            "\nstatic const int table[] = {1, 2};\n\n" + function("    show(table);\n"))},
}


class BadCases(unittest.TestCase):
    def test_each_bad_case_is_found(self):
        for number, (rule, line, changes) in enumerate(BAD):
            with self.subTest(rule=rule, case=number):
                problems = problems_of(good_tree(changes))
                found = [p for p in problems if p[2] == rule]
                self.assertTrue(found, f"not found; reported: {problems}")
                if line is not None:
                    self.assertIn(line, [p[1] for p in found])
                others = {p[2] for p in problems} - {rule} - ALSO.get(rule, set())
                self.assertFalse(others, f"also reported: {problems}")

    def test_every_rule_has_a_bad_case(self):
        self.assertEqual({rule for rule, _, _ in BAD}, set(tidy.RULES))


class GoodCases(unittest.TestCase):
    def test_each_good_case_passes(self):
        for name, changes in GOOD_CASES.items():
            with self.subTest(name):
                self.assertEqual(problems_of(good_tree(changes)), [])


class Parts(unittest.TestCase):
    def test_only_limits_the_report(self):
        tree = good_tree(in_thing("int thing_make(int a)\n{\n    return a;\n}\n"))
        with tempfile.TemporaryDirectory() as root:
            for path, text in tree.items():
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(text)
            self.assertEqual(tidy.check_tree(root, list(tree), ["src/os"])[0], [])
            self.assertEqual(len(tidy.check_tree(root, list(tree), ["src/base"])[0]), 1)

    def test_layers_are_read(self):
        layers = tidy.Layers(LAYERS)
        self.assertEqual(layers.allowed["exec"], {"base", "os", "sql"})
        self.assertEqual(layers.allowed["sql"], {"base"})
        self.assertEqual(layers.allowed["engine"], {"base", "sql", "exec"})
        self.assertEqual(layers.module_of("exec/deep/er.c"), "exec")
        self.assertIsNone(layers.module_of("other/x.c"))
        with self.assertRaises(SystemExit):
            tidy.Layers("base\nos except base\n")


if __name__ == "__main__":
    unittest.main()
