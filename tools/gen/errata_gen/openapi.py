"""openapi.json: the aliases of methods in plain JSON as an OpenAPI 3.0 document, which the server serves."""
import json

from errata_gen.model import Field
from errata_gen.routes import routes
from errata_gen.schema import Schemas, one_line
from errata_gen.text import head

ERROR = {
    "type": "object",
    "description": "The failure of a call.",
    "required": ["code"],
    "properties": {
        "code": {"type": "string", "description": "The status, such as `invalid_argument`."},
        "message": {"type": "string", "description": "What is wrong, by field, and what was expected."},
        "details": {"type": "array", "description": "Details of google.rpc, each with its type and bytes.",
                    "items": {"type": "object", "required": ["type", "value"],
                              "properties": {"type": {"type": "string"},
                                             "value": {"type": "string", "format": "byte"}}}},
    },
}
DESCRIPTION = ("Aliases of methods in plain JSON: names in snake_case, every member of a response is present, null if it "
               "is absent. Requests need `authorization: Bearer errata_...`; a write may have an `idempotency-key`.")


class Document:
    def __init__(self, model):
        self.model = model
        self.components = {"Error": ERROR}
        self.schemas = Schemas(model, True, self._refer)

    def _refer(self, message):
        name = message.local_name.replace(".", "")
        if name not in self.components:
            self.components[name] = None  # it may contain itself
            self.components[name] = self.schemas.whole(message)
        return {"$ref": f"#/components/schemas/{name}"}

    def _parameters(self, route):
        message = self.model.messages[route.method.request]
        result = []
        for index, field in enumerate(message.proto.field):
            in_path = field.name in route.variables
            is_query = route.verb == "get" or route.body not in ("*", field.name)
            is_value = field.type != Field.TYPE_MESSAGE or field.type_name == ".google.protobuf.Timestamp"
            if not in_path and not (is_query and is_value):
                continue
            schema = self.schemas.value(field)
            parameter = {"name": field.name, "in": "path" if in_path else "query",
                         "description": one_line(message.file.comment(*message.path, 2, index)),
                         "schema": schema}
            if in_path or "required" in self.model.field_behaviors(field):
                parameter["required"] = True
            result.append(parameter)
        if route.method.transaction == "METHOD_WRITE":
            result.append({"name": "idempotency-key", "in": "header",
                           "description": "A repeat with the same key within 24 hours gets the first response.",
                           "schema": {"type": "string", "maxLength": 128}})
        return result

    def _field(self, message, name):
        return next(field for field in self.model.messages[message].proto.field if field.name == name)

    def _body(self, route):
        if route.body == "*":
            return self.schemas.message(self.model.messages[route.method.request])
        return self.schemas.value(self._field(route.method.request, route.body))

    def _response(self, route):
        message = self.model.messages[route.method.reply]
        if route.method.stream != "METHOD_UNARY":
            return {"type": "object"}
        if route.response_body:
            field = self._field(route.method.reply, route.response_body)
            message = self.model.messages[field.type_name.lstrip(".")]
        return self.schemas.whole(message, route.members) if route.members else self.schemas.message(message)

    def _operation(self, route):
        def content(schema):
            return {"application/json": {"schema": schema}}

        text = one_line(route.method.comment)
        operation = {
            "operationId": route.method.name,
            "summary": text.split(". ")[0].rstrip("."),
            "description": text,
            "tags": [route.method.service.name],
            "parameters": self._parameters(route),
            "responses": {
                "200": {"description": "The response.", "content": content(self._response(route))},
                "4XX": {"description": "The request is refused.",
                        "content": content({"$ref": "#/components/schemas/Error"})},
                "5XX": {"description": "The server failed, or has too much to do.",
                        "content": content({"$ref": "#/components/schemas/Error"})},
            },
        }
        if route.body:
            operation["requestBody"] = {"required": route.body != "*", "content": content(self._body(route))}
        return operation

    def build(self):
        paths = {}
        found = routes(self.model)
        for route in found:
            paths.setdefault(route.path, {})[route.verb] = self._operation(route)
        tags = {route.method.service.name: one_line(route.method.service.comment) for route in found}
        return {
            "openapi": "3.0.3",
            "info": {"title": "Errata", "version": "v1", "description": DESCRIPTION,
                     "license": {"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"}},
            "servers": [{"url": "/"}],
            "security": [{"token": []}],
            "tags": [{"name": name, "description": tags[name]} for name in sorted(tags)],
            "paths": paths,
            "components": {
                "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
                "schemas": {name: self.components[name] for name in sorted(self.components)},
            },
        }


def c_text(name, data):
    """A C array of bytes."""
    lines = [", ".join(str(byte) for byte in data[start:start + 20]) for start in range(0, len(data), 20)]
    return f"static const uint8_t {name}_bytes[] = {{\n    " + ",\n    ".join(lines) + ",\n};\n"


def write(model):
    document = json.dumps(Document(model).build(), ensure_ascii=False, separators=(",", ":"))
    text = head("openapi.c", "openapi.json.")
    text += '#include "server/rest/openapi.h"\n\n' + c_text("openapi", document.encode())
    text += "\nconst struct slice openapi_json = {openapi_bytes, sizeof(openapi_bytes)};\n"
    return {"openapi.c": text, "openapi.json": document + "\n"}
