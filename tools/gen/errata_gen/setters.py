"""NAME.set.h: of each message of ours, functions for the members that may be absent, and for
texts. protobuf-c keeps beside a member that may be absent which one is there, to be said and asked
by a long name; and its texts are not const, so that a literal is none in C++."""
from errata_gen.model import Field
from errata_gen.text import (EDIT, call, comment, guard, protobuf_c_constant, protobuf_c_type,
                             snake)

ABOUT = ("X_set_Y puts a value in its place and says that it is there, instead of any other of its "
         "`oneof`; NULL takes it away again. What is pointed to is borrowed as long as the message "
         "is used. X_has_Y asks whether a member that may be absent is there; other texts are \"\" "
         "where nothing is said. A map is a list of entries, X_Y_entry, each with its key and value.")

SCALARS = {
    Field.TYPE_DOUBLE: "double", Field.TYPE_FLOAT: "float", Field.TYPE_BOOL: "protobuf_c_boolean",
    Field.TYPE_INT32: "int32_t", Field.TYPE_SINT32: "int32_t", Field.TYPE_SFIXED32: "int32_t",
    Field.TYPE_INT64: "int64_t", Field.TYPE_SINT64: "int64_t", Field.TYPE_SFIXED64: "int64_t",
    Field.TYPE_UINT32: "uint32_t", Field.TYPE_FIXED32: "uint32_t",
    Field.TYPE_UINT64: "uint64_t", Field.TYPE_FIXED64: "uint64_t",
    Field.TYPE_BYTES: "ProtobufCBinaryData",
}


# Names of members that are words of C++, as far as a contract might use them: protobuf-c puts a `_`
# after those.
RESERVED = frozenset(
    "and and_eq asm auto bitand bitor bool break case catch char class compl const const_cast continue "
    "default delete do double dynamic_cast else enum explicit export extern false float for friend goto "
    "if inline int long mutable namespace new not not_eq operator or or_eq private protected public "
    "register reinterpret_cast return short signed sizeof static static_cast struct switch template "
    "this throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t "
    "while xor xor_eq".split())


def _is_ours(model, file):
    return (file.name in model.to_generate and file.package not in model.open_packages
            and not file.name.startswith("google/"))


def _may_be_absent(field):
    return field.HasField("oneof_index")


def _members(message):
    return [field for field in message.proto.field
            if _may_be_absent(field) or (field.type == Field.TYPE_STRING
                                         and field.label != Field.LABEL_REPEATED)]


def _messages(file):
    return [message for message in file.messages if _members(message)]


def path_of(file):
    return f"{file.base}.set.h"


def headers_for(model, file):
    """The headers of setters for a file and all that it imports, in order."""
    by_name = {other.name: other for other in model.files}
    found, todo = set(), [file.name]
    while todo:
        other = by_name[todo.pop()]
        if other.name not in found:
            found.add(other.name)
            todo += other.proto.dependency
    return sorted(path_of(by_name[name]) for name in found
                  if _is_ours(model, by_name[name]) and _messages(by_name[name]))


def _parameter(field):
    """The type as the caller gives it, with its space; and how it becomes the member's."""
    if field.type == Field.TYPE_STRING:
        return "const char *", "(char *)(uintptr_t)"
    if field.type in (Field.TYPE_MESSAGE, Field.TYPE_ENUM):
        name = protobuf_c_type(field.type_name.lstrip("."))
        return (f"{name} *", "") if field.type == Field.TYPE_MESSAGE else (f"{name} ", "")
    return SCALARS[field.type] + " ", ""


def _member(field):
    return field.name + ("_" if field.name in RESERVED else "")


def _statement(before, parts):
    """`before` and the parts after it in one line, or each part in a line of its own."""
    line = f"    {before} {' '.join(parts)};\n"
    return line if len(line) <= 101 else f"    {before}\n        " + "\n        ".join(parts) + ";\n"


def _functions(message, field):
    prefix = f"errata_{snake(message.local_name.replace('.', '_'))}"
    struct = protobuf_c_type(message.full_name)
    kind, cast = _parameter(field)
    head = call(f"static inline void {prefix}_set_{field.name}",
                [f"{struct} *message", f"{kind}value"], "")
    text = f"\n{head}\n{{\n    message->{_member(field)} = {cast}value;\n"
    if not _may_be_absent(field):
        return text + "}\n"
    oneof = message.proto.oneof_decl[field.oneof_index].name
    case = f"{protobuf_c_constant(message.full_name)}__{oneof.upper()}"
    there = f"{case}_{field.name.upper()}"
    now = [f"value != NULL ? {there}", f": {case}__NOT_SET"] if kind.endswith("*") else [there]
    head = call(f"static inline bool {prefix}_has_{field.name}", [f"const {struct} *message"], "")
    return (text + _statement(f"message->{oneof}_case =", now)
            + f"}}\n{head}\n{{\n" + _statement(f"return message->{oneof}_case ==", [there]) + "}\n")


def _header(file):
    path = path_of(file)
    text = comment([f"{path}: how to set members of the messages of {file.name}.", EDIT, "", ABOUT])
    text += f"#ifndef {guard(path)}\n#define {guard(path)}\n\n"
    text += "".join(f"#include <{name}>\n" for name in (f"{file.base}.pb-c.h", "stdbool.h",
                                                        "stddef.h", "stdint.h"))
    text += '\n#ifdef __cplusplus\nextern "C" {\n#endif\n'
    for message in _messages(file):
        text += "\n" + comment([f"--- {message.full_name} ---"])
        text += "".join(_functions(message, field) for field in _members(message))
    return path, text + "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n"


def write(model):
    return dict(_header(file) for file in model.files if _is_ours(model, file) and _messages(file))
