"""Small changes of C code, as a mutation tool makes them.

Reads tokens, not a syntax tree: a change that does not make sense does not compile without a warning,
and is dropped for that (see trial.py). clang-format makes the shape of functions certain: the brace
that opens one, and the brace that closes it, are alone in column 0.

Not changed: comments, texts, preprocessor lines, declarations, assertions, calls of the logger, and how much
room a buffer has at first, since it grows.
"""
import hashlib
import re
import typing

# A character that matches none of these is a token by itself.
TOKEN = re.compile(
    r"""(?P<skip>\s+|/\*.*?\*/|//[^\n]*)
      | (?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
      | (?P<name>[A-Za-z_]\w*)
      | (?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
      | (?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)""",
    re.S | re.X)

NOT_CHANGED = re.compile(r"ASSERT|UNEXPECTED|FAULT|_?[Ss]tatic_assert|sizeof|offsetof|buffer_init|logger_\w+|"
                         r"__builtin_\w+")
INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|0|[1-9]\d*)([uUlL]*)$")
BOUND = re.compile(r"[A-Z][A-Z0-9]*_(?:\w*_)?(?:MAX|MIN|BYTES|COUNT|LIMIT|SIZE|BITS|LENGTH|DEPTH|US|MS|SECONDS|DAYS)"
                   r"(?:_\w+)?$")
OF_THE_TYPE = re.compile(r"U?INT(?:\d+|_FAST\d+|PTR|MAX)?_(?:MAX|MIN)$|S?SIZE_MAX$|LONG_MAX$")
ERROR = re.compile(r"ERR_[A-Z_]+$")
ERRORS = ("ERR_INVALID", "ERR_NOT_FOUND", "ERR_INTERNAL", "ERR_UNAVAILABLE")
EXCHANGED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
             "+=": "-=", "-=": "+=", "<<": ">>", ">>": "<<", "&=": "|=", "|=": "&="}
DECIMAL = re.compile(r"(\d*)\.(\d+)$")
# A macro of one number, or of a sum or product of numbers and other macros.
NUMBER_MACRO = re.compile(r"^#define ([A-Z]\w*) (\(?[-+*/<> \w.()]*\d[-+*/<> \w.()]*)$", re.M)
ENUMERATOR = re.compile(r"^    ([A-Z]\w*) = (\d+)(?=,|$)", re.M)
BINARY = {"+": "-", "-": "+", "*": "/", "/": "*", "&": "|", "|": "&", "%": "/"}
KEYWORDS = {"return", "case", "goto", "else", "do", "if", "while", "for", "switch", "sizeof", "break", "continue"}
TYPES = {"struct", "enum", "union", "const", "static", "unsigned", "signed", "int", "char", "long", "short", "bool",
         "void", "float", "double", "size_t", "ssize_t", "auto", "volatile", "register", "extern"}


class Token(typing.NamedTuple):
    kind: str
    text: str
    start: int
    end: int


class Change(typing.NamedTuple):
    """Bytes `start` to `end` of a file become `text`; the number of lines stays as it is."""

    kind: str
    start: int
    end: int
    text: str


class Mutant(typing.NamedTuple):
    """A change of one file. `key` orders the draw; it does not depend on other parts of the tree."""

    key: str
    path: str
    function: str
    line: int
    kind: str
    before: str  # the lines that change, as they are
    after: str
    source: str  # the whole file with the change


def tokens_of(text):
    """Returns the tokens of the text without preprocessor lines."""
    blank = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.M)
    return [Token(m.lastgroup, m.group(0), m.start(), m.end()) for m in TOKEN.finditer(blank)
            if m.lastgroup != "skip"]


def functions_of(text, tokens):
    """The tokens of each function's body, with the function's name."""
    body, name, last_call = None, "", ""
    for at, token in enumerate(tokens):
        alone = token.text in "{}" and (token.start == 0 or text[token.start - 1] == "\n")
        if body is None and token.text == "(" and at > 0 and tokens[at - 1].kind == "name":
            if tokens[at - 1].text != "__attribute__":
                last_call = last_call or tokens[at - 1].text
        if body is None and token.text in ";=":
            last_call = ""
        if alone and token.text == "{":
            body, name, last_call = [], last_call, ""
        elif alone and token.text == "}" and body is not None:
            yield name, body
            body = None
        elif body is not None:
            body.append(token)


def closing(tokens, at):
    """The index of what closes the parenthesis at `at`."""
    depth = 0
    for i in range(at, len(tokens)):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(tokens[i].text, 0)
        if depth == 0:
            return i
    return len(tokens) - 1


def left_unchanged(tokens):
    """Indices within assertions, sizes and calls of the logger."""
    indices = set()
    for at, token in enumerate(tokens[:-1]):
        if token.kind == "name" and NOT_CHANGED.fullmatch(token.text) and tokens[at + 1].text == "(":
            indices.update(range(at, closing(tokens, at + 1) + 1))
    return indices


def is_operand_end(token):
    return token.kind in ("number", "text") or token.text in (")", "]") or (
        token.kind == "name" and token.text not in KEYWORDS | TYPES)


def number_changes(token):
    match = INTEGER.fullmatch(token.text)
    if match is None:
        return []
    value = int(match.group(1), 0)
    form = "0x%X" if match.group(1)[:2] in ("0x", "0X") else "%d"
    values = [value + 1] + ([value - 1] if value > 0 else [])
    return [Change("constant", token.start, token.end, form % v + match.group(2)) for v in values]


def name_changes(tokens, at):
    token = tokens[at]
    if token.text in ("true", "false"):
        other = "false" if token.text == "true" else "true"
        return [Change("truth", token.start, token.end, other)]
    if token.text == "OK":
        return [Change("result", token.start, token.end, error) for error in ERRORS]
    if ERROR.match(token.text):
        others = ["OK"] + [error for error in ERRORS if error != token.text]
        return [Change("result", token.start, token.end, other) for other in others]
    called = at + 1 < len(tokens) and tokens[at + 1].text == "("
    if BOUND.match(token.text) and not OF_THE_TYPE.match(token.text) and not called and tokens[at - 1].text != "case":
        return [Change("bound", token.start, token.end, f"({token.text} {sign} 1)") for sign in "+-"]
    return []


def sign_changes(tokens, at):
    token = tokens[at]
    if token.text in EXCHANGED:
        kind = "logic" if token.text in ("&&", "||") else "relation" if token.text[0] in "<>=!" else "arithmetic"
        return [Change(kind, token.start, token.end, EXCHANGED[token.text])]
    binary = at > 0 and is_operand_end(tokens[at - 1])
    if token.text in BINARY and binary:
        return [Change("arithmetic", token.start, token.end, BINARY[token.text])]
    if token.text == "!" and not binary:
        return [Change("negation", token.start, token.end, "")]
    return []


def arguments_of(tokens, opened):
    """Token ranges of the arguments of the call whose parenthesis is at `opened`."""
    end = closing(tokens, opened)
    ranges, first, depth = [], opened + 1, 0
    for at in range(opened + 1, end):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(tokens[at].text, 0)
        if tokens[at].text == "," and depth == 0:
            ranges.append((first, at))
            first = at + 1
    ranges.append((first, end))
    return [r for r in ranges if r[0] < r[1]]


def argument_changes(text, tokens, at):
    """The arguments of a call in pairs, exchanged."""
    if tokens[at].kind != "name" or tokens[at].text in KEYWORDS or tokens[at + 1].text != "(":
        return []
    changes = []
    arguments = arguments_of(tokens, at + 1)
    for one, two in zip(arguments, arguments[1:]):
        a, b, c, d = tokens[one[0]].start, tokens[one[1] - 1].end, tokens[two[0]].start, tokens[two[1] - 1].end
        if text[a:b] != text[c:d]:
            changes.append(Change("arguments", a, d, text[c:d] + text[b:c] + text[a:b]))
    return changes


def statement_changes(text, tokens, at, end):
    """Removes the statement from `at` to its semicolon at `end`."""
    first, second = tokens[at], tokens[at + 1]
    gone = Change("statement", first.start, tokens[end].start, "\n" * text.count("\n", first.start, tokens[end].start))
    if first.text in ("break", "continue", "goto"):
        return [gone._replace(kind="jump")]
    if first.text == "return":
        return [gone._replace(kind="jump")] if second.text == ";" else []
    if first.kind != "name" and first.text not in ("*", "(", "++", "--"):
        return []
    if first.text in KEYWORDS | TYPES or second.kind == "name" or NOT_CHANGED.fullmatch(first.text):
        return []
    if first.text == "(" and second.text == "void":
        return []
    return [gone]


def statements_of(tokens):
    """Index pairs (first token, semicolon) of simple statements, excluding the heads of `for`."""
    start, at = 0, 0
    while at < len(tokens):
        text = tokens[at].text
        if text in ("(", "["):
            at = closing(tokens, at)
        elif text == "{" and start == at:
            start = at + 1
        elif text == "{" and tokens[at - 1].text in (")", "else", "do"):
            start = at + 1
        elif text == "}" or text == ":":
            start = at + 1
        elif text == "{":
            at = closing(tokens, at)
        elif text == ";":
            if at > start:
                yield start, at
            start = at + 1
        at += 1


def sites_of(text, tokens):
    """Returns the possible changes for each place of a function body."""
    alone = left_unchanged(tokens)
    for at, token in enumerate(tokens):
        if at in alone:
            continue
        changes = []
        if token.kind == "number":
            changes = number_changes(token)
        elif token.kind == "name":
            changes = name_changes(tokens, at)
        elif token.kind == "sign":
            changes = sign_changes(tokens, at)
        if changes:
            yield changes
        if at + 1 < len(tokens):
            for change in argument_changes(text, tokens, at):
                yield [change]
    for start, end in statements_of(tokens):
        for change in statement_changes(text, tokens, start, end):
            yield [change]


def lines_around(text, start, end):
    """The whole lines that hold `start` to `end`, as offsets."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", max(start, end - 1))
    return first, len(text) if last < 0 else last


def digest(*parts):
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()


def mutant_of(seed, path, text, function, changes, times):
    """Returns one of the changes of a place, chosen by the seed and by the text of the place."""
    first, last = lines_around(text, changes[0].start, changes[0].end)
    place = (path, function, text[first:last], changes[0].kind, changes[0].start - first)
    times[place] = times.get(place, 0) + 1
    key = digest(seed, *place, times[place])
    change = changes[int(digest("choice", key), 16) % len(changes)]
    source = text[:change.start] + change.text + text[change.end:]
    after = source[first:last + len(source) - len(text)]
    line = text.count("\n", 0, change.start) + 1
    return Mutant(key, path, function, line, change.kind, text[first:last], after, source)


def steps_of(number):
    """A number of the code by one step up and down: of its last digit, or by 1."""
    decimal = DECIMAL.match(number)
    if decimal:
        digits, scale = int(decimal.group(1) + decimal.group(2)), len(decimal.group(2))
        return [f"{value // 10**scale}.{value % 10**scale:0{scale}d}" for value in (digits + 1, digits - 1) if value >= 0]
    whole = INTEGER.match(number)
    return [f"{int(whole.group(1), 0) + step}{whole.group(2)}" for step in (1, -1)
            if int(whole.group(1), 0) + step >= 0] if whole else []


def constant_changes(text):
    """Smallest steps of the constants of a file: (name or place, change)."""
    for match in NUMBER_MACRO.finditer(text):
        value = match.group(2)
        steps = steps_of(value) or [f"(({value}) {sign} 1)" for sign in "+-" if "." not in value]
        for step in steps:
            yield match.group(1), Change("constant", match.start(2), match.end(2), step)
    for match in ENUMERATOR.finditer(text):
        for step in steps_of(match.group(2)):
            yield match.group(1), Change("constant", match.start(2), match.end(2), step)
    tokens = tokens_of(text)
    within = {token.start for _, body in functions_of(text, tokens) for token in body}
    sizes = left_unchanged(tokens)
    for at, token in enumerate(tokens):
        initialiser = token.start not in within and tokens[at - 1].text in ("=", ",", "{", "-", "(")
        enumerator = tokens[at - 1].text == "=" and tokens[at - 2].text.isupper()
        if token.kind != "number" or at in sizes or enumerator:
            continue
        if initialiser or (token.start in within and token.text.rstrip("uUlL") not in ("0", "1", "2", "0.0", "1.0")):
            for step in steps_of(token.text):
                yield "", Change("constant", token.start, token.end, step)


def constants_of(path, text):
    """Returns a mutant for each smallest step of each constant of a file, in their order."""
    times = {}
    for name, change in constant_changes(text):
        first, last = lines_around(text, change.start, change.end)
        source = text[:change.start] + change.text + text[change.end:]
        after = source[first:last + len(source) - len(text)]
        place = (path, name, text[first:last], after)
        times[place] = times.get(place, 0) + 1
        key = digest("constant", *place, times[place])
        yield Mutant(key, path, name, text.count("\n", 0, change.start) + 1, change.kind, text[first:last], after, source)


def mutants_of(seed, path, text):
    """Returns one mutant for each place of the file that can change."""
    times = {}
    for function, body in functions_of(text, tokens_of(text)):
        for changes in sites_of(text, body):
            yield mutant_of(seed, path, text, function, changes, times)
