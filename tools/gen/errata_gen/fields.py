"""NAME.fields.h: field numbers and enums of a file as plain C, without protobuf-c."""
from errata_gen.model import Refused
from errata_gen.text import comment, guard, head, snake


def _message_numbers(message):
    prefix = "_".join(snake(piece) for piece in message.local_name.split(".")).upper()
    return [(f"{prefix}_{field.name.upper()}_FIELD", field.number)
            for field in message.proto.field]


def _numbers(file, seen):
    blocks = []
    for message in file.messages:
        numbers = _message_numbers(message)
        if message.map_entry or not numbers:
            continue
        for name, _ in numbers:
            if name in seen:
                raise Refused(f"{message.full_name}: the constant {name} exists already; rename")
            seen.add(name)
        lines = "".join(f"    {name} = {number},\n" for name, number in numbers)
        blocks.append(f"/* Fields of {message.full_name}. */\nenum {{\n{lines}}};\n")
    return blocks


def _enum(enum):
    name = snake(enum.full_name[len(enum.file.package) + 1:].replace(".", "_"))
    text = comment([enum.comment] if enum.comment else [])
    text += f"enum {name} {{\n"
    for value, number in enum.values:
        text += comment([enum.comments[value]], "    ") if enum.comments[value] else ""
        text += f"    {value} = {number},\n"
    text += "};\n\n"
    text += comment([f"The value of a number from the wire, where a peer may send any: false where "
                     f"{enum.full_name} has no such value."])
    text += f"static inline bool {name}_from_wire(int32_t number, enum {name} *ret_value)\n{{\n"
    text += "    switch (number) {\n"
    for number in sorted({number for _, number in enum.values}):
        text += f"    case {number}:\n"
    text += f"        *ret_value = (enum {name})number;\n        return true;\n"
    text += "    default:\n        return false;\n    }\n}\n"
    return text


def write(model):
    files = {}
    for file in model.files:
        if file.name not in model.to_generate:
            continue
        path = f"{file.base}.fields.h"
        seen = {value for enum in file.enums for value, _ in enum.values}
        blocks = [_enum(enum) for enum in file.enums] + _numbers(file, seen)
        files[path] = (head(path, f"field numbers and enums of {file.name}.")
                       + f"#ifndef {guard(path)}\n#define {guard(path)}\n\n"
                       + "#include <stdbool.h>\n#include <stdint.h>\n\n"
                       + "\n".join(blocks) + "\n#endif\n")
    return files
