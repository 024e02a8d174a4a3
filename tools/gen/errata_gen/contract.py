"""The tables of server/codec/contract.h: messages, enums, methods, descriptors, symbols."""
from errata_gen.model import Field
from errata_gen.text import array, guard, head, literal

INCLUDES = '#include "server/codec/contract.h"\n'
TEXT = ("#define TEXT(literal)                                                          \\\n"
        "    {                                                                          \\\n"
        "        (const uint8_t *)(literal), sizeof(literal) - 1                        \\\n"
        "    }\n")
# Names of enum field_type by number; groups (10) exist in proto2 alone and are refused below.
TYPES = {number: "FIELD_" + name[len("TYPE_"):] for name, number in Field.Type.items()}
UNPACKABLE = (Field.TYPE_STRING, Field.TYPE_BYTES, Field.TYPE_MESSAGE, Field.TYPE_GROUP)
# errata.v1.Format by number.
FORMATS = ("FORMAT_ANY", "FORMAT_OPAQUE_ID", "FORMAT_UUID", "FORMAT_JSON_OBJECT", "FORMAT_NAME",
           "FORMAT_PAGE_TOKEN", "FORMAT_KEY_ID")


def _text(value):
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
    for name in ("content", "not_future"):
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


def _field(model, message, field):
    syntax = message.file.proto.syntax or "proto2"
    repeated = field.label == Field.LABEL_REPEATED
    oneof = _oneof_index(message, field)
    optional = field.proto3_optional or oneof >= 0 or (syntax == "proto2" and not repeated)
    parts = [f".name = {_text(field.name)}", f".json_name = {_text(field.json_name)}",
             f".number = {field.number}", f".type = {TYPES[field.type]}"]
    target = field.type_name.lstrip(".")
    if field.type == Field.TYPE_MESSAGE:
        if model.messages[target].map_entry:
            parts.append(".map = true")
        parts.append(f".message = &{model.messages[target].symbol}")
    if field.type == Field.TYPE_ENUM:
        parts.append(f".enumeration = &{model.enums[target].symbol}")
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
        text += f"static const struct field_info {pointer}[] = {{\n"
        text += "".join(_field(model, message, field) for field in fields) + "};\n\n"
    text += f"const struct message_info {message.symbol} = {{\n"
    text += f"    .full_name = {_text(message.full_name)},\n    .fields = {pointer},\n"
    text += f"    .count = {len(fields)},\n    .well_known = {message.well_known},\n}};\n\n"
    return text


def _enum(enum):
    pointer = "values_" + enum.symbol[len("contract_"):]
    text = f"static const struct enum_value_info {pointer}[] = {{\n"
    for name, number in sorted(enum.values, key=lambda value: value[1]):
        text += (f"    {{.number = {number}, .name = {_text(name)},\n"
                 f"     .short_name = {_text(enum.short_name(name))}}},\n")
    text += f"}};\n\nconst struct enum_info {enum.symbol} = {{\n"
    text += f"    .full_name = {_text(enum.full_name)},\n    .values = {pointer},\n"
    text += f"    .count = {len(enum.values)},\n}};\n\n"
    return text


def _pointers(kind, things):
    name = {"message": "contract_messages", "enum": "contract_enums"}[kind]
    text = f"const struct {kind}_info *const {name}[] = {{\n"
    text += "".join(f"    &{thing.symbol},\n" for thing in things)
    text += f"}};\nconst uint32_t contract_{kind}_count = {len(things)};\n\n"
    return text


def _by_name(things):
    return sorted(things.values(), key=lambda thing: thing.full_name.encode())


def _messages_header(model):
    path = "errata/contract_messages.h"
    text = head(path, "the tables of each message and enum, by name.")
    text += f"#ifndef {guard(path)}\n#define {guard(path)}\n\n{INCLUDES}\n"
    for message in _by_name(model.messages):
        text += f"extern const struct message_info {message.symbol};\n"
    text += "\n"
    for enum in _by_name(model.enums):
        text += f"extern const struct enum_info {enum.symbol};\n"
    return path, text + "\n#endif\n"


def _messages_source(model):
    path = "contract_messages.c"
    text = head(path, "messages, their fields and their rules, and enums.")
    text += '#include "errata/contract_messages.h"\n\n' + TEXT + "\n"
    text += "".join(_enum(enum) for enum in _by_name(model.enums))
    text += "".join(_message(model, message) for message in _by_name(model.messages))
    text += _pointers("message", _by_name(model.messages)) + _pointers("enum", _by_name(model.enums))
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
    parts = [f".path = {_text(method.path)}", f".service = {_text(method.service.full_name)}",
             f".name = {_text(method.name)}",
             f".request = &{model.messages[method.request].symbol}",
             f".reply = &{model.messages[method.reply].symbol}",
             f".stream = {method.stream}", f".transaction = {method.transaction}",
             f".stage = {method.stage}"]
    if rules:
        parts.append(f".roles = {_role_set(rules.roles)}")
        parts.append(f".backfill_roles = {_role_set(rules.backfill_roles)}")
        parts.append(f".default_deadline_ms = {rules.default_deadline_ms}u")
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


def _symbols(model):
    """(name, index of file): services, methods, messages, enums, fields and extensions."""
    symbols = []
    for index, file in enumerate(model.files):
        for message in file.messages:
            symbols.append((message.full_name, index))
            symbols += [(f"{message.full_name}.{field.name}", index)
                        for field in message.proto.field]
            symbols += [(f"{message.full_name}.{field.name}", index)
                        for field in message.proto.extension]
        symbols += [(enum.full_name, index) for enum in file.enums]
        symbols += [(f"{file.package}.{field.name}", index) for field in file.proto.extension]
        for service in file.proto.service:
            symbols.append((f"{file.package}.{service.name}", index))
            symbols += [(f"{file.package}.{service.name}.{method.name}", index)
                        for method in service.method]
    return sorted(symbols, key=lambda symbol: symbol[0].encode())


def _extensions(model):
    """(extended message, number, index of file), in that order."""
    extensions = []
    for index, file in enumerate(model.files):
        for holder in (file, *file.messages):
            extensions += [(field.extendee.lstrip("."), field.number, index)
                           for field in holder.proto.extension]
    return sorted(extensions)


def _files_source(model):
    path = "contract_files.c"
    text = head(path, "each file's descriptor for reflection, and what it defines.")
    text += INCLUDES + "\n" + TEXT + "\n"
    places = {file.name: index for index, file in enumerate(model.files)}
    rows = ""
    for index, file in enumerate(model.files):
        values = [str(byte) for byte in file.descriptor]
        text += f"/* {file.name} */\nstatic const uint8_t descriptor_{index}[] = {{\n"
        text += array(values, 20) + "\n};\n"
        pointer = "NULL"
        if file.proto.dependency:
            pointer = f"dependencies_{index}"
            numbers = [str(places[name]) for name in file.proto.dependency]
            text += f"static const uint16_t {pointer}[] = {{\n{array(numbers, 20)}\n}};\n"
        text += "\n"
        rows += (f"    {{.name = {_text(file.name)},\n     .descriptor = {{descriptor_{index}, "
                 f"sizeof(descriptor_{index})}},\n     .dependencies = {pointer},\n"
                 f"     .dependency_count = {len(file.proto.dependency)}}},\n")
    text += f"const struct contract_file contract_files[] = {{\n{rows}}};\n"
    text += f"const uint32_t contract_file_count = {len(model.files)};\n\n"
    symbols = _symbols(model)
    text += "const struct contract_symbol contract_symbols[] = {\n"
    text += "".join(f"    {{.name = {_text(name)}, .file = {index}}},\n" for name, index in symbols)
    text += f"}};\nconst uint32_t contract_symbol_count = {len(symbols)};\n\n"
    extensions = _extensions(model)
    text += "const struct contract_extension contract_extensions[] = {\n"
    text += "".join(f"    {{.extendee = {_text(name)}, .number = {number}, .file = {index}}},\n"
                    for name, number, index in extensions)
    text += "    {.number = 0}, /* there is always an element */\n"
    text += f"}};\nconst uint32_t contract_extension_count = {len(extensions)};\n"
    return path, text


def write(model):
    return dict([_messages_header(model), _messages_source(model), _methods_header(model),
                 _methods_source(model), _files_source(model)])
