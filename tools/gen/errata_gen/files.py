"""contract_files.c: the descriptors that reflection serves, of the published files, and what each
file defines (server/codec/contract.h)."""
from errata_gen.contract import INCLUDES, TEXT, slice_text
from errata_gen.text import array, head


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


def write(model):
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
        rows += (f"    {{.name = {slice_text(file.name)},\n     .descriptor = {{descriptor_{index}, "
                 f"sizeof(descriptor_{index})}},\n     .dependencies = {pointer},\n"
                 f"     .dependency_count = {len(file.proto.dependency)}}},\n")
    text += f"const struct contract_file contract_files[] = {{\n{rows}}};\n"
    text += f"const uint32_t contract_file_count = {len(model.files)};\n\n"
    symbols = _symbols(model)
    text += "const struct contract_symbol contract_symbols[] = {\n"
    text += "".join(f"    {{.name = {slice_text(name)}, .file = {index}}},\n" for name, index in symbols)
    text += f"}};\nconst uint32_t contract_symbol_count = {len(symbols)};\n\n"
    extensions = _extensions(model)
    text += "const struct contract_extension contract_extensions[] = {\n"
    text += "".join(f"    {{.extendee = {slice_text(name)}, .number = {number}, .file = {index}}},\n"
                    for name, number, index in extensions)
    text += "    {.number = 0}, /* there is always an element */\n"
    text += f"}};\nconst uint32_t contract_extension_count = {len(extensions)};\n"
    return {path: text}
