"""The Python package: types/NAME.py with dataclasses and enums, and the services for both kinds of client.

Reads the published files: the package knows what callers know. `errata/_message.py` has what the dataclasses are made
of, `errata/_call.py` and `errata/aio/_call.py` what the services call.
"""
import keyword
import textwrap

from errata_gen.model import Field
from errata_gen.text import snake

PACKAGE = "errata.v1"
NOTICE = "Written by protoc-gen-errata; edit the .proto files instead."
COLUMNS = 100

# Kinds of errata/_message.py by type, and what a type checker sees.
SCALARS = {
    Field.TYPE_DOUBLE: ("DOUBLE", "float"), Field.TYPE_FLOAT: ("DOUBLE", "float"),
    Field.TYPE_INT64: ("INTEGER", "int"), Field.TYPE_UINT64: ("INTEGER", "int"),
    Field.TYPE_SINT64: ("INTEGER", "int"), Field.TYPE_FIXED64: ("INTEGER", "int"),
    Field.TYPE_SFIXED64: ("INTEGER", "int"), Field.TYPE_INT32: ("PLAIN", "int"),
    Field.TYPE_UINT32: ("PLAIN", "int"), Field.TYPE_SINT32: ("PLAIN", "int"),
    Field.TYPE_FIXED32: ("PLAIN", "int"), Field.TYPE_SFIXED32: ("PLAIN", "int"),
    Field.TYPE_BOOL: ("PLAIN", "bool"), Field.TYPE_STRING: ("PLAIN", "str"),
    Field.TYPE_BYTES: ("BYTES", "bytes"),
}
EMPTY = {"float": "0.0", "int": "0", "bool": "False", "str": '""', "bytes": 'b""'}
TIMESTAMP = "google.protobuf.Timestamp"
# Names that a module uses, so that no class of the contract may hide them.
RESERVED = {"Any", "ClassVar", "Enum", "FieldInfo", "Kind", "Label", "Message", "dataclass", "datetime", "field"}


def _safe(name):
    return name + "_" if keyword.iskeyword(name) or name in RESERVED else name


def _class_name(thing, package):
    return _safe(thing.full_name[len(package) + 1:].replace(".", ""))


def _doc(text, indent):
    """A docstring, wrapped; empty without a text."""
    words = " ".join(text.split()).replace("\\", "\\\\").replace('"""', "'''")
    if not words:
        return ""
    if words.endswith('"'):
        words += " "
    lines = textwrap.wrap(words, COLUMNS - len(indent) - 6)
    if len(lines) == 1:
        return f'{indent}"""{lines[0]}"""\n'
    return f'{indent}"""' + f"\n{indent}".join(lines) + f'\n{indent}"""\n'


def _remark(text, indent):
    lines = textwrap.wrap(" ".join(text.split()), COLUMNS - len(indent) - 3)
    return "".join(f"{indent}# {line}\n" for line in lines)


class _Types:
    """Writes the module of one file."""

    def __init__(self, model, file):
        self.model = model
        self.file = file
        self.module = module_of(file)
        self.imports = {}  # module -> names

    def name_of(self, thing):
        """The class of a message or enum in this module's annotations."""
        name = _class_name(thing, thing.file.package)
        if thing.file is not self.file:
            self.imports.setdefault(module_of(thing.file), set()).add(name)
        return name

    def path_of(self, thing):
        return f"{module_of(thing.file)}.{_class_name(thing, thing.file.package)}"

    def single(self, field):
        """(kind, annotation, path of the type, default) of one value of the field."""
        if field.type in SCALARS:
            kind, annotation = SCALARS[field.type]
            return kind, annotation, "", EMPTY[annotation]
        full_name = field.type_name.lstrip(".")
        if full_name == TIMESTAMP:
            return "TIMESTAMP", "datetime", "", None
        if field.type == Field.TYPE_ENUM:
            enum = self.model.enums[full_name]
            return "ENUM", f"{self.name_of(enum)} | str", self.path_of(enum), f'"{enum.values[0][0]}"'
        return "MESSAGE", self.name_of(self.model.messages[full_name]), self.path_of(
            self.model.messages[full_name]), None

    def member(self, field):
        """(line of the dataclass, FieldInfo) of a field."""
        name = _safe(field.name)
        entry = self.model.messages.get(field.type_name.lstrip("."))
        label = "ONE"
        if entry is not None and entry.map_entry:
            kind, annotation, path, _ = self.single(entry.proto.field[1])
            label, annotation, default = "MAP", f"dict[str, {annotation}]", "field(default_factory=dict)"
        else:
            kind, annotation, path, default = self.single(field)
            if field.label == Field.LABEL_REPEATED:
                label, annotation, default = "LIST", f"list[{annotation}]", "field(default_factory=list)"
            elif default is None or field.proto3_optional or field.HasField("oneof_index"):
                label, annotation, default = "OPTIONAL", f"{annotation} | None", "None"
        info = f'FieldInfo("{name}", "{field.json_name}", Kind.{kind}, Label.{label}, "{path}")'
        return f"    {name}: {annotation} = {default}\n", f"        {info},\n"

    def message(self, message):
        text = f"\n\n@dataclass\nclass {_class_name(message, self.file.package)}(Message):\n"
        text += _doc(self.file.comment(*message.path), "    ")
        infos = ""
        for index, field in enumerate(message.proto.field):
            line, info = self.member(field)
            text += "\n" + _remark(self.file.comment(*message.path, 2, index), "    ") + line
            infos += info
        fields = f"(\n{infos}    )" if infos else "()"
        return text + f"\n    FIELDS: ClassVar[tuple[FieldInfo, ...]] = {fields}\n"

    def enum(self, enum):
        text = f"\n\nclass {_class_name(enum, self.file.package)}(str, Enum):\n" + _doc(enum.comment, "    ")
        for name, _ in enum.values:
            text += "\n" + _remark(enum.comments[name], "    ")
            text += f'    {_member(enum, name)} = "{name}"\n'
        return text

    def write(self):
        body = "".join(self.enum(enum) for enum in self.file.enums)
        body += "".join(self.message(message) for message in self.file.messages if not message.map_entry)
        head = f'"""{self.file.name}: its messages and enums.\n\n{NOTICE}\n"""\n'
        head += "from __future__ import annotations\n\nfrom dataclasses import dataclass, field\n"
        head += "from datetime import datetime\nfrom enum import Enum\n"
        head += "from typing import TYPE_CHECKING, ClassVar\n\n"
        head += "from errata._message import FieldInfo, Kind, Label, Message\n"
        if self.imports:
            head += "\nif TYPE_CHECKING:\n"
        for module in sorted(self.imports):
            names = ", ".join(sorted(self.imports[module]))
            head += f"    from errata.types.{module} import {names}\n"
        return head + body


def _member(enum, value):
    """The Python name of an enum's value: without the type's prefix where that is a name."""
    short = enum.short_name(value)
    return short if short.isidentifier() and not keyword.iskeyword(short) else value


def module_of(file):
    return file.base.rsplit("/", 1)[-1]


class _Services:
    """Writes the services as methods of `caller`: blocking, or coroutines."""

    def __init__(self, model, asynchronous):
        self.model = model
        self.asynchronous = asynchronous
        self.types = {}  # module -> names

    def type_name(self, full_name):
        message = self.model.messages[full_name]
        name = _class_name(message, message.file.package)
        self.types.setdefault(module_of(message.file), set()).add(name)
        return name, f"{module_of(message.file)}.{name}"

    def method(self, service, method, index):
        request, request_path = self.type_name(method.request)
        reply, reply_path = self.type_name(method.reply)
        name = _safe(snake(method.name))
        many = "AsyncIterable" if self.asynchronous else "Iterable"
        iterator = "AsyncIterator" if self.asynchronous else "Iterator"
        kind, prefix, returned = "unary", "await " if self.asynchronous else "", reply
        argument = f"request: {request} | Mapping[str, Any] | None = None"
        if method.stream == "METHOD_CLIENT_STREAM":
            kind, argument = "client_stream", f"requests: {many}[{request} | Mapping[str, Any]]"
        elif method.stream == "METHOD_SERVER_STREAM":
            kind, prefix, returned = "server_stream", "", f"{iterator}[{reply}]"
        define = "async def" if self.asynchronous and kind != "server_stream" else "def"
        safe = method.proto.options.idempotency_level == 1
        constant = f"_{snake(service.name).upper()}_{snake(method.name).upper()}"
        declared = (f'{constant}: Method[{request}, {reply}] = Method(\n    "{method.path}",\n'
                    f'    "{request_path}",\n    "{reply_path}",\n    {safe},\n)\n')
        argument_name = argument.split(":")[0]
        text = (f"\n    {define} {name}(\n        self,\n        {argument},\n        *,\n"
                "        timeout: float | None = None,\n        idempotency_key: str | None = None,\n"
                f"    ) -> {returned}:\n")
        text += _doc(service.file.comment(6, index[0], 2, index[1]), "        ")
        text += (f"        return {prefix}self._caller.{kind}(\n"
                 f"            {constant}, {argument_name}, timeout=timeout, idempotency_key=idempotency_key\n"
                 "        )\n")
        return declared, text

    def service(self, file, place, service):
        text = f"\n\nclass {service.name}:\n" + _doc(service.comment, "    ")
        text += "\n    def __init__(self, caller: Caller) -> None:\n        self._caller = caller\n"
        constants = ""
        for number, method in enumerate(service.methods):
            declared, body = self.method(service, method, (place, number))
            constants += declared
            text += body
        return constants, text

    def write(self):
        constants, classes, names = "", "", []
        for file in self.model.files:
            if file.package != PACKAGE:
                continue
            for place, service in enumerate(file.services):
                declared, text = self.service(file, place, service)
                constants += declared
                classes += text
                names.append(service.name)
        iterables = "AsyncIterable, AsyncIterator" if self.asynchronous else "Iterable, Iterator"
        home = "errata.aio._call" if self.asynchronous else "errata._call"
        text = f'"""The services of the contract, each method with its request and response.\n\n{NOTICE}\n"""\n'
        text += f"from __future__ import annotations\n\nfrom collections.abc import {iterables}, Mapping\n"
        text += f"from typing import TYPE_CHECKING, Any\n\nfrom {home} import Caller\n"
        text += "from errata._method import Method\n\nif TYPE_CHECKING:\n"
        for module in sorted(self.types):
            listed = "".join(f"        {name},\n" for name in sorted(self.types[module]))
            text += f"    from errata.types.{module} import (\n{listed}    )\n"
        text += f"\n{constants}{classes}\n\nclass Services:\n"
        text += '    """All services, as members of a client."""\n'
        text += "\n    def __init__(self, caller: Caller) -> None:\n"
        text += "".join(f"        self.{snake(name)} = {name}(caller)\n" for name in names)
        return text


def _types_index(model):
    """types/__init__.py: every class by its name, imported when it is first used."""
    places, lines = "", ""
    for file in model.files:
        if file.package != PACKAGE:
            continue
        things = [*file.enums, *(message for message in file.messages if not message.map_entry)]
        for name in sorted(_class_name(thing, PACKAGE) for thing in things):
            places += f'    "{name}": "{module_of(file)}",\n'
            lines += f"    from errata.types.{module_of(file)} import {name} as {name}\n"
    return (f'"""Messages and enums of the contract; each module is imported when it is first used.\n\n{NOTICE}\n"""\n'
            "from __future__ import annotations\n\nimport importlib\nfrom typing import TYPE_CHECKING, Any\n\n"
            f"if TYPE_CHECKING:\n{lines}\n_MODULES = {{\n{places}}}\n__all__ = sorted(_MODULES)\n\n\n"
            "def __getattr__(name: str) -> Any:\n"
            "    module = _MODULES.get(name)\n    if module is None:\n"
            '        raise AttributeError(f"errata.types has no {name}")\n'
            '    return getattr(importlib.import_module(f"errata.types.{module}"), name)\n')


def write(model):
    written = {"errata/types/__init__.py": _types_index(model),
               "errata/_services.py": _Services(model, False).write(),
               "errata/aio/_services.py": _Services(model, True).write()}
    for file in model.files:
        # Of other packages only the types that ours use.
        if file.package == PACKAGE or file.name == "google/rpc/code.proto":
            written[f"errata/types/{module_of(file)}.py"] = _Types(model, file).write()
    return written
