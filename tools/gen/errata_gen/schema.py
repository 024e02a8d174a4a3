"""JSON schemas of messages, with the comments of their fields as descriptions: of plain JSON for OpenAPI, and of
proto JSON for tools of agents."""
from errata_gen.model import Field

INTEGERS_64 = (Field.TYPE_INT64, Field.TYPE_UINT64, Field.TYPE_FIXED64, Field.TYPE_SFIXED64, Field.TYPE_SINT64)
NUMBERS = (Field.TYPE_DOUBLE, Field.TYPE_FLOAT)
UNSIGNED = (Field.TYPE_UINT64, Field.TYPE_FIXED64, Field.TYPE_UINT32, Field.TYPE_FIXED32)
FORMAT_UUID = 2
FORMAT_JSON_OBJECT = 3
KNOWN = {
    "google.protobuf.Timestamp": {"type": "string", "format": "date-time"},
    "google.protobuf.Duration": {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]{1,9})?s$"},
    "google.protobuf.Struct": {"type": "object"},
    "google.protobuf.Any": {"type": "object"},
}


def one_line(text):
    return " ".join(text.split())


class Schemas:
    """`plain`: plain JSON, in which every member of a response is there and may be null. `refer` returns what a
    message's place has instead of its schema, such as a reference; None: the schema itself."""

    def __init__(self, model, plain, refer):
        self.model = model
        self.plain = plain
        self.refer = refer

    def name(self, field):
        rules = self.model.field_rules(field)
        if not self.plain:
            return field.json_name
        return getattr(rules, "rest_name", "") or field.name

    def is_json(self, field):
        rules = self.model.field_rules(field)
        return (self.plain and field.type == Field.TYPE_STRING and rules is not None
                and (rules.format == FORMAT_JSON_OBJECT or rules.rest_json))

    def values(self, enum):
        names = [enum.short_name(name) for name, number in enum.values if number != 0]
        return [name.lower() for name in names] if self.plain and enum.lower_case else names

    def _text(self, field):
        rules = self.model.field_rules(field)
        schema = {"type": "string"}
        if rules and rules.format == FORMAT_UUID:
            schema["format"] = "uuid"
        if rules and rules.max_bytes:
            schema["maxLength"] = rules.max_bytes
        return schema

    def _number(self, field):
        rules = self.model.field_rules(field)
        schema = {"type": "number" if field.type in NUMBERS else "integer"}
        if field.type in UNSIGNED or (rules and (rules.not_negative or rules.max_value)):
            schema["minimum"] = rules.min_value if rules and rules.max_value else 0
        if rules and rules.max_value:
            schema["maximum"] = rules.max_value
        return schema

    def _single(self, field):
        target = field.type_name.lstrip(".")
        if field.type == Field.TYPE_MESSAGE:
            return dict(KNOWN[target]) if target in KNOWN else self.message(self.model.messages[target])
        if field.type == Field.TYPE_ENUM:
            return {"type": "string", "enum": self.values(self.model.enums[target])}
        if field.type == Field.TYPE_BOOL:
            return {"type": "boolean"}
        if field.type == Field.TYPE_BYTES:
            return {"type": "string", "format": "byte"}
        if self.is_json(field):
            return {"type": "object"}
        return self._text(field) if field.type == Field.TYPE_STRING else self._number(field)

    def value(self, field):
        """The schema of a field's value, without its description."""
        if field.label != Field.LABEL_REPEATED:
            return self._single(field)
        message = self.model.messages.get(field.type_name.lstrip("."))
        if field.type == Field.TYPE_MESSAGE and message.map_entry:
            return {"type": "object", "additionalProperties": self._single(message.proto.field[1])}
        rules = self.model.field_rules(field)
        schema = {"type": "array", "items": self._single(field)}
        if rules and rules.max_items:
            schema["maxItems"] = rules.max_items
        return schema

    def may_be_null(self, field):
        absent = (field.type in (Field.TYPE_MESSAGE, Field.TYPE_ENUM) or field.proto3_optional
                  or field.HasField("oneof_index") or self.is_json(field))
        return self.plain and absent and field.label != Field.LABEL_REPEATED

    def member(self, message, index):
        """The schema of a message's member with its description."""
        field = message.proto.field[index]
        schema = self.value(field)
        text = one_line(message.file.comment(*message.path, 2, index))
        if self.may_be_null(field):
            schema = ({"allOf": [schema], "nullable": True} if "$ref" in schema
                      else {**schema, "nullable": True})
            if "enum" in schema:
                schema["enum"] = [*schema["enum"], None]
        elif "$ref" in schema and text:
            schema = {"allOf": [schema]}
        if text:
            schema["description"] = text
        return schema

    def message(self, message):
        return self.refer(message) or self.whole(message)

    def whole(self, message, members=()):
        """The schema of a message; `members`: only these fields."""
        properties, required = {}, []
        for index, field in enumerate(message.proto.field):
            if members and field.name not in members:
                continue
            if not self.plain and "output_only" in self.model.field_behaviors(field):
                continue  # proto JSON is that of requests here
            properties[self.name(field)] = self.member(message, index)
            rules = self.model.field_rules(field)
            if self.plain and getattr(rules, "rest_repeat", ""):
                properties[rules.rest_repeat] = self.member(message, index)
            if "required" in self.model.field_behaviors(field):
                required.append(self.name(field))
        schema = {"type": "object", "properties": properties}
        if required:
            schema["required"] = required
        text = one_line(message.file.comment(*message.path))
        if text:
            schema["description"] = text
        return schema
