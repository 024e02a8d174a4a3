"""The aliases of methods in plain JSON, from google.api.http: contract_routes of server/codec/contract.h."""
import re

from errata_gen.contract import TEXT, method_constant, slice_text
from errata_gen.model import Field, Refused
from errata_gen.text import head

VERBS = {"get": "REST_GET", "post": "REST_POST"}
SEGMENT = re.compile(r"\{([a-z][a-z0-9_]*)\}|[a-z][a-z0-9-]*")
SEGMENTS_MAX = 6  # REST_SEGMENTS_MAX of server/rest/rest.h


class Route:
    def __init__(self, model, method, rule):
        self.method = method
        self.verb = rule.WhichOneof("pattern")
        self.path = getattr(rule, self.verb, "") if self.verb in VERBS else ""
        self.body = rule.body
        self.response_body = rule.response_body
        self.members = list(method.rules.rest_members) if method.rules else []
        where = f"{method.path[1:]}: the alias {self.path or self.verb}"
        if self.verb not in VERBS:
            raise Refused(f"{where} is neither `get` nor `post`")
        if method.stream not in ("METHOD_UNARY", "METHOD_SERVER_STREAM"):
            raise Refused(f"{where} has a stream of requests")
        if (self.verb == "get") == bool(self.body):
            raise Refused(f"{where}: a `post` needs a `body`, a `get` has none")
        self.segments = self.path.split("/")[1:]
        if not self.path.startswith("/") or len(self.segments) > SEGMENTS_MAX:
            raise Refused(f"{where} is not a path of at most {SEGMENTS_MAX} segments")
        fields = {field.name: field for field in model.messages[method.request].proto.field}
        for segment in self.segments:
            match = SEGMENT.fullmatch(segment)
            if not match:
                raise Refused(f"{where}: the segment {segment!r} is neither lower case nor {{field}}")
            field = fields.get(match.group(1)) if match.group(1) else None
            if match.group(1) and (field is None or field.type != Field.TYPE_STRING
                                   or field.label == Field.LABEL_REPEATED):
                raise Refused(f"{where}: {match.group(1)} is not a text field of the request")
        if self.body not in ("", "*") and self.body not in fields:
            raise Refused(f"{where}: the body {self.body} is not a field of the request")
        replies = {field.name for field in model.messages[method.reply].proto.field}
        if self.response_body and self.response_body not in replies:
            raise Refused(f"{where}: {self.response_body} is not a field of the response")

    @property
    def variables(self):
        return [segment[1:-1] for segment in self.segments if segment.startswith("{")]


def routes(model):
    """All aliases, by path and verb; two aliases of the same form are refused."""
    found = [Route(model, method, rule) for method in model.methods()
             for rule in model.http_rules(method)]
    found.sort(key=lambda route: (route.path, route.verb))
    forms = {}
    for route in found:
        form = (route.verb, re.sub(r"\{[^}]*\}", "{}", route.path))
        if form in forms:
            raise Refused(f"{route.method.path[1:]} and {forms[form].method.path[1:]} have the same "
                          f"alias {route.path}")
        forms[form] = route
    return found


def _segments(place, route):
    text = f"static const struct rest_segment segments_{place}[] = {{\n"
    for segment in route.segments:
        if segment.startswith("{"):
            text += f"    {{{slice_text(segment[1:-1])}, true}},\n"
        else:
            text += f"    {{{slice_text(segment)}, false}},\n"
    return text + "};\n"


def _members(place, route):
    if not route.members:
        return ""
    text = f"static const struct slice members_{place}[] = {{\n"
    return text + "".join(f"    {slice_text(name)},\n" for name in route.members) + "};\n"


def _row(model, place, route):
    method = route.method
    parts = [f".verb = {VERBS[route.verb]}", f".path = {slice_text(route.path)}",
             f".segments = segments_{place}", f".segment_count = {len(route.segments)}",
             f".method = &contract_methods[{method_constant(method)}]"]
    if route.body:
        parts.append(".has_body = true")
    for member, name, message in (("body", route.body, method.request),
                                  ("response_body", route.response_body, method.reply)):
        if name and name != "*":
            parts.append(f".{member} = {slice_text(name)}")
    if route.members:
        parts += [f".members = members_{place}", f".member_count = {len(route.members)}"]
    return "    {" + ",\n     ".join(parts) + "},\n"


def write(model):
    path = "contract_routes.c"
    found = routes(model)
    text = head(path, "the aliases of methods in plain JSON.")
    text += '#include "errata/contract_methods.h"\n#include "server/codec/contract.h"\n\n' + TEXT + "\n"
    for place, route in enumerate(found):
        text += _segments(place, route) + _members(place, route)
    text += "\nconst struct rest_route contract_routes[] = {\n"
    text += "".join(_row(model, place, route) for place, route in enumerate(found))
    text += f"}};\nconst uint32_t contract_route_count = {len(found)};\n"
    return {path: text}
