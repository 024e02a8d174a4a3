"""NAME.views.h and NAME.views.c: messages with the option `view`, and those that the plugin's option
names, as flat structs over their bytes (store/base/view.h)."""
from errata_gen.model import Field, Refused
from errata_gen.text import EDIT, comment, guard, head, snake

NUMBERS = {
    Field.TYPE_UINT32: ("VIEW_UINT32", "uint32_t"), Field.TYPE_INT32: ("VIEW_INT32", "int32_t"),
    Field.TYPE_UINT64: ("VIEW_UINT64", "uint64_t"), Field.TYPE_INT64: ("VIEW_INT64", "int64_t"),
    Field.TYPE_SINT64: ("VIEW_SINT64", "int64_t"),
    Field.TYPE_BOOL: ("VIEW_BOOL", "bool"), Field.TYPE_DOUBLE: ("VIEW_FIXED64", "double"),
    Field.TYPE_FIXED64: ("VIEW_FIXED64", "uint64_t"), Field.TYPE_SFIXED64: ("VIEW_FIXED64", "int64_t"),
}
TEXTS = (Field.TYPE_STRING, Field.TYPE_BYTES)
TIMESTAMP = "google.protobuf.Timestamp"
FORMAT_UUID = 2
# Bits of a set, less the first (store/base/view.c).
ONEOFS_MAX = 31


def _has_c_names(enum):
    """Returns whether the values carry the prefix of their type; the constant OK of google.rpc.Code does not."""
    return all(enum.short_name(value) != value for value, _ in enum.values)


def _type_name(thing):
    """The C name of a message or enum, as in NAME.fields.h."""
    return "_".join(snake(piece)
                    for piece in thing.full_name[len(thing.file.package) + 1:].split("."))


class Member:
    """A field as a member of the view."""

    def __init__(self, model, message, field):
        self.name = field.name
        self.number = field.number
        self.repeated = field.label == Field.LABEL_REPEATED
        self.comment = message.file.comment(*message.path, 2, list(message.proto.field).index(field))
        self.enum = None
        rules = model.field_rules(field)
        self.always_set = bool(rules and rules.always_set)
        self.exact_bytes = rules.exact_bytes if rules else 0
        self.oneof = 0
        self.has = field.proto3_optional and not self.repeated
        if field.HasField("oneof_index") and not field.proto3_optional:
            self.oneof = field.oneof_index + 1
            self.has = True
            if self.oneof > ONEOFS_MAX:
                raise Refused(f"{message.full_name}: a view knows at most {ONEOFS_MAX} oneofs")
        self._choose_kind(model, message, field, rules)

    def _choose_kind(self, model, message, field, rules):
        target = field.type_name.lstrip(".")
        if field.type in NUMBERS:
            self.kind, self.c_type = NUMBERS[field.type]
        elif field.type == Field.TYPE_ENUM:
            self.kind, self.c_type = "VIEW_INT32", "int32_t"
            if _has_c_names(model.enums[target]):
                self.enum = model.enums[target]
                self.c_type = f"enum {_type_name(self.enum)}"
        elif field.type in TEXTS:
            self.kind, self.c_type = "VIEW_TEXT", "struct slice"
            if self.exact_bytes:
                self.kind, self.c_type = "VIEW_ARRAY", "uint8_t"
                if self.repeated or self.has:
                    raise Refused(f"{message.full_name}.{field.name}: exact_bytes is for a field that is neither "
                                  "repeated nor optional")
            elif rules and rules.format == FORMAT_UUID and not self.repeated:
                self.kind, self.c_type = "VIEW_UUID", "struct uuid"
        elif field.type == Field.TYPE_MESSAGE and target == TIMESTAMP and not self.repeated:
            self.kind, self.c_type = "VIEW_TIME", "int64_t"
            self.has = True
        elif field.type == Field.TYPE_MESSAGE:
            self.kind, self.c_type = "VIEW_MESSAGE", "struct slice"
            self.has = not self.repeated
        else:
            raise Refused(f"{message.full_name}.{field.name}: a view has no member for this type of "
                          "number; use int32, int64, uint32, uint64, sint64, fixed64, sfixed64, bool or double")
        if self.kind == "VIEW_SINT64" and self.repeated:
            raise Refused(f"{message.full_name}.{field.name}: a view has no lists of sint64; use int64")
        self.element_type = self.c_type
        if self.repeated:
            self.c_type = "struct view_list"

    @property
    def member(self):
        return self.name + ("_us" if self.kind == "VIEW_TIME" and not self.repeated else "")


def _members(model, message):
    fields = sorted(message.proto.field, key=lambda field: field.number)
    return [Member(model, message, field) for field in fields]


def _struct(name, message, members):
    text = comment([message.file.comment(*message.path)] if message.file.comment(*message.path)
                   else [])
    text += f"struct {name}_view {{\n"
    for member in members:
        text += comment([member.comment], "    ") if member.comment else ""
        size = f"[{member.exact_bytes}]" if member.exact_bytes else ""
        text += f"    {member.c_type} {member.member}{size};\n"
        text += f"    bool has_{member.name};\n" if member.has else ""
    return text + "};\n"


def _adder(name, member):
    """The function that appends an element to the run of a list; none for messages, which have x_view_put."""
    if not member.repeated or member.kind == "VIEW_MESSAGE":
        return ""
    text = (f"static inline void {name}_view_add_{member.name}(struct buffer *run,\n"
            f"    {member.element_type} element)\n{{\n")
    if member.kind == "VIEW_TEXT":
        return text + f"    wire_put_bytes(run, {member.number}, element);\n}}\n\n"
    if member.kind == "VIEW_FIXED64":
        return text + ("    uint64_t raw = 0;\n\n    memcpy(&raw, &element, sizeof(raw));\n"
                       "    wire_put_packed(run, WIRE_FIXED64, raw);\n}\n\n")
    return text + "    wire_put_packed(run, WIRE_VARINT, (uint64_t)(int64_t)element);\n}\n\n"


def _functions(name):
    view, table = f"{name}_view", f"{name}_view_type"
    return (f"extern const struct view_type {table};\n\n"
            f"MUST_CHECK static inline enum err {view}_read(struct slice message,\n"
            f"    struct {view} *ret_view)\n{{\n"
            f"    return view_read(&{table}, message, ret_view);\n}}\n\n"
            f"static inline size_t {view}_bytes(const struct {view} *view)\n{{\n"
            f"    return view_bytes(&{table}, view);\n}}\n\n"
            f"static inline void {view}_write(const struct {view} *view, struct buffer *buffer)\n{{\n"
            f"    view_write(&{table}, view, buffer);\n}}\n\n"
            f"static inline void {view}_put(const struct {view} *view, uint32_t number,\n"
            f"    struct buffer *buffer)\n{{\n"
            f"    view_put(&{table}, view, number, buffer);\n}}\n\n")


def _entry(name, member):
    has = f"offsetof(struct {name}_view, has_{member.name})" if member.has else "VIEW_ALWAYS"
    parts = [f".number = {member.number}", f".kind = {member.kind}"]
    if member.oneof:
        parts.append(f".oneof = {member.oneof}")
    if member.exact_bytes:
        parts.append(f".size = {member.exact_bytes}")
    for flag in ("repeated", "always_set"):
        if getattr(member, flag):
            parts.append(f".{flag} = true")
    parts.append(f".offset = offsetof(struct {name}_view, {member.member})")
    parts.append(f".has_offset = {has}")
    if member.enum:
        parts.append(f".is_value = is_{_type_name(member.enum)}")
    return "    {" + ",\n     ".join(parts) + "},\n"


def _table(name, members):
    text = f"static const struct view_field {name}_view_fields[] = {{\n"
    text += "".join(_entry(name, member) for member in members) + "};\n\n"
    text += f"const struct view_type {name}_view_type = {{\n"
    text += f"    .fields = {name}_view_fields,\n    .count = {len(members)},\n"
    return text + f"    .size = sizeof(struct {name}_view),\n}};\n\n"


def _enum_check(enum):
    name = _type_name(enum)
    return (f"static bool is_{name}(int32_t number)\n{{\n    enum {name} value;\n\n"
            f"    return {name}_from_wire(number, &value);\n}}\n\n")


def _wanted(model, file):
    """(C name, message, its members) of each message that has a view."""
    enums = {_type_name(enum) for other in model.files for enum in other.enums}
    wanted = []
    for message in file.messages:
        rules = model.message_rules(message)
        if message.full_name not in model.views and not (rules and rules.view):
            continue
        name = _type_name(message)
        if f"{name}_view" in enums:
            raise Refused(f"{message.full_name}: its view would have the name of an enum; rename one")
        wanted.append((name, message, _members(model, message)))
    return wanted


def _file(model, file):
    named = _wanted(model, file)
    if not named:
        return {}
    enums = {member.enum.full_name: member.enum
             for _, _, members in named for member in members if member.enum}
    path = f"{file.base}.views.h"
    text = head(path, f"the messages of {file.name} as views (store/base/view.h).")
    text += f"#ifndef {guard(path)}\n#define {guard(path)}\n\n#include \"store/base/view.h\"\n\n"
    bases = sorted({file.base} | {enum.file.base for enum in enums.values()})
    text += "".join(f"#include <{base}.fields.h>\n" for base in bases) + "\n"
    for name, message, members in named:
        text += _struct(name, message, members) + _functions(name)
        text += "".join(_adder(name, member) for member in members)
    files = {path: text + "#endif\n"}
    path = f"{file.base}.views.c"
    text = comment([f"{path}: see {file.base}.views.h.", EDIT])
    text += f"#include <{file.base}.views.h>\n\n"
    text += "".join(_enum_check(enums[key]) for key in sorted(enums))
    files[path] = text + "".join(_table(name, members) for name, _, members in named)
    return files


def write(model):
    files = {}
    for file in model.files:
        if file.name in model.to_generate:
            files.update(_file(model, file))
    return files
