#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the house rules that a script can check, on every file of the tree.

    tools/tidy.py              all files that git knows or would add
    tools/tidy.py PATH ...     only these; rules across files still see the whole tree

One line a problem: path:line: rule: what is wrong. Exit status 1 when there is any. RULES below is
the list of rules, in the order in which CONTRIBUTING.md explains them. Three rules have exemptions,
one comment line each that says why:

    /* tidy: long-function: <reason> */    right above the function
    /* tidy: long-file: <reason> */        in the head of the file
    /* tidy: no-unit-test: <reason> */     in the head of the file

An exemption that is not needed is itself a problem, so the list of exemptions stays honest.
"""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tidy_c import Source  # noqa: E402

FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 1200
COLUMNS_MAX = 100
NESTING_MAX = 4
HEAD_LINES = 40  # where the exemptions of a file are looked for

RULES = {
    "layer": "a module includes only what src/layers.txt allows it",
    "include": "a quoted include names a file of the tree",
    "include-order": "own header first, then ours, then the system's, each sorted",
    "private-header": "a _priv.h is included only in its own module and its tests",
    "name": "ms_ for all, msi_ for the module, no prefix for static functions",
    "declared": "a function that is not static is declared in a header of its module",
    "visibility": "msi_ names are used only in their module and its tests",
    "type-name": "types of headers begin with ms_, do not end in _t and hide no pointer",
    "macro-name": "macros of headers begin with MS_",
    "long-function": f"a function has at most {FUNCTION_LINES_MAX} lines",
    "long-file": f"a file has at most {FILE_LINES_MAX} lines",
    "long-line": f"a line has at most {COLUMNS_MAX} columns",
    "nesting": f"blocks nest at most {NESTING_MAX} deep inside a function",
    "label": "a function has one label at most, and it is called out",
    "banned": "some functions of the C library are not called",
    "no-free": "the front end frees nothing: its memory belongs to an arena",
    "comment": "comments are /* */",
    "note": "no reminders in the text: what is left to do is an issue",
    "guard": "a header's guard follows from its path",
    "spdx": "a file begins with its license",
    "head": "a source file says in its head what it is",
    "readme": "a folder with sources has a README.md",
    "unit-test": "a source file has a unit test of the same path",
    "spelling": "American spelling",
    "machine": "nothing of a developer's machine, and no ticket numbers",
    "space": "no tabs, no blanks at the end of a line, one line feed at the end",
    "parse": "braces match",
    "exemption": "an exemption is known, needed and has a reason",
}

EXEMPTIONS = ("long-function", "long-file", "no-unit-test")

# What is called instead. A name is banned where its scope says: all, or src only.
BANNED = {
    "strcpy": ("all", "ms_arena_copy_str, or memcpy with a length"),
    "strcat": ("all", "ms_buf_append"),
    "sprintf": ("all", "snprintf, ms_buf_format or ms_arena_format"),
    "vsprintf": ("all", "vsnprintf"),
    "gets": ("all", "ms_file_read"),
    "strtok": ("all", "ms_str_find_byte and ms_str_slice"),
    "atoi": ("all", "ms_num_scan_i64"),
    "atol": ("all", "ms_num_scan_i64"),
    "atoll": ("all", "ms_num_scan_i64"),
    "atof": ("all", "the number text of type/"),
    "gmtime": ("all", "gmtime_r, or the calendar of type/"),
    "localtime": ("all", "the time zones of type/"),
    "ctime": ("all", "the calendar of type/"),
    "asctime": ("all", "the calendar of type/"),
    "rand": ("all", "ms_env_random_next"),
    "srand": ("all", "ms_env_random_init"),
    "time": ("all", "ms_env_wall_ms"),
    "assert": ("all", "MS_ASSERT"),
    "setlocale": ("all", "nothing: the engine has no locale"),
    "alloca": ("all", "ms_arena_alloc"),
    "malloc": ("src", "ms_mem_alloc or ms_mem_try_alloc"),
    "calloc": ("src", "ms_mem_calloc or ms_mem_try_calloc"),
    "realloc": ("src", "ms_mem_realloc or ms_mem_try_realloc"),
    "free": ("src", "ms_mem_free"),
    "strdup": ("src", "ms_arena_copy_str"),
    "posix_memalign": ("src", "ms_mem_alloc_aligned"),
    "aligned_alloc": ("src", "ms_mem_alloc_aligned"),
    "strtol": ("src", "ms_num_scan_i64"),
    "strtoll": ("src", "ms_num_scan_i64"),
    "strtoul": ("src", "ms_num_scan_u64"),
    "strtoull": ("src", "ms_num_scan_u64"),
    "strtod": ("src", "the number text of type/"),
    "strtof": ("src", "the number text of type/"),
    "random": ("src", "ms_env_random_next"),
    "getrandom": ("src", "ms_env_next_seed"),
    "clock_gettime": ("src", "ms_env_wall_us or ms_env_mono_ns"),
    "gettimeofday": ("src", "ms_env_wall_us"),
    "sleep": ("src", "ms_parker_park"),
    "usleep": ("src", "ms_parker_park"),
    "nanosleep": ("src", "ms_parker_park"),
    "pthread_create": ("src", "ms_thread_start"),
    "exit": ("src", "a status that reaches main"),
}

# The seams themselves call what nobody else may.
BANNED_ALLOWED = {
    "src/base/memory.c": {"malloc", "calloc", "realloc", "free", "posix_memalign"},
    "src/base/env.c": {"clock_gettime", "getrandom"},
    "src/os/thread.c": {"pthread_create", "clock_gettime"},
    "src/os/mailbox.c": {"clock_gettime"},
    "src/cli/signals.c": {"pthread_create"},  # cli/ sees base/ and the public headers only
}

NO_FREE_MODULES = ("sql", "bind", "plan", "opt")
FREE_CALLS = ("free", "ms_mem_free")

_SPELLING = {
    "analyse": "analyze", "artefact": "artifact", "authorise": "authorize",
    "behaviour": "behavior", "cancelled": "canceled", "cancelling": "canceling",
    "catalogue": "catalog", "centre": "center", "colour": "color", "customise": "customize",
    "defence": "defense", "favour": "favor", "favourite": "favorite", "generalise": "generalize",
    "grey": "gray", "honour": "honor", "initialise": "initialize", "labelled": "labeled",
    "licence": "license", "materialise": "materialize", "maximise": "maximize",
    "metre": "meter", "minimise": "minimize", "modelled": "modeled", "neighbour": "neighbor",
    "normalise": "normalize", "optimise": "optimize", "organise": "organize",
    "parallelise": "parallelize", "programme": "program", "realise": "realize",
    "recognise": "recognize", "serialise": "serialize", "signalled": "signaled",
    "specialise": "specialize", "summarise": "summarize", "synchronise": "synchronize",
    "travelled": "traveled", "whilst": "while",
}


def _inflections(word):
    forms = {word, word + "s", word + "d"}
    if word.endswith("ise") or word.endswith("yse"):
        forms |= {word[:-1] + "ing", word[:-1] + "ation", word[:-1] + "er", word[:-1] + "ers"}
    return forms


_BRITISH = {form: (word, american) for word, american in _SPELLING.items()
            for form in _inflections(word)}
# Not part of a path, an identifier or a quoted name: those are what they are.
_WORD = re.compile(r"(?<![\w/`.\-])(" + "|".join(sorted(_BRITISH, key=len, reverse=True)) +
                   r")(?![\w/`\-])", re.I)

# Put together so that this file does not find itself.
_NOTE = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"]) + r")\b")
_MACHINE = re.compile(
    r"/(?:work/(?:main|shared)|tmp/ms|ro" r"ot|ho" r"me/\w+)(?:/|\b)"
    r"|https?://[^\s\"')>]*(?:artifactory|nexus|\.internal|\.corp|proxy)[^\s\"')>]*"
    r"|\b(?:issue|ticket|pull request)\s+#?\d+", re.I)

_C_SUFFIXES = (".c", ".h", ".cc", ".def")
_HASH_SUFFIXES = (".py", ".sh", ".cmake")
_TEXT_SUFFIXES = _C_SUFFIXES + _HASH_SUFFIXES + (".md", ".txt", ".proto", ".sql", ".slt")
_SPDX = "SPDX-License-Identifier: Apache-2.0"
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(?:"([^"\n]+)"|<([^>\n]+)>)', re.M)
_EXEMPTION = re.compile(r"/\*\s*tidy:\s*([\w-]+)\s*:?\s*(.*?)\s*\*/", re.S)
_CALL = re.compile(r"(?<![\w.>])((?:std::)?(?:" + "|".join(BANNED) + r"|ms_mem_free))\s*\(")
_PREFIXED = re.compile(r"\b(msi?_\w+)\s*\(")
_PRIVATE = re.compile(r"\bmsi_\w+")
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
_LABEL = re.compile(r"(?:^|[;{}])\s*([A-Za-z_]\w*)\s*:(?![:\w])(?!\s*\d+\s*;)", re.M)


class Layers:
    """src/layers.txt: which module may include which."""

    def __init__(self, text):
        self.allowed = {}
        below = []
        for line in text.splitlines():
            words = line.split("#")[0].split()
            if not words:
                continue
            module, kind, named = words[0], (words[1:2] or [""])[0], words[2:]
            if kind not in ("", "only", "not"):
                raise SystemExit(f"src/layers.txt: \"{line}\" is neither only nor not")
            if kind == "only":
                self.allowed[module] = set(named)
            else:
                self.allowed[module] = {m for m in below if not _is_under_any(m, named)}
            below.append(module)

    def module_of(self, path):
        """The module of a path below src: the longest name that is a folder above it."""
        folder = os.path.dirname(path)
        while folder and folder not in self.allowed:
            folder = os.path.dirname(folder)
        return folder or None


def _is_under_any(module, names):
    return any(module == name or module.startswith(name + "/") for name in names)


class Tree:
    """All files, read once, and what rules across files need to know."""

    def __init__(self, root, paths):
        self.root, self.paths = root, set(paths)
        self.problems = []
        self.texts, self.sources = {}, {}
        for path in sorted(paths):
            if _kind(path) is not None:
                with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
                    self.texts[path] = file.read()
        for path, text in self.texts.items():
            if path.endswith(_C_SUFFIXES):
                self.sources[path] = Source(text)
        self.layers = Layers(self.texts.get("src/layers.txt", ""))
        self.declared, self.private = {}, {}
        for path, source in self.sources.items():
            self._learn_names(path, source)

    def _learn_names(self, path, source):
        module = self.module_of(path)
        if path.endswith(".h"):
            names = set(_PREFIXED.findall(source.searchable))
            self.declared.setdefault(module, set()).update(names)
            self.private.setdefault(module, set()).update(_PRIVATE.findall(source.searchable))
        elif path.startswith("src/"):
            names = {f.name for f in source.functions if f.name.startswith("msi_")}
            self.private.setdefault(module, set()).update(names)

    def module_of(self, path):
        """The module of a source file or of its unit test; None elsewhere."""
        for top in ("src/", "tests/unit/"):
            if path.startswith(top):
                return self.layers.module_of(path[len(top):])
        return None

    def report(self, path, line, rule, text):
        assert rule in RULES, rule
        self.problems.append((path, line, rule, text))


def _kind(path):
    """c, hash or text; None for what is not looked at."""
    name = os.path.basename(path)
    if path.endswith(_C_SUFFIXES):
        return "c"
    if path.endswith(_HASH_SUFFIXES) or name in ("CMakeLists.txt", "Makefile", "run"):
        return "hash"
    return "text" if path.endswith(_TEXT_SUFFIXES) else None


# Rules for every text.


def check_space(tree, path, text):
    if _is_data(path):
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.endswith((" ", "\t", "\r")):
            tree.report(path, number, "space", "blanks at the end of the line")
        if "\t" in line and os.path.basename(path) != "Makefile" and _kind(path) != "text":
            tree.report(path, number, "space", "a tab")
    if text and (not text.endswith("\n") or text.endswith("\n\n")):
        tree.report(path, text.count("\n"), "space", "the file ends in exactly one line feed")


def _is_data(path):
    return "/data/" in path or "/corpus/" in path or path.endswith((".sql", ".slt"))


def check_words(tree, path, text):
    if _is_data(path) or path == "LICENSE":
        return
    for number, line in enumerate(text.split("\n"), 1):
        match = _NOTE.search(line)
        if match:
            tree.report(path, number, "note", f"{match.group()}: file an issue instead")
        match = _MACHINE.search(line)
        if match:
            tree.report(path, number, "machine", f"\"{match.group()}\" means nothing elsewhere")


def _report_spelling(tree, path, text, first_line):
    for match in _WORD.finditer(text):
        if match.group().isupper():
            continue  # the name of something, as a status code of gRPC
        word, american = _BRITISH[match.group().lower()]
        line = first_line + text.count("\n", 0, match.start())
        tree.report(path, line, "spelling", f"\"{match.group()}\": as in {american}, not {word}")


def check_spelling(tree, path, text):
    if path in tree.sources:
        for comment in tree.sources[path].comments:
            _report_spelling(tree, path, comment.text, comment.line)
    elif path.endswith(".md"):
        _report_spelling(tree, path, text, 1)


def check_spdx(tree, path, text):
    kind = _kind(path)
    lines = text.split("\n", 2)[:2]
    if kind == "c" and lines[0] != f"/* {_SPDX} */":
        tree.report(path, 1, "spdx", f"the first line is /* {_SPDX} */")
    elif kind == "hash" and f"# {_SPDX}" not in lines:
        tree.report(path, 1, "spdx", f"line 1, or 2 after #!, is # {_SPDX}")


def check_length(tree, path, text):
    if _kind(path) == "text":
        return
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS_MAX and _kind(path) == "c" or \
                len(line) > COLUMNS_MAX and path.endswith(".py"):
            tree.report(path, number, "long-line", f"{len(line)} columns")
    count = len(lines) - 1
    is_exempt = "long-file" in _file_exemptions(tree, path)
    if count > FILE_LINES_MAX and not is_exempt:
        tree.report(path, count, "long-file", f"{count} lines")
    elif count <= FILE_LINES_MAX and is_exempt:
        tree.report(path, 1, "exemption", "the file is not long")


# Rules for C.


def _file_exemptions(tree, path):
    """The exemptions in the head of a file."""
    if path not in tree.sources:
        return set()
    head = "\n".join(tree.texts[path].split("\n")[:HEAD_LINES])
    return {match.group(1) for match in _EXEMPTION.finditer(head)}


def check_exemptions(tree, path, source):
    for comment in source.comments:
        match = _EXEMPTION.match(comment.text)
        if match is None:
            continue
        name, reason = match.groups()
        if name not in EXEMPTIONS:
            tree.report(path, comment.line, "exemption", f"there is no exemption \"{name}\"")
        elif len(reason.split()) < 2:
            tree.report(path, comment.line, "exemption", f"{name} without a reason")
        elif name == "long-function":
            _check_function_exemption(tree, path, source, comment)
        elif comment.line > HEAD_LINES:
            tree.report(path, comment.line, "exemption", f"{name} belongs in the file's head")


def _check_function_exemption(tree, path, source, comment):
    below = [f for f in source.functions if f.start_line == comment.end_line + 1]
    if not below:
        tree.report(path, comment.line, "exemption", "no function begins on the next line")
    elif below[0].line_count <= FUNCTION_LINES_MAX:
        tree.report(path, comment.line, "exemption", f"{below[0].name} is not long")


def _exempt_function_lines(source):
    lines = set()
    for comment in source.comments:
        match = _EXEMPTION.match(comment.text)
        if match and match.group(1) == "long-function":
            lines.add(comment.end_line + 1)
    return lines


def check_functions(tree, path, source):
    exempt = _exempt_function_lines(source)
    functions = source.functions
    if not source.is_balanced:
        tree.report(path, 1, "parse", "the braces of this file do not match")
    for function in functions:
        # A test program's main is its list of tests.
        is_list = path.startswith("tests/") and function.name == "main"
        if function.line_count > FUNCTION_LINES_MAX and not is_list and \
                function.start_line not in exempt:
            tree.report(path, function.start_line, "long-function",
                        f"{function.name} has {function.line_count} lines")
        if function.depth > NESTING_MAX:
            tree.report(path, function.deepest_line, "nesting",
                        f"{function.name} nests {function.depth} blocks")
        if path.startswith("src/"):
            _check_labels(tree, path, function)


def _check_labels(tree, path, function):
    labels = []
    for match in _LABEL.finditer(function.body):
        if match.group(1) not in ("default", "case", "public", "private"):
            labels.append((match.group(1), function.body.count("\n", 0, match.start(1))))
    for name, offset in labels:
        if name != "out":
            tree.report(path, function.body_line + offset, "label", f"\"{name}\" is not out")
    if len(labels) > 1:
        tree.report(path, function.body_line + labels[1][1], "label", "a second label")


def check_names(tree, path, source):
    if not path.startswith("src/") or path.endswith((".cc", ".def")):
        return
    is_header, is_private = path.endswith(".h"), path.endswith("_priv.h")
    module = tree.module_of(path)
    for function in source.functions:
        name, line = function.name, function.start_line
        is_public = name.startswith("ms_")
        if name == "main" or name.startswith("LLVMFuzzer"):
            continue
        if function.is_static and not is_header:
            if name.startswith(("ms_", "msi_")):
                tree.report(path, line, "name", f"static {name} needs no prefix")
        elif is_header and is_public == is_private and not name.startswith("msi_"):
            wanted = "msi_" if is_private else "ms_"
            tree.report(path, line, "name", f"{name} in this header begins with {wanted}")
        elif not name.startswith(("ms_", "msi_")):
            tree.report(path, line, "name", f"{name} is neither static nor prefixed")
        elif not is_header and name not in tree.declared.get(module, ()) and \
                name not in tree.declared.get(None, ()):
            tree.report(path, line, "declared", f"{name} is in no header of {module}")


def check_visibility(tree, path, source):
    module = tree.module_of(path)
    if module is None:
        return
    own = tree.private.get(module, set())
    others = {name for other, names in tree.private.items() if other != module for name in names}
    for match in _PRIVATE.finditer(source.searchable):
        if match.group() in others - own:
            tree.report(path, source.line_of(match.start()), "visibility",
                        f"{match.group()} belongs to another module")


def _typedefs(code):
    """(offset, text) for each typedef, without the members of a struct or enumeration."""
    for match in re.finditer(r"\btypedef\b", code):
        depth, kept, at = 0, [], match.end()
        while at < len(code) and (depth > 0 or code[at] != ";"):
            depth += {"{": 1, "}": -1}.get(code[at], 0)
            if depth == 0:
                kept.append(" " if code[at] == "}" else code[at])
            at += 1
        yield match.start(), "".join(kept)


def check_types(tree, path, source):
    if not path.endswith(".h") or not path.startswith(("src/", "include/")):
        return
    for offset, text in _typedefs(source.code):
        function = re.search(r"\(\s*\*\s*(\w+)\s*\)\s*\(", text)
        names = re.findall(r"\w+", re.sub(r"\[[^]]*\]|__attribute__.*", "", text))
        name = function.group(1) if function else (names or [""])[-1]
        line = source.line_of(offset)
        if not name.startswith(("ms_", "msi_")) or name.endswith("_t"):
            tree.report(path, line, "type-name", f"\"{name}\" is not of the form ms_name")
        if function is None and re.search(r"\*\s*" + name + r"\s*$", text):
            tree.report(path, line, "type-name", f"{name} hides a pointer")
    for match in _DEFINE.finditer(source.searchable):
        name = match.group(1)
        if not re.match(r"(MSI?|msi?)_", name) and name not in ("X", "_GNU_SOURCE"):
            tree.report(path, source.line_of(match.start()), "macro-name",
                        f"{name} does not begin with MS_")


def check_banned(tree, path, source):
    allowed = BANNED_ALLOWED.get(path, ())
    in_src = path.startswith("src/")
    front_end = tree.module_of(path) in NO_FREE_MODULES and in_src
    for match in _CALL.finditer(source.searchable):
        name = match.group(1).removeprefix("std::")
        line = source.line_of(match.start())
        if front_end and name in FREE_CALLS:
            tree.report(path, line, "no-free", f"{name}: use the statement's arena")
            continue
        scope, instead = BANNED.get(name, ("none", ""))
        if name not in allowed and (scope == "all" or scope == "src" and in_src):
            tree.report(path, line, "banned", f"{name}: call {instead}")


def check_comments(tree, path, source):
    for line in source.line_comment_lines:
        tree.report(path, line, "comment", "// is not used")
    if path.startswith(("src/", "include/")):
        second = [c for c in source.comments if c.line in (2, 3)]
        if not second or len(second[0].text) < 40:
            tree.report(path, 2, "head", "the file does not say what it is and why it exists")


def _guard_of(path):
    name = path.removeprefix("src/").removeprefix("include/")
    return "MS_" + re.sub(r"\W", "_", name).upper()


def check_guard(tree, path, source):
    if not path.endswith(".h"):
        return
    guard = _guard_of(path)
    directives = re.findall(r"^[ \t]*#[ \t]*(\w+)[ \t]*(\w*)", source.searchable, re.M)
    if directives[:2] != [("ifndef", guard), ("define", guard)] or \
            not source.raw.rstrip().endswith("#endif"):
        tree.report(path, 1, "guard", f"the guard is {guard}, around all of the file")


# Rules about includes.


def _includes(source):
    """(line, quoted, angled) for each include; angled or quoted is empty."""
    return [(source.line_of(m.start()), m.group(1) or "", m.group(2) or "")
            for m in _INCLUDE.finditer(source.no_comments)]


def _resolve(tree, path, name):
    """The path in the tree that a quoted include means, or None."""
    folders = ("src", "include", os.path.dirname(path), "tests/unit", "tests/conformance")
    for folder in folders:
        candidate = os.path.normpath(os.path.join(folder, name))
        if candidate in tree.paths:
            return candidate
    return None


def check_layers(tree, path, source):
    module = tree.module_of(path)
    if path.startswith("src/") and module is None:
        tree.report(path, 1, "layer", "the folder is not in src/layers.txt")
        return
    for line, name, _ in _includes(source):
        if not name:
            continue
        target = _resolve(tree, path, name)
        if target is None:
            if not _is_generated(name):
                tree.report(path, line, "include", f"\"{name}\" is nowhere in the tree")
            continue
        if not target.startswith("src/"):
            continue
        other = tree.module_of(target)
        if name.endswith("_priv.h") and other != module:
            tree.report(path, line, "private-header", f"{name} is private to {other}")
        if path.startswith("src/") and other not in (module, None) and \
                other not in tree.layers.allowed[module]:
            tree.report(path, line, "layer", f"{module} may not include {other}")


def _is_generated(name):
    return name.endswith((".pb-c.h", "generated.h"))


def _own_header(tree, path):
    for top in ("src/", "tests/unit/"):
        if path.startswith(top):
            stem = os.path.splitext(path[len(top):])[0]
            return stem + ".h" if "src/" + stem + ".h" in tree.paths else None
    return None


def check_include_order(tree, path, source):
    """Looks at the includes before the first line of code."""
    code = source.code
    first_code = len(code) - len(code.lstrip())
    limit = source.line_of(first_code) if first_code < len(code) else 1 << 30
    includes = [entry for entry in _includes(source) if entry[0] < limit and
                not entry[1].endswith((".c", ".cc", ".def"))]
    own = _own_header(tree, path) if path.startswith("src/") and path.endswith((".c", ".cc")) \
        else None
    quoted = [(line, name) for line, name, _ in includes if name]
    if own is not None and (not quoted or quoted[0][1] != own or includes[0][1] != own):
        tree.report(path, includes[0][0] if includes else 1, "include-order",
                    f"\"{own}\" comes first")
        return
    folder = os.path.dirname(path.removeprefix("src/").removeprefix("tests/unit/"))
    if own is None and quoted and os.path.dirname(quoted[0][1]) in ("millstream", folder):
        own = quoted[0][1]  # what declares the functions of this file, or what this test tests
    angled_seen = False
    rest = [name for _, name in quoted if name != own and _is_sorted_name(path, name)]
    for line, name, _ in includes:
        if not name:
            angled_seen = True
        elif angled_seen:
            tree.report(path, line, "include-order", f"\"{name}\" comes before the system's")
            return
    if rest != sorted(rest):
        tree.report(path, quoted[0][0], "include-order", "ours are not in alphabetical order")


def _is_sorted_name(path, name):
    """Helpers of a test program come first in it, in whatever order they need."""
    return not path.startswith("tests/") or "/" in name


# Rules about folders.


def check_folders(tree):
    folders = {os.path.dirname(path) for path in tree.sources
               if path.startswith("src/") and path.endswith((".c", ".cc"))}
    for folder in sorted(folders):
        if folder + "/README.md" not in tree.paths:
            tree.report(folder, 1, "readme", "a folder with sources has a README.md")


def check_unit_test(tree, path):
    if not path.startswith("src/") or not path.endswith((".c", ".cc")):
        return
    test = "tests/unit/" + os.path.splitext(path[len("src/"):])[0] + "_test.c"
    is_exempt = "no-unit-test" in _file_exemptions(tree, path)
    if test not in tree.paths and not is_exempt:
        tree.report(path, 1, "unit-test", f"there is no {test}")
    elif test in tree.paths and is_exempt:
        tree.report(path, 1, "exemption", "the file has a unit test")


TEXT_CHECKS = (check_space, check_words, check_spelling, check_spdx, check_length)
C_CHECKS = (check_exemptions, check_functions, check_names, check_visibility, check_types,
            check_banned, check_comments, check_guard, check_layers, check_include_order)


def check_tree(root, paths, only=None):
    """All problems of a tree, sorted; only limits them to some paths."""
    tree = Tree(root, paths)
    for path, text in tree.texts.items():
        for check in TEXT_CHECKS:
            check(tree, path, text)
        if path in tree.sources:
            for check in C_CHECKS:
                check(tree, path, tree.sources[path])
            check_unit_test(tree, path)
    check_folders(tree)
    problems = sorted(tree.problems)
    if only:
        problems = [p for p in problems if _is_under_any(p[0], only)]
    return problems, len(tree.texts)


def list_files(root):
    """What git knows or would add."""
    output = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root, check=True, capture_output=True, text=True).stdout
    return [path for path in output.split("\0") if path and
            os.path.isfile(os.path.join(root, path))]


def main(arguments):
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    only = [os.path.relpath(os.path.abspath(a), root).rstrip("/") for a in arguments]
    problems, count = check_tree(root, list_files(root), only)
    for path, line, rule, text in problems:
        print(f"{path}:{line}: {rule}: {text}")
    print(f"tidy: {count} files, {len(problems)} problems", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
