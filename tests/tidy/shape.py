#!/usr/bin/python3
"""tidy_shape: limits on the shape of code, and constructs that are not used here.

Function length and parameters, file length and head comments, banned calls, plain assert, `default:`
in switches over our own enums, transactions kept in structs, mutable data outside functions.
"""
import re

import sources

FUNCTION_LINES_MAX = 70
TEST_FUNCTION_LINES_MAX = 150
PARAMETERS_MAX = 6
FILE_LINES_MAX = 800
HEAD_LINES_MAX = 15  # indented lines, such as a table of functions, do not count

BANNED = {
    r"strcpy|strcat|strncpy": "memcpy with a known size, or buffer_append",
    r"sprintf|vsprintf": "snprintf, buffer_printf or arena_printf",
    r"strtok|strtok_r": "a walk over a struct slice",
    r"gmtime|localtime|localtime_r": "gmtime_r: all times are UTC",
    r"atoi|atol|atoll|atof": "strtol and its like, with end and errno checked",
    r"rand|srand|random|srandom|drand48": "random_fill of store/base/random.h",
    r"time|gettimeofday": "clock_wall_us of store/base/clock.h",
    r"alloca": "an arena",
    r"assert": "ASSERT of store/base/assert.h",
    r"setjmp|longjmp": "results and one cleanup label",
}


# Callbacks have the shape that their library requires; so do replacements of cairo's functions.
FOREIGN_CALLBACK = re.compile(r"\(\s*(nghttp2_session|uv_\w+_t) \*|^\s*void cairo_\w+\(")

# Transactions in headers: one that outlives a call but is reset after each use, so that it holds no snapshot
# over a turn, and the parameters of one function of a method, which are on the stack.
KEPT_TRANSACTIONS = {("server/pipeline/rpc.h", "read_txn"), ("server/pipeline/dispatch.h", "txn")}


def check_size(path, text, findings):
    count = text.count("\n")
    if count > FILE_LINES_MAX:
        findings.add(path, 1, f"the file has {count} lines", f"one subject a file, at most "
                     f"{FILE_LINES_MAX} lines: split it by subject")
    limit = TEST_FUNCTION_LINES_MAX if path.startswith("tests/") else FUNCTION_LINES_MAX
    for function in sources.functions(text):
        if function.body_lines > limit:
            findings.add(path, function.line,
                         f"{function.name} has {function.body_lines} lines", f"at most {limit}: "
                         "branches in the parent, loops in helpers, leaves pure")
        if function.parameters > PARAMETERS_MAX and not FOREIGN_CALLBACK.search(function.signature):
            findings.add(path, function.line,
                         f"{function.name} takes {function.parameters} parameters",
                         f"at most {PARAMETERS_MAX}: struct ctx carries arena, clock, random and "
                         "fault; what belongs together is a struct")


def check_head(path, text, findings):
    match = re.match(r"/\*\n(.*?)\n \*/\n", text, flags=re.S)
    if not match:
        findings.add(path, 1, "no head comment",
                     "begin with /* ... */ that says what the file is, is not, and may assume")
        return
    lines = sum(not line.startswith(" *   ") for line in match.group(1).split("\n"))
    if lines > HEAD_LINES_MAX:
        findings.add(path, 1, f"the head comment has {lines} lines",
                     f"at most {HEAD_LINES_MAX}; details belong to where they are used")


def check_calls(path, code, findings):
    for number, line in enumerate(code.split("\n"), 1):
        for names, instead in BANNED.items():
            match = re.search(rf"(?<![\w.>])({names})\s*\(", line)
            if match and not re.search(rf"\b(struct|enum)\s+{match.group(1)}\b", line):
                findings.add(path, number, f"{match.group(1)} is banned", instead)
        if re.search(r"\btypedef\s+struct\b", line):
            findings.add(path, number, "a typedef for a struct", "struct x by its own name")


def own_enum_values(root):
    """Every value of every enum that our headers and sources define."""
    values = set()
    for path in sources.c_files(root):
        code = sources.blank_strings_and_comments(sources.read(root, path))
        for body in re.findall(r"\benum\s+\w*\s*\{(.*?)\}", code, flags=re.S):
            body = re.sub(r"^#.*$", "", body, flags=re.M)
            values.update(re.findall(r"\b([A-Z][A-Z0-9_]+)\s*(?:=[^,]*)?(?:,|$)", body))
    for name in sources.tracked(root):
        if name.endswith(".def"):
            prefix = {"errors.def": "ERR_", "tables.def": "TABLE_",
                      "status_codes.def": "STATUS_"}.get(name.split("/")[-1], "")
            values.update(prefix + v for v in re.findall(r"^[A-Z]+\((\w+),", sources.read(root, name),
                                                         flags=re.M))
    return values


def check_switches(path, text, code, enum_values, findings):
    """A default with a comment of its own is a reasoned one, such as over a peer's numbers."""
    lines, written = code.split("\n"), text.split("\n")
    for number, line in enumerate(lines):
        match = re.match(r"(\s*)switch \(", line)
        if not match:
            continue
        indent, cases, default = match.group(1), [], 0
        for below in range(number + 1, len(lines)):
            if lines[below].startswith(indent + "case "):
                cases.append(lines[below].strip()[5:].rstrip(":").split(":")[0].strip())
            elif lines[below].startswith(indent + "default:") and "/*" not in written[below]:
                default = below + 1
            elif lines[below].startswith(indent + "}"):
                break
        if default and cases and all(case in enum_values for case in cases):
            findings.add(path, default, "a default in a switch over one of our enums",
                         "name every value, so that a new one warns; what comes after the switch is "
                         "for values that cannot be")


def check_transactions(path, code, findings):
    """Checks that a transaction is a member only of a bundle of parameters on the stack of one .c file."""
    if path.startswith(("store/", "tests/")):
        return
    for body in re.finditer(r"^struct (\w+) \{(.*?)^\}", code, flags=re.M | re.S):
        on_stack = path.endswith(".c") and not re.search(rf"sizeof\(struct {body.group(1)}\)|"
                                                         rf"\bstruct {body.group(1)} \w+;\n\}}",
                                                         code)
        for match in re.finditer(r"struct store_txn \*+(\w+)\s*;", body.group(2)):
            if on_stack or (path, match.group(1)) in KEPT_TRANSACTIONS:
                continue
            number = code[:body.start(2) + match.start()].count("\n") + 1
            findings.add(path, number, "a struct outside store/ keeps a transaction",
                         "pass it as a parameter: no transaction is held across a turn of the loop")


def check_file(path, text, enum_values, findings):
    code = sources.blank_strings_and_comments(text)
    check_size(path, text, findings)
    check_head(path, text, findings)
    if path != "store/base/banned.h":
        check_calls(path, code, findings)
    check_switches(path, text, code, enum_values, findings)
    check_transactions(path, code, findings)


def check(root, build, findings):
    enum_values = own_enum_values(root)
    for path in sources.c_files(root):
        if path != "tools/cmake/empty.c":
            check_file(path, sources.read(root, path), enum_values, findings)


if __name__ == "__main__":
    sources.main("tidy_shape", check)
