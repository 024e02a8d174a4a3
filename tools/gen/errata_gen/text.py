"""Names and literals in C: how names of the contract become ours, and how protobuf-c spells them."""
import re

EDIT = "Written by protoc-gen-errata; edit the .proto files instead."


def snake(name):
    """CamelCase to snake_case: GetExamples -> get_examples, ListPDFFiles -> list_pdf_files."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return name.lower()


def snake_full(full_name):
    """A full name as one word: errata.v1.FeedbackEvent -> errata_v1_feedback_event."""
    return "_".join(snake(piece) for piece in full_name.split("."))


def _protobuf_c_lower(piece):
    lowered = ""
    was_upper = True
    for letter in piece:
        if letter.isupper() and not was_upper:
            lowered += "_"
        lowered += letter.lower()
        was_upper = letter.isupper()
    return lowered


def protobuf_c_type(full_name):
    """The struct that protoc-gen-c makes of a message: Errata__V1__FeedbackEvent."""
    pieces = []
    for piece in full_name.split("."):
        words = piece.split("_")
        pieces.append("".join(word[:1].upper() + word[1:] for word in words))
    return "__".join(pieces)


def protobuf_c_descriptor(full_name):
    """The descriptor that protoc-gen-c makes of a message."""
    return "__".join(_protobuf_c_lower(piece) for piece in full_name.split(".")) + "__descriptor"


def protobuf_c_constant(full_name):
    """Returns the prefix of a message's constants, such as ERRATA__V1__FEEDBACK_EVENT."""
    return "__".join(_protobuf_c_lower(piece).upper() for piece in full_name.split("."))


def literal(text):
    """A C string literal of ASCII text (names of the contract are ASCII)."""
    if not text.isascii() or any(letter in text for letter in '"\\\n'):
        raise ValueError(f"not a name: {text!r}")
    return f'"{text}"'


def array(values, per_line, indent="    "):
    """Lines of a C array's values."""
    lines = []
    for start in range(0, len(values), per_line):
        lines.append(indent + ", ".join(values[start:start + per_line]) + ",")
    return "\n".join(lines)


def comment(paragraphs, indent=""):
    """A C comment of texts, each wrapped to 98 columns; an empty one is an empty line."""
    width = 98 - len(indent) - 3
    lines = []
    for paragraph in paragraphs:
        line = ""
        for word in paragraph.replace("*/", "* /").split():
            if line and len(line) + 1 + len(word) > width:
                lines.append(line)
                line = ""
            line = f"{line} {word}".strip()
        lines.append(line)
    if not lines:
        return ""
    body = "\n".join([lines[0], *[f"{indent} * {line}".rstrip() for line in lines[1:]]])
    return f"{indent}/* {body} */\n"


def head(name, what):
    """The comment at the head of a generated file."""
    return comment([f"{name}: {what}", EDIT])


def call(before, parts, after, indent="    "):
    """`before` + parts in brackets + `after`, broken between parts at 100 columns."""
    lines = [before + "("]
    for place, part in enumerate(parts):
        piece = part + (", " if place + 1 < len(parts) else ")" + after)
        if len(lines[-1]) + len(piece.rstrip()) > 99 and (place > 0 or len(before) > 60):
            lines.append(indent)
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def guard(path):
    """The include guard of a generated header."""
    return "ERRATA_GEN_" + re.sub(r"[^A-Za-z0-9]", "_", path).upper()
