"""The tables of server/codec/contract.h that the sources give: messages, enums and methods."""
from errata_gen.model import Field
from errata_gen.text import guard, head, literal

INCLUDES = '#include "server/codec/contract.h"\n'
TEXT = ("#define TEXT(literal)                                                          \\\n"
        "    {                                                                          \\\n"
        "        (const uint8_t *)(literal), sizeof(literal) - 1                        \\\n"
        "    }\n")
# Names of enum field_type by number; groups (10) exist in proto2 alone and are refused below.
TYPES = {number: "FIELD_" + name[len("TYPE_"):] for name, number in Field.Type.items()}
UNPACKABLE = (Field.TYPE_STRING, Field.TYPE_BYTES, Field.TYPE_MESSAGE, Field.TYPE_GROUP)
# errata.options.Format by number.
FORMATS = ("FORMAT_ANY", "FORMAT_OPAQUE_ID", "FORMAT_UUID", "FORMAT_JSON_OBJECT", "FORMAT_NAME",
           "FORMAT_PAGE_TOKEN", "FORMAT_KEY_ID")


def slice_text(value):
    return f"TEXT({literal(value)})"


def _limits(rules):
    """The members of struct field_rules that errata's own option gives."""
    parts = []
    for name in ("min_value", "max_value"):
        if getattr(rules, name):
            parts.append(f".{name} = INT64_C({getattr(rules, name)})")
    for name in ("max_bytes", "max_items"):
        if getattr(rules, name):
            parts.append(f".{name} = {getattr(rules, name)}u")
    if rules.format:
        parts.append(f".format = {FORMATS[rules.format]}")
    for name in ("content", "not_future", "not_negative"):
        if getattr(rules, name):
            parts.append(f".{name} = true")
    return parts


def _rules(model, field):
    rules = model.field_rules(field)
    parts = _limits(rules) if rules else []
    return ", ".join(parts + [f".{name} = true" for name in model.field_behaviors(field)])


def _is_packed(field, syntax):
    if field.label != Field.LABEL_REPEATED or field.type in UNPACKABLE:
        return False
    return field.options.packed if field.options.HasField("packed") else syntax == "proto3"


def _oneof_index(message, field):
    """The place among the real oneofs: those of proto3 `optional` come after all real ones."""
    return -1 if field.proto3_optional or not field.HasField("oneof_index") else field.oneof_index


def plain_members(rules):
    """The members of struct field_plain, or an empty list."""
    texts = [f".{member} = {slice_text(getattr(rules, name))}"
             for member, name in (("name", "rest_name"), ("input_name", "rest_input_name"),
                                  ("repeat", "rest_repeat")) if getattr(rules, name, "")]
    return texts + ([".is_json = true"] if getattr(rules, "rest_json", False) else [])


def _plain_symbol(message, field):
    return f"plain_{message.symbol[len('contract_'):]}_{field.name}"


def _plains(model, message, fields):
    """The struct field_plain of each field that has one."""
    text = ""
    for field in fields:
        members = plain_members(model.field_rules(field))
        if members:
            text += (f"static const struct field_plain {_plain_symbol(message, field)} = {{\n    "
                     + ",\n    ".join(members) + ",\n};\n\n")
    return text


def _field(model, message, field):
    syntax = message.file.proto.syntax or "proto2"
    repeated = field.label == Field.LABEL_REPEATED
    oneof = _oneof_index(message, field)
    optional = field.proto3_optional or oneof >= 0 or (syntax == "proto2" and not repeated)
    parts = [f".name = {slice_text(field.name)}", f".json_name = {slice_text(field.json_name)}",
             f".number = {field.number}", f".type = {TYPES[field.type]}"]
    target = field.type_name.lstrip(".")
    if field.type == Field.TYPE_MESSAGE:
        if model.messages[target].map_entry:
            parts.append(".map = true")
        parts.append(f".message = &{model.messages[target].symbol}")
    if field.type == Field.TYPE_ENUM:
        parts.append(f".enumeration = &{model.enums[target].symbol}")
    if plain_members(model.field_rules(field)):
        parts.append(f".plain = &{_plain_symbol(message, field)}")
    for name, value in (("repeated", repeated), ("packed", _is_packed(field, syntax)),
                        ("optional", optional)):
        if value:
            parts.append(f".{name} = true")
    parts.append(f".oneof = {oneof}")
    rules = _rules(model, field)
    if rules:
        parts.append(f".rules = {{{rules}}}")
    return "    {" + ",\n     ".join(parts) + "},\n"


def _message(model, message):
    fields = sorted(message.proto.field, key=lambda field: field.number)
    text = ""
    pointer = "NULL"
    if fields:
        pointer = "fields_" + message.symbol[len("contract_"):]
        text += _plains(model, message, fields)
        text += f"static const struct field_info {pointer}[] = {{\n"
        text += "".join(_field(model, message, field) for field in fields) + "};\n\n"
    text += f"const struct message_info {message.symbol} = {{\n"
    text += f"    .full_name = {slice_text(message.full_name)},\n    .fields = {pointer},\n"
    text += f"    .count = {len(fields)},\n    .well_known = {message.well_known},\n}};\n\n"
    return text


def _enum(enum):
    pointer = "values_" + enum.symbol[len("contract_"):]
    text = f"static const struct enum_value_info {pointer}[] = {{\n"
    for name, number in sorted(enum.values, key=lambda value: value[1]):
        text += (f"    {{.number = {number}, .name = {slice_text(name)},\n"
                 f"     .short_name = {slice_text(enum.short_name(name))}}},\n")
    text += f"}};\n\nconst struct enum_info {enum.symbol} = {{\n"
    text += f"    .full_name = {slice_text(enum.full_name)},\n    .values = {pointer},\n"
    lower_case = "    .lower_case = true,\n" if enum.lower_case else ""
    text += f"    .count = {len(enum.values)},\n{lower_case}}};\n\n"
    return text


def _pointers(kind, things):
    name = {"message": "contract_messages", "enum": "contract_enums"}[kind]
    text = f"const struct {kind}_info *const {name}[] = {{\n"
    text += "".join(f"    &{thing.symbol},\n" for thing in things)
    text += f"}};\nconst uint32_t contract_{kind}_count = {len(things)};\n\n"
    return text


def _messages_header(model):
    path = "errata/contract_messages.h"
    text = head(path, "the tables of each message and enum, by name.")
    text += f"#ifndef {guard(path)}\n#define {guard(path)}\n\n{INCLUDES}\n"
    for message in model.published(model.messages):
        text += f"extern const struct message_info {message.symbol};\n"
    text += "\n"
    for enum in model.published(model.enums):
        text += f"extern const struct enum_info {enum.symbol};\n"
    return path, text + "\n#endif\n"


def _messages_source(model):
    path = "contract_messages.c"
    text = head(path, "messages, their fields and their rules, and enums.")
    text += '#include "errata/contract_messages.h"\n\n' + TEXT + "\n"
    text += "".join(_enum(enum) for enum in model.published(model.enums))
    text += "".join(_message(model, message) for message in model.published(model.messages))
    text += _pointers("message", model.published(model.messages))
    text += _pointers("enum", model.published(model.enums))
    return path, text


def method_constant(method):
    """The method's place in contract_methods, as a named constant."""
    return f"CONTRACT_METHOD_{method.prefix.upper()}"


def _methods_header(model):
    path = "errata/contract_methods.h"
    text = head(path, "the place of each method in contract_methods.")
    text += f"#ifndef {guard(path)}\n#define {guard(path)}\n\n{INCLUDES}\nenum {{\n"
    for method in model.methods():
        text += f"    {method_constant(method)} = {method.index},\n"
    return path, text + "};\n\n#endif\n"


def _role_set(numbers):
    return f"0x{sum(1 << number for number in set(numbers)):x}u"


def _method(model, method):
    rules = method.rules
    parts = [f".path = {slice_text(method.path)}", f".service = {slice_text(method.service.full_name)}",
             f".name = {slice_text(method.name)}",
             f".request = &{model.messages[method.request].symbol}",
             f".reply = &{model.messages[method.reply].symbol}",
             f".stream = {method.stream}", f".transaction = {method.transaction}",
             f".stage = {method.stage}", f".execution = {method.execution}"]
    if rules:
        parts.append(f".roles = {_role_set(rules.roles)}")
        parts.append(f".backfill_roles = {_role_set(rules.backfill_roles)}")
        parts.append(f".default_deadline_ms = {rules.default_deadline_ms}u")
        if rules.outside_quotas:
            parts.append(".outside_quotas = true")
    if method.open:
        parts.append(".open = true")
    if method.proto.options.idempotency_level == 1:
        parts.append(".no_side_effects = true")
    parts.append(f".index = {method.index}")
    return "    {" + ",\n     ".join(parts) + "},\n"


def _methods_source(model):
    path = "contract_methods.c"
    methods = model.methods()
    text = head(path, "all methods with their rules.")
    text += '#include "errata/contract_messages.h"\n\n' + TEXT + "\n"
    text += "const struct method_info contract_methods[] = {\n"
    text += "".join(_method(model, method) for method in methods)
    text += f"}};\nconst uint32_t contract_method_count = {len(methods)};\n"
    return path, text


def write(model):
    return dict([_messages_header(model), _messages_source(model), _methods_header(model),
                 _methods_source(model)])
