#!/usr/bin/python3
"""Isolation of organisations in a running server: over LMDB, connections and its log.

Goal: no data of an organisation reaches another one's answers, streams or errors, or any log. Method: a
unique text in every field of every method, taken from the descriptors; then every role of another
organisation calls every method, and all responses are searched. Tests that need the same clock and
randomness (byte-equal answers) are in tests/isolation.
"""
import re
import secrets
import threading
import uuid

import grpc

import pdf_data
from erratad import (ALL_ROLES, ServerCase, admin, event_log, event_service, feedback, feedback_service,
                     is_client_stream, is_output_only, is_required, is_stream, layout, main, methods,
                     options, prompt_service, prompt_template, roles)

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
STREAM_SECONDS = 0.2  # time limit for the first message of a stream, which may have none
OPEN_METHODS = (  # methods that need no token, and their requests
    ("/grpc.health.v1.Health/Check", b""), ("/grpc.health.v1.Health/List", b""),
    ("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", b"\x3a\x00"),
    ("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", b"\x3a\x00"),
)


def rules_of(field):
    return field.GetOptions().Extensions[options.field]


def is_plain_message(field):
    return field.type == field.TYPE_MESSAGE and not field.message_type.full_name.startswith("google.")


def leaves(message, path=()):
    """Paths to every field of a request that can hold a text of the caller's, nested ones too."""
    for field in message.fields:
        if is_output_only(field):
            continue
        if is_plain_message(field):
            yield from leaves(field.message_type, (*path, field))
        elif field.type in (field.TYPE_STRING, field.TYPE_BYTES):
            yield (*path, field)


def shaped(field, canary):
    """The canary in a value of the field's format; None if the format allows no such text."""
    if field.type == field.TYPE_BYTES:
        return canary.encode()
    if rules_of(field).format == options.FORMAT_JSON_OBJECT or field.name == "metadata_json":
        return '{"note":"%s","page_count":1,"page_dimensions":[],"table_count":0}' % canary
    if rules_of(field).format in (options.FORMAT_UUID, options.FORMAT_KEY_ID,
                                  options.FORMAT_PAGE_TOKEN):
        return None
    return canary


def inner(message, field):
    """The message in a field; a new element if it is repeated."""
    child = getattr(message, field.name)
    if field.label == field.LABEL_REPEATED:
        return child[0] if len(child) else child.add()
    return child


def is_map(field):
    return field.type == field.TYPE_MESSAGE and field.message_type.GetOptions().map_entry


def put(message, path, value):
    """Sets the value at a path, and creates the messages on the path; in a map, sets a key or a
    value."""
    field = path[-1]
    for above in path[:-1]:
        if is_map(above):
            key, value = (value, "") if field.name == "key" else ("key", value)
            getattr(message, above.name)[key] = value
            return
        message = inner(message, above)
    if field.label == field.LABEL_REPEATED:
        getattr(message, field.name).append(value)
    else:
        setattr(message, field.name, value)


def timeless(method, body):
    """An answer without the reference that proves it, which reports when it was given."""
    if "exposure_ref" not in method.output_type.fields_by_name:
        return body
    reply = method.output_type._concrete_class.FromString(body)
    reply.ClearField("exposure_ref")
    return reply.SerializeToString(deterministic=True)


def put_required(message, canary):
    """Fills in required fields that are not set."""
    for field in message.DESCRIPTOR.fields:
        rules = rules_of(field)
        if is_plain_message(field) and (is_required(field) or field.label != field.LABEL_REPEATED
                                        and message.HasField(field.name)):
            put_required(inner(message, field), canary)
        elif not is_required(field):
            continue
        elif field.type == field.TYPE_ENUM and not getattr(message, field.name):
            setattr(message, field.name, field.enum_type.values[-1].number)
        elif field.type in (field.TYPE_STRING, field.TYPE_BYTES) and not getattr(message, field.name):
            put(message, (field,), shaped(field, canary) or
                {options.FORMAT_UUID: str(uuid.uuid4()), options.FORMAT_KEY_ID: "00000000"}.get(
                    rules.format, ""))


class Canaries(ServerCase):
    """One organisation uses unique texts; others must not see them."""

    arguments = ("--log-level", "debug")

    def setUp(self):
        self.canaries = []
        self.mine = self.client_of("speaker")
        self.org_id = self.last_org.id

    def client_of(self, name, role=roles.ROLE_ADMIN):
        self.last_org = self.admin.create_org(name + "-" + secrets.token_hex(4))
        made = self.admin.create_token(role, org_id=self.last_org.id)
        self.last_token = made
        return self.server.client(made.secret)

    def canary(self):
        self.canaries.append("canary" + secrets.token_hex(8))
        return self.canaries[-1]

    def send(self, client, path, request):
        """A request of any kind: (code, message, reply or details)."""
        if not is_client_stream(path):
            return client.raw_any(path, request.SerializeToString(),
                                  STREAM_SECONDS if is_stream(path) else 20)
        first, rest = type(request)(), type(request)()
        first.CopyFrom(request)
        first.ClearField("content")
        rest.content = request.content
        return client.raw_upload(path, [first.SerializeToString(), rest.SerializeToString()])

    def speak(self):
        """Sends each field of each method separately, with a canary; returns the responses."""
        said = []
        for path, method, _ in methods():
            for leaf in leaves(method.input_type):
                value = shaped(leaf[-1], self.canary())
                request = method.input_type._concrete_class()
                if value is not None:
                    put(request, leaf, value)
                put_required(request, self.canary())
                said.append(self.send(self.mine, path, request))
        document = self.mine.ingest(self.canary(), pdf_data.small()).document
        self.canaries += [document.id, document.sha256]
        return said

    def listen(self, client):
        """Everything that can be received: by calls without parameters, with required ones, and
        from the log."""
        heard = []
        for path, method, _ in methods():
            request = method.input_type._concrete_class()
            heard.append(self.send(client, path, request))
            put_required(request, "listener")
            heard.append(self.send(client, path, request))
        newest = client.log.ListEvents(event_service.ListEventsRequest(page_size=1)).events[0].seq
        stream = client.log.WatchEvents(event_service.WatchEventsRequest(from_seq=1), timeout=20)
        for message in stream:
            heard.append((None, "", message.SerializeToString()))
            if message.event.seq >= newest:
                stream.cancel()
                break
        return heard

    def listen_without_token(self):
        no_one = self.server.client("")
        no_one.metadata = []
        heard = [no_one.raw_any(path, b"") for path, _, _ in methods()]
        for path, body in OPEN_METHODS:
            answers = no_one.plain.stream_stream(path)(iter([body]), timeout=2)
            try:
                heard += [(None, "", answer) for answer in answers]
            except grpc.RpcError as e:
                heard.append((e.code(), e.details(), b""))
        return heard

    def expect_none(self, heard, who):
        self.assertGreater(len(heard), 20)
        for _, message, body in heard:
            for canary in self.canaries:
                self.assertNotIn(canary, message or "", who)
                self.assertNotIn(canary.encode(), body, who)

    def test_replies_do_not_show_other_organisations(self):
        """Searches for the fields, ids, secret and key id of one organisation in everything that
        the others receive."""
        said = self.speak()
        token = self.last_token
        everything = b"".join(body + (message or "").encode() for _, message, body in said)
        stored = b"".join(body for _, _, body in self.listen(self.mine))
        self.canaries += set(re.findall(r"[0-9a-f]{8}-[0-9a-f-]{27}", stored.decode("latin-1")))
        self.canaries += [self.org_id, token.secret.split("_", 2)[2], token.token.key_id]
        self.assertGreater(sum(c.encode() in everything for c in self.canaries), 20)
        self.assertGreater(sum(c.encode() in stored for c in self.canaries), 40, "little was stored")
        self.client_of("listener")
        listeners = {role: self.admin.create_token(role, org_id=self.last_org.id).secret
                     for role in ALL_ROLES}
        for role, secret in listeners.items():
            client = self.server.client(secret)
            self.expect_none(self.listen(client), roles.Role.Name(role))
            client.close()
        self.expect_none(self.listen_without_token(), "no token")

    def test_log_does_not_show_content(self):
        """The log contains no contents and no secrets; each line names the organisation."""
        self.speak()
        self.canaries.append(self.last_token.secret.split("_", 2)[2])
        log = self.server.read_log()
        self.assertIn(self.org_id, log)
        for canary in self.canaries:
            self.assertNotIn(canary, log)


class OneConnection(ServerCase):
    """Two organisations through one proxy: their calls alternate on one connection, many at a time."""

    def setUp(self):
        self.sides = []
        for name in ("left", "right"):
            org = self.admin.create_org(f"{name}-" + secrets.token_hex(4))
            token = self.admin.create_token(roles.ROLE_ADMIN, org_id=org.id)
            self.sides.append((name + secrets.token_hex(8),
                               [("authorization", f"Bearer {token.secret}")]))
        self.proxy = self.server.client()

    def call(self, side, method, request):
        """A call of one organisation in progress on the common connection."""
        path, reply = method
        return self.proxy.plain.unary_unary(path, type(request).SerializeToString, reply.FromString
                                            ).future(request, timeout=30, metadata=self.sides[side][1])

    def capture(self, side, number):
        own = self.sides[side][0]
        return self.call(side, ("/errata.v1.FeedbackService/CaptureFeedbackEvent",
                                feedback_service.CaptureFeedbackEventResponse), feedback_service.CaptureFeedbackEventRequest(
            event=feedback.FeedbackEvent(event_type=LINE, layout_fingerprint="shared",
                                         entity_type="line", entity_id=str(number),
                                         after_json='{"whose":"%s","n":%d}' % (own, number))))

    def test_answers_do_not_mix(self):
        requests = (
            (("/errata.v1.PromptService/GetExamples", prompt_service.GetExamplesResponse),
             prompt_service.GetExamplesRequest(layout_fingerprint="shared", max_examples=20)),
            (("/errata.v1.EventService/ListEvents", event_service.ListEventsResponse),
             event_service.ListEventsRequest(page_size=20)),
            (("/errata.v1.FeedbackService/ListFeedbackEvents",
              feedback_service.ListFeedbackEventsResponse),
             feedback_service.ListFeedbackEventsRequest(entity_type="line", entity_id="3")),
        )
        for first in self.capture(0, 0), self.capture(1, 0):
            first.result()
        calls = []
        for number in range(60):
            for side in (number % 2, 1 - number % 2):
                calls.append((side, self.capture(side, number)))
                calls.append((side, self.call(side, *requests[number % len(requests)])))
        for side, call in calls:
            body = call.result().SerializeToString()
            self.assertNotIn(self.sides[1 - side][0].encode(), body)
        self.assertGreater(sum(self.sides[side][0].encode() in call.result().SerializeToString()
                               for side, call in calls), 120)

    def test_a_watch_does_not_wake(self):
        """An event of one is not sent to the other: its watch gets only its own event."""
        got = []
        stream = self.proxy.plain.unary_stream(
            "/errata.v1.EventService/WatchEvents", event_service.WatchEventsRequest.SerializeToString,
            event_service.WatchEventsResponse.FromString)(
                event_service.WatchEventsRequest(from_seq=1), timeout=60, metadata=self.sides[1][1])
        done = threading.Event()

        def read():
            try:
                for message in stream:
                    got.append(message)
                    if message.event.kind == event_log.EVENT_KIND_FEEDBACK:
                        done.set()
            except grpc.RpcError:
                done.set()

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        for call in [self.capture(0, number) for number in range(100)]:
            call.result()
        self.assertFalse(done.wait(0.2), "the other's event arrived")
        self.capture(1, 7).result()
        self.assertTrue(done.wait(10))
        stream.cancel()
        reader.join(10)
        self.assertEqual([m.event.seq for m in got], list(range(1, len(got) + 1)))
        for message in got:
            self.assertNotIn(self.sides[0][0].encode(), message.SerializeToString())


class Walls(ServerCase):
    """Data of one organisation, and the responses to requests of another organisation for it."""

    def setUp(self):
        org = self.admin.create_org("walls-" + secrets.token_hex(4))
        token = self.admin.create_token(roles.ROLE_ADMIN, org_id=org.id)
        self.theirs = self.server.client(token.secret)
        self.canary = "secret-" + secrets.token_hex(8)
        event = self.theirs.capture(
            event_type=LINE, layout_fingerprint=self.canary + "-layout",
            document_id=self.canary + "-doc", draft_order_id=self.canary + "-draft",
            entity_type="line", entity_id=self.canary + "-line",
            actor_user_id=self.canary + "-user",
            after_json='{"%s":1}' % self.canary, before_json="{}")
        document = self.theirs.ingest(self.canary + "-pdf", pdf_data.small()).document
        self.ids = {
            "uuid": [event.id, org.id, document.id], "key_id": [token.token.key_id],
            "opaque": [event.layout_fingerprint, event.document_id, event.draft_order_id,
                       event.entity_id, event.actor_user_id, document.document_id,
                       document.layout_fingerprint],
        }

    def random_like(self, value):
        """An id of the same shape that no one has."""
        if re.fullmatch(r"[0-9a-f]{8}", value):
            return secrets.token_hex(4)
        if re.fullmatch(r"[0-9a-f-]{36}", value):
            return str(uuid.uuid4())
        return "x" * (len(value) - 16) + secrets.token_hex(8)

    def id_fields(self, method):
        for field in method.input_type.fields:
            rules = field.GetOptions().Extensions[options.field]
            if field.type != field.TYPE_STRING or field.label == field.LABEL_REPEATED:
                continue
            if rules.format == options.FORMAT_UUID:
                yield field, self.ids["uuid"]
            elif rules.format == options.FORMAT_KEY_ID:
                yield field, self.ids["key_id"]
            elif rules.format == options.FORMAT_OPAQUE_ID:
                yield field, self.ids["opaque"]

    def ask(self, path, method, field, value):
        """The reply, without the id that was sent."""
        request = method.input_type._concrete_class()
        if path.endswith(("/RevokeToken", "/RotateToken")) and field.name == "org_id":
            request.key_id = "00000000"
        setattr(request, field.name, value)
        code, message, body = self.admin_plain.raw_any(path, request.SerializeToString())
        if code == grpc.StatusCode.OK:
            body = timeless(method, body)
        shown = body.replace(value.encode(), b"ID").replace(value[:8].encode(), b"SHORT")  # fingerprint_short
        return code, message.replace(value, "ID"), shown

    def test_foreign_ids_are_unknown_ids(self):
        """Every id field of every method: another organisation's id gets the response to a random
        id."""
        org = self.admin.create_org("asker-" + secrets.token_hex(4))
        self.admin_plain = self.server.client(
            self.admin.create_token(roles.ROLE_ADMIN, org_id=org.id).secret)
        asked = 0
        for path, method, _ in methods():
            for field, values in self.id_fields(method):
                for value in values:
                    theirs = self.ask(path, method, field, value)
                    nobodys = self.ask(path, method, field, self.random_like(value))
                    self.assertEqual(theirs, nobodys, f"{path} {field.name}={value}")
                    asked += 1
        self.assertGreater(asked, 20)

    def test_replies_do_not_depend_on_the_other_organisation(self):
        """Byte-equal answers of A before and after B writes with all of A's names."""
        org = self.admin.create_org("quiet-" + secrets.token_hex(4))
        mine = self.server.client(self.admin.create_token(roles.ROLE_ADMIN, org_id=org.id).secret)
        for i in range(5):
            mine.capture(event_type=LINE, layout_fingerprint="same", document_id="same",
                         entity_type="line", entity_id="same", after_json='{"qty":%d}' % i)
        questions = [
            ("/errata.v1.PromptService/GetExamples",
             prompt_service.GetExamplesRequest(layout_fingerprint="same")),
            ("/errata.v1.PromptService/PreparePrompt",
             prompt_service.PreparePromptRequest(template="{{hint_examples}}", document_id="same",
                                             layout_fingerprint="same")),
            ("/errata.v1.PromptService/ListPromptTemplates",
             prompt_service.ListPromptTemplatesRequest()),
            ("/errata.v1.FeedbackService/ListFeedbackEvents",
             feedback_service.ListFeedbackEventsRequest(entity_type="line", entity_id="same")),
            ("/errata.v1.EventService/ListEvents", event_service.ListEventsRequest()),
            ("/errata.v1.AdminService/ListTokens", admin.ListTokensRequest()),
        ]
        contract = {path: method for path, method, _ in methods()}

        def ask_all():
            answers = [(path, mine.raw(path, q.SerializeToString())) for path, q in questions]
            return [(code, message, timeless(contract[path], body))
                    for path, (code, message, body) in answers]

        self.server.wait_for_day_of_use(mine)
        before = ask_all()
        for i in range(20):
            self.theirs.capture(event_type=LINE, layout_fingerprint="same", document_id="same",
                                entity_type="line", entity_id="same", after_json='{"qty":-%d}' % i)
        self.theirs.prompts.PutPromptTemplate(prompt_service.PutPromptTemplateRequest(
            prompt_template=prompt_template.PromptTemplate(name="same", text=self.canary)))
        self.theirs.ingest("same", pdf_data.small(1))
        self.assertEqual(before, ask_all())


if __name__ == "__main__":
    main()
