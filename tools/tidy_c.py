# SPDX-License-Identifier: Apache-2.0
"""A small reader of C for tools/tidy.py.

It does not know the language. It blanks what must not be searched (comments, literals, preprocessor
lines) while every line and column stays where it was, and finds function definitions by matching
braces. That is enough for house rules and fast enough for every commit.
"""

import bisect
import re

_SKIPPED = re.compile(
    r"""(?P<comment>/\*.*?(?:\*/|\Z))
      | (?P<line_comment>//[^\n]*)
      | (?P<string>R"\((?:.*?)\)"|"(?:\\.|[^"\\\n])*")
      | (?P<char>'(?:\\.|[^'\\\n])*')""",
    re.S | re.X,
)
_DIRECTIVE = re.compile(r"^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*", re.M | re.S)
_ELSE_BRANCH = re.compile(r"^[ \t]*\#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b[^\n]*", re.M)
_NOT_NEWLINE = re.compile(r"[^\n]")
_ATTRIBUTE = re.compile(r"__attribute__\s*\(\(")
_IDENTIFIER_END = re.compile(r"([A-Za-z_]\w*)\s*$")
_CONTROL = {"if", "for", "while", "switch"}


def _blank(text):
    return _NOT_NEWLINE.sub(" ", text)


class Comment:
    def __init__(self, text, line, end_line):
        self.text, self.line, self.end_line = text, line, end_line


class Function:
    """A function definition: its name, its head (all before the brace), and its lines."""

    def __init__(self, name, head, start_line, end_line, body, body_line, depth, deepest_line):
        self.name, self.head = name, head
        self.start_line, self.end_line = start_line, end_line
        self.body, self.body_line = body, body_line
        self.depth, self.deepest_line = depth, deepest_line

    @property
    def is_static(self):
        return re.search(r"\bstatic\b", self.head) is not None

    @property
    def line_count(self):
        return self.end_line - self.start_line + 1


class Source:
    """One file. raw is its text; code has comments, literals and directives blanked; no_comments
    keeps literals and directives."""

    def __init__(self, raw):
        self.raw = raw
        self._starts = [0]
        for match in re.finditer("\n", raw):
            self._starts.append(match.end())
        self.comments = []
        self.line_comment_lines = []
        no_comments, no_literals, at = [], [], 0
        for match in _SKIPPED.finditer(raw):
            gap = raw[at:match.start()]
            no_comments.append(gap)
            no_literals.append(gap)
            self._skip(match, no_comments, no_literals)
            at = match.end()
        no_comments.append(raw[at:])
        no_literals.append(raw[at:])
        self.no_comments = "".join(no_comments)
        self.searchable = "".join(no_literals)
        self.code = _DIRECTIVE.sub(lambda match: _blank(match.group()), self.searchable)
        self._functions = None

    def _skip(self, match, no_comments, no_literals):
        text = match.group()
        line = self.line_of(match.start())
        if match.lastgroup in ("comment", "line_comment"):
            self.comments.append(Comment(text, line, line + text.count("\n")))
            if match.lastgroup == "line_comment":
                self.line_comment_lines.append(line)
            no_comments.append(_blank(text))
            no_literals.append(_blank(text))
            return
        no_comments.append(text)
        # The quotes stay, so that a literal is still something.
        no_literals.append(text[0] + _blank(text[1:-1]) + text[-1])

    def line_of(self, offset):
        return bisect.bisect_right(self._starts, offset)

    @property
    def functions(self):
        if self._functions is None:
            self._functions, balanced = _find_functions(self, self.code)
            if not balanced:
                # Branches of #if may each open the same brace: read the first branch only.
                code = _blank_else_branches(self.searchable)
                self._functions, balanced = _find_functions(self, code)
            self.is_balanced = balanced
        return self._functions


def _blank_else_branches(text):
    """Blanks directives, and everything in #else and #elif branches."""
    pieces, at, skipping, stack = [], 0, 0, []
    for match in _ELSE_BRANCH.finditer(text):
        gap = text[at:match.start()]
        pieces.append(_blank(gap) if skipping else gap)
        pieces.append(_blank(match.group()))
        at = match.end()
        word = match.group(1)
        if word in ("if", "ifdef", "ifndef"):
            stack.append(False)
        elif word == "endif" and stack:
            skipping -= stack.pop()
        elif stack and not stack[-1]:
            stack[-1] = True
            skipping += 1
    pieces.append(text[at:])
    return _DIRECTIVE.sub(lambda match: _blank(match.group()), "".join(pieces))


def _match_paren_back(text, close):
    """The offset of the "(" that the ")" at close belongs to, or -1."""
    depth = 0
    for at in range(close, -1, -1):
        if text[at] == ")":
            depth += 1
        elif text[at] == "(":
            depth -= 1
            if depth == 0:
                return at
    return -1


def _strip_attributes(head):
    while True:
        match = _ATTRIBUTE.search(head)
        if match is None:
            return head
        depth, at = 2, match.end()
        while at < len(head) and depth > 0:
            depth += {"(": 1, ")": -1}.get(head[at], 0)
            at += 1
        head = head[:match.start()] + " " + head[at:]


def _function_name(head):
    """The name that a definition with this head defines, or None when it is not a function."""
    head = _strip_attributes(head).rstrip()
    if not head.endswith(")"):
        return None
    opening = _match_paren_back(head, len(head) - 1)
    match = _IDENTIFIER_END.search(head[:opening]) if opening > 0 else None
    if match is None:
        # "int (*name(int a))(void)": a function that returns a pointer to a function.
        match = re.search(r"\(\s*\*\s*([A-Za-z_]\w*)\s*\(", head)
    if match is None or match.group(1) in _CONTROL:
        return None
    # "x = (type)" and the like are no heads of functions.
    return None if "=" in head[:match.start(1)] else match.group(1)


def _is_block(text, brace):
    """Whether the "{" at brace, inside a function, opens a block rather than an initializer."""
    before = text[:brace].rstrip()
    if before == "" or before[-1] in ";{}:":
        return True
    if before[-1] == ")":
        opening = _match_paren_back(before, len(before) - 1)
        # A name before the parenthesis: if (...) { or a macro that loops; none: a literal (type){.
        match = _IDENTIFIER_END.search(before[:max(opening, 0)])
        return match is not None and match.group(1) not in ("return", "sizeof")
    match = _IDENTIFIER_END.search(before)
    return match is not None and match.group(1) in ("else", "do")


_TRANSPARENT = re.compile(r'(?:^|\s)(?:extern\s+"\s*"|namespace(?:\s+\w+)?)\s*$')
_BRACE_OR_END = re.compile(r"[{};]")


def _find_functions(source, code):
    functions = []
    depth, transparent = 0, 0
    head_start, start = 0, None
    for match in _BRACE_OR_END.finditer(code):
        at, char = match.start(), match.group()
        if char == "{":
            if depth == 0:
                head = code[head_start:at]
                if _TRANSPARENT.search(re.sub(r'"[^"]*"', '" "', head)):
                    transparent += 1
                    head_start = at + 1
                    continue
                start = (_function_name(head), head, head_start, at)
            depth += 1
        elif char == "}":
            if depth == 0:
                if transparent == 0:
                    return functions, False
                transparent -= 1
                head_start = at + 1
                continue
            depth -= 1
            if depth == 0:
                if start is not None and start[0] is not None:
                    functions.append(_make_function(source, code, start, at))
                    start = None
                head_start = at + 1
        elif depth == 0:
            head_start = at + 1
    return functions, depth == 0


def _make_function(source, code, start, end):
    name, head, head_start, brace = start
    body = code[brace:end + 1]
    first = head_start + len(head) - len(head.lstrip())
    depth, deepest, deepest_at, kinds = 0, 0, brace, []
    for match in re.finditer(r"[{}]", body[1:-1]):
        if match.group() == "{":
            inside_initializer = bool(kinds) and not kinds[-1]
            kinds.append(not inside_initializer and _is_block(body, match.start() + 1))
            depth += kinds[-1]
            if depth > deepest:
                deepest, deepest_at = depth, brace + 1 + match.start()
        elif kinds:
            depth -= kinds.pop()
    return Function(name, head, source.line_of(first), source.line_of(end), body,
                    source.line_of(brace), deepest, source.line_of(deepest_at))
