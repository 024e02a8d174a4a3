"""NAME.set.h: a function for each member of each message of the contract that sets it, and one for each member
that may be absent that tests whether it is set. protobuf-c has none: a member that may be absent has a
case of a long name beside it, a list its length, and texts are not const, so that C++ rejects a literal."""
from errata_gen.model import Field
from errata_gen.text import (EDIT, call, comment, guard, protobuf_c_constant, protobuf_c_type,
                             snake)

ABOUT = ("X_set_Y sets the member Y of the message X, instead of any other member of its `oneof`. A list is "
         "set with its number of elements. Texts, lists and messages are borrowed: they must stay "
         "valid as long as the message is used. NULL for a text or message that may be absent removes "
         "it. X_has_Y returns whether a member that may be absent is set; a text that may not is \"\" by "
         "default. A map is a list of entries, X_Y_entry, each with its key and value.")

SCALARS = {
    Field.TYPE_DOUBLE: "double", Field.TYPE_FLOAT: "float", Field.TYPE_BOOL: "protobuf_c_boolean",
    Field.TYPE_INT32: "int32_t", Field.TYPE_SINT32: "int32_t", Field.TYPE_SFIXED32: "int32_t",
    Field.TYPE_INT64: "int64_t", Field.TYPE_SINT64: "int64_t", Field.TYPE_SFIXED64: "int64_t",
    Field.TYPE_UINT32: "uint32_t", Field.TYPE_FIXED32: "uint32_t",
    Field.TYPE_UINT64: "uint64_t", Field.TYPE_FIXED64: "uint64_t",
    Field.TYPE_BYTES: "ProtobufCBinaryData",
}


# Names of members that are words of C++, as far as a contract might use them: protobuf-c appends a `_`
# to those.
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


def _is_list(field):
    return field.label == Field.LABEL_REPEATED


def _messages(file):
    return [message for message in file.messages if message.proto.field]


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
    """The type of the setter's parameter, and the cast to the member's type."""
    if field.type == Field.TYPE_STRING:
        return ("const char *const *", "(char **)(uintptr_t)") if _is_list(field) else (
            "const char *", "(char *)(uintptr_t)")
    if field.type in (Field.TYPE_MESSAGE, Field.TYPE_ENUM):
        kind = protobuf_c_type(field.type_name.lstrip("."))
        kind += " *" if field.type == Field.TYPE_MESSAGE else " "
    else:
        kind = SCALARS[field.type] + " "
    return kind + ("*" if _is_list(field) else ""), ""


def _member(field):
    return field.name + ("_" if field.name in RESERVED else "")


def _statement(before, parts):
    """`before` and the parts in one line, or each part in a line of its own."""
    line = f"    {before} {' '.join(parts)};\n"
    return line if len(line) <= 101 else f"    {before}\n        " + "\n        ".join(parts) + ";\n"


def _functions(message, field):
    prefix = f"errata_{snake(message.local_name.replace('.', '_'))}"
    struct = protobuf_c_type(message.full_name)
    kind, cast = _parameter(field)
    values = [f"{kind}values", "size_t count"] if _is_list(field) else [f"{kind}value"]
    head = call(f"static inline void {prefix}_set_{field.name}", [f"{struct} *message", *values], "")
    text = f"\n{head}\n{{\n    message->{_member(field)} = {cast}{values[0].split()[-1].lstrip('*')};\n"
    if _is_list(field):
        return text + f"    message->n_{field.name} = count;\n}}\n"
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
    text = comment([f"{path}: sets the members of the messages of {file.name}.", EDIT, "", ABOUT])
    text += f"#ifndef {guard(path)}\n#define {guard(path)}\n\n"
    text += "".join(f"#include <{name}>\n" for name in (f"{file.base}.pb-c.h", "stdbool.h",
                                                        "stddef.h", "stdint.h"))
    text += '\n#ifdef __cplusplus\nextern "C" {\n#endif\n'
    for message in _messages(file):
        text += "\n" + comment([f"--- {message.full_name} ---"])
        text += "".join(_functions(message, field) for field in message.proto.field)
    return path, text + "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n"


def write(model):
    return dict(_header(file) for file in model.files if _is_ours(model, file) and _messages(file))
