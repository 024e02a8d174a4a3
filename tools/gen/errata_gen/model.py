"""The contract as protoc gives it: files, messages, enums and methods with their rules.

Custom options are read with the options' own definition out of the same request, so that a new
member of MethodRules or FieldRules needs no change here. A method whose rules are incomplete stops
the generation: a method that no one thought about must not exist.
"""
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from errata_gen.text import snake, snake_full

Field = descriptor_pb2.FieldDescriptorProto

OPTIONS_PACKAGE = "errata.options"
# The tag of all extensions in that package.
EXTENSION_NUMBER = 50801
# google.api.http.
HTTP_NUMBER = 72295728
# google.api.field_behavior, and those of its values that the server holds to.
BEHAVIOR_NUMBER = 1052
BEHAVIORS = {2: "required", 3: "output_only"}

WELL_KNOWN = {
    "google.protobuf.Timestamp": "MESSAGE_TIMESTAMP",
    "google.protobuf.Duration": "MESSAGE_DURATION",
    "google.protobuf.Struct": "MESSAGE_STRUCT",
    "google.protobuf.Value": "MESSAGE_VALUE",
    "google.protobuf.ListValue": "MESSAGE_LIST_VALUE",
    "google.protobuf.Any": "MESSAGE_ANY",
    "google.protobuf.FieldMask": "MESSAGE_FIELD_MASK",
    "google.protobuf.Empty": "MESSAGE_EMPTY",
    "google.protobuf.DoubleValue": "MESSAGE_WRAPPER",
    "google.protobuf.FloatValue": "MESSAGE_WRAPPER",
    "google.protobuf.Int64Value": "MESSAGE_WRAPPER",
    "google.protobuf.UInt64Value": "MESSAGE_WRAPPER",
    "google.protobuf.Int32Value": "MESSAGE_WRAPPER",
    "google.protobuf.UInt32Value": "MESSAGE_WRAPPER",
    "google.protobuf.BoolValue": "MESSAGE_WRAPPER",
    "google.protobuf.StringValue": "MESSAGE_WRAPPER",
    "google.protobuf.BytesValue": "MESSAGE_WRAPPER",
}


class Refused(Exception):
    """The contract breaks a rule; the text states which and where."""


def wire_fields(data):
    """The top-level fields of wire bytes: (number, wire type, value or content, whole bytes)."""
    def varint(at):
        value = 0
        for shift in range(0, 70, 7):
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value, at
        raise ValueError("a varint is longer than ten bytes")

    at = 0
    while at < len(data):
        start = at
        key, at = varint(at)
        kind = key & 7
        if kind == 0:
            value, at = varint(at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            value, at = data[at:at + size], at + size
        elif kind == 2:
            size, at = varint(at)
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f"wire type {kind} in a descriptor")
        yield key >> 3, kind, value, data[start:at]


class EnumModel:
    def __init__(self, file, full_name, proto):
        self.file = file
        self.full_name = full_name
        self.name = proto.name
        self.symbol = "contract_" + snake_full(full_name)
        self.values = [(value.name, value.number) for value in proto.value]
        self.comments = {}
        self.rules = {}  # value -> EventRules, or None
        self.lower_case = False  # plain JSON writes the values in lower case

    def short_name(self, name):
        prefix = snake(self.name).upper() + "_"
        return name[len(prefix):] if name.startswith(prefix) and name != prefix else name


class MessageModel:
    def __init__(self, file, full_name, local_name, proto, path):
        self.file = file
        self.full_name = full_name
        self.local_name = local_name  # full name without the package
        self.path = path  # path in the file's descriptor, by which comments are found
        self.symbol = "contract_" + snake_full(full_name)
        self.proto = proto
        self.map_entry = proto.options.map_entry
        self.well_known = WELL_KNOWN.get(full_name, "MESSAGE_PLAIN")


class MethodModel:
    def __init__(self, service, proto, rules, is_open, text):
        self.service = service
        self.proto = proto
        self.name = proto.name
        self.rules = rules
        self.open = is_open
        self.comment = text
        self.request = proto.input_type.lstrip(".")
        self.reply = proto.output_type.lstrip(".")
        self.path = f"/{service.full_name}/{proto.name}"
        self.prefix = f"{service.prefix}_{snake(proto.name)}"
        self.index = -1

    @property
    def stream(self):
        if self.proto.client_streaming:
            return "METHOD_BIDI_STREAM" if self.proto.server_streaming else "METHOD_CLIENT_STREAM"
        return "METHOD_SERVER_STREAM" if self.proto.server_streaming else "METHOD_UNARY"

    @property
    def transaction(self):
        names = ("METHOD_NO_TRANSACTION", "METHOD_NO_TRANSACTION", "METHOD_READ", "METHOD_WRITE")
        return names[self.rules.transaction if self.rules else 0]

    @property
    def stage(self):
        names = ("METHOD_STRAIGHT", "METHOD_PREPARE", "METHOD_PREPARE_ON_POOL",
                 "METHOD_PREPARE_DOCUMENT")
        return names[self.rules.stage if self.rules else 0]

    @property
    def execution(self):
        names = ("METHOD_ON_LOOP", "METHOD_ON_POOL", "METHOD_BY_COST")
        return names[self.rules.execution if self.rules else 0]


class ServiceModel:
    def __init__(self, file, proto, is_open, text):
        self.file = file
        self.name = proto.name
        self.full_name = f"{file.package}.{proto.name}"
        self.prefix = snake_full(self.full_name) if is_open else snake(proto.name)
        self.comment = text
        self.methods = []


class FileModel:
    def __init__(self, proto, descriptor):
        self.proto = proto
        self.name = proto.name
        self.package = proto.package
        self.base = proto.name[:-len(".proto")]
        self.descriptor = descriptor  # wire bytes without source info, as protoc writes them
        self.comments = {}
        for location in proto.source_code_info.location:
            if location.leading_comments:
                self.comments[tuple(location.path)] = location.leading_comments.strip()
        self.messages = []
        self.enums = []
        self.services = []

    def comment(self, *path):
        return self.comments.get(path, "")


class Model:
    def __init__(self, data, request, open_packages, private_packages, views):
        self.open_packages = open_packages
        self.private_packages = private_packages
        self.views = views  # full names of messages that have a view without the option
        self.to_generate = set(request.file_to_generate)
        raw = [value for number, _, value, _ in wire_fields(data) if number == 15]
        self.files = []
        for proto, whole in zip(request.proto_file, raw):
            # 9 is source_code_info, which a descriptor set has not.
            kept = b"".join(part for number, _, _, part in wire_fields(whole) if number != 9)
            self.files.append(FileModel(proto, kept))
        self.files.sort(key=lambda file: file.name)
        self._load_options(request)
        self.messages = {}
        self.enums = {}
        for file in self.files:
            self._add_types(file)
            self._add_services(file)
        self._check_unique()

    def check_methods(self):
        """Refuses a method without rules, and rules that contradict each other."""
        for file in self.files:
            for service in file.services:
                for method in service.methods:
                    self._check_method(method)

    def published(self, things):
        """The messages or enums, by full name, that callers may know; in that order."""
        return [things[name] for name in sorted(things, key=str.encode)
                if things[name].file.package not in self.private_packages]

    def services(self):
        return [service for file in self.files for service in file.services
                if file.name in self.to_generate]

    def methods(self):
        """All methods, by path, with their indices."""
        methods = sorted((method for service in self.services() for method in service.methods),
                         key=lambda method: method.path.encode())
        for index, method in enumerate(methods):
            method.index = index
        return methods

    def _load_options(self, request):
        pool = descriptor_pool.DescriptorPool()
        for proto in request.proto_file:
            pool.Add(proto)
        self._rule_classes = {}
        for name in ("MethodRules", "FieldRules", "MessageRules", "EventRules",
                     "EnumRules"):
            try:
                found = pool.FindMessageTypeByName(f"{OPTIONS_PACKAGE}.{name}")
            except KeyError:
                continue  # no file imports the options
            self._rule_classes[name] = message_factory.MessageFactory(pool).GetPrototype(found)
        try:
            found = pool.FindMessageTypeByName("google.api.HttpRule")
        except KeyError:
            return  # no method has an alias
        self._http_rule = message_factory.MessageFactory(pool).GetPrototype(found)

    def _rules(self, name, options):
        """The rules in `options`, or None. Parts of one option add up, as protobuf merges them."""
        parts = [value for number, kind, value, _ in wire_fields(options.SerializeToString())
                 if number == EXTENSION_NUMBER and kind == 2]
        return self._rule_classes[name].FromString(b"".join(parts)) if parts else None

    def http_rules(self, method):
        """The aliases of a method by google.api.http, additional ones included."""
        parts = [value for number, kind, value, _
                 in wire_fields(method.proto.options.SerializeToString())
                 if number == HTTP_NUMBER and kind == 2]
        if not parts:
            return []
        rule = self._http_rule.FromString(b"".join(parts))
        return [rule, *rule.additional_bindings]

    def field_rules(self, field):
        return self._rules("FieldRules", field.options)

    @staticmethod
    def field_behaviors(field):
        """Names of BEHAVIORS that the field has, in their order."""
        numbers = {value for number, kind, value, _ in wire_fields(field.options.SerializeToString())
                   if number == BEHAVIOR_NUMBER and kind == 0}
        return [BEHAVIORS[number] for number in sorted(numbers & set(BEHAVIORS))]

    def message_rules(self, message):
        return self._rules("MessageRules", message.proto.options)

    def _add_types(self, file):
        todo = [(file.package, "", (4, index), proto)
                for index, proto in enumerate(file.proto.message_type)]
        for index, proto in enumerate(file.proto.enum_type):
            self._add_enum(file, file.package, (5, index), proto)
        while todo:
            scope, outer, path, proto = todo.pop(0)
            full_name = f"{scope}.{proto.name}" if scope else proto.name
            message = MessageModel(file, full_name, outer + proto.name, proto, path)
            file.messages.append(message)
            self.messages[full_name] = message
            for index, nested in enumerate(proto.nested_type):
                todo.append((full_name, f"{message.local_name}.", path + (3, index), nested))
            for index, nested in enumerate(proto.enum_type):
                self._add_enum(file, full_name, path + (4, index), nested)

    def _add_enum(self, file, scope, path, proto):
        enum = EnumModel(file, f"{scope}.{proto.name}" if scope else proto.name, proto)
        enum.comment = file.comment(*path)
        rules = self._rules("EnumRules", proto.options)
        enum.lower_case = bool(rules and rules.lower_case)
        for index, value in enumerate(proto.value):
            enum.comments[value.name] = file.comment(*path, 2, index)
            enum.rules[value.name] = self._rules("EventRules", value.options)
        file.enums.append(enum)
        self.enums[enum.full_name] = enum

    def _add_services(self, file):
        is_open = file.package in self.open_packages
        for number, proto in enumerate(file.proto.service):
            service = ServiceModel(file, proto, is_open, file.comment(6, number))
            for index, method in enumerate(proto.method):
                rules = self._rules("MethodRules", method.options)
                text = file.comment(6, number, 2, index)
                service.methods.append(MethodModel(service, method, rules, is_open, text))
            file.services.append(service)

    def _check_method(self, method):
        where = f"{method.service.file.name}: {method.path[1:]}"
        if method.open:
            if method.stream == "METHOD_CLIENT_STREAM":
                raise Refused(f"{where} is open to everyone and streams its requests for one "
                              "reply; make it unary, or stream both ways")
            if method.rules:
                raise Refused(f"{where} is open to everyone and has rules; remove one of the two")
            return
        if method.stream == "METHOD_BIDI_STREAM":
            raise Refused(f"{where} streams both ways, which only methods of open packages may; "
                          "make it stream one way")
        if not method.rules:
            raise Refused(f"{where} has no rules; give it option (errata.options.method)")
        if not method.rules.roles:
            raise Refused(f"{where} has no roles, so it could not be called; expected `roles`")
        if not method.rules.transaction:
            raise Refused(f"{where} says no transaction; give it `transaction`")
        if 0 in method.rules.roles or set(method.rules.backfill_roles) - set(method.rules.roles):
            raise Refused(f"{where}: `roles` may not name ROLE_UNSPECIFIED, and `backfill_roles` "
                          "must be in `roles`")
        if (method.stream == "METHOD_SERVER_STREAM"
                and (method.rules.stage or method.transaction == "METHOD_WRITE")):
            raise Refused(f"{where} streams its replies: it can have neither a stage nor a write "
                          "transaction")
        works = method.stream == "METHOD_SERVER_STREAM" and method.execution == "METHOD_ON_POOL"
        if method.rules.execution and not works and (method.stream != "METHOD_UNARY"
                                                     or method.transaction == "METHOD_WRITE"):
            raise Refused(f"{where} writes or streams: only a read with one reply has an `execution`, and a "
                          "stream of replies EXECUTION_ON_POOL")
        if method.stream == "METHOD_CLIENT_STREAM" and not method.rules.stage:
            raise Refused(f"{where} streams its requests: what came of them reaches the reply "
                          "through a prepare function; give it a stage")

    def _check_unique(self):
        seen = {}
        for thing in list(self.messages.values()) + list(self.enums.values()):
            other = seen.setdefault(thing.symbol, thing)
            if other is not thing:
                raise Refused(f"{thing.full_name} and {other.full_name} would have the same name "
                              f"in C, {thing.symbol}; rename one")
