#!/usr/bin/python3
"""Who may do what: every method by every role, tokens of every state, and walls between organisations.

Goal: no method answers a caller whom its options do not name, and nothing of one organisation can be
told from another. Method: walk the descriptors, so that a method added later is tested unasked.
"""
import re
import secrets
import time
import uuid

import grpc

import pdf_data
from erratad import (ServerCase, admin, correction, feedback, layout, learning, main, methods,
                     options, roles)

LINE = feedback.EVENT_TYPE_EXTRACTION_LINE_CORRECTED
REFUSED = (grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.UNAUTHENTICATED)
ALL_ROLES = [r for r in roles.Role.values() if r != roles.ROLE_UNSPECIFIED]


class Roles(ServerCase):
    def call(self, client, path):
        """An empty request; whatever the method says to it, the role is checked before."""
        return client.raw_any(path, b"", 0.5)

    def test_every_method_names_its_roles(self):
        for path, method, rules in methods():
            self.assertTrue(rules.roles, f"{path} names no role in its options")
            self.assertNotEqual(rules.transaction, options.TRANSACTION_UNSPECIFIED, path)
            self.assertLessEqual(set(rules.backfill_roles), set(rules.roles), path)

    def test_every_method_by_every_role(self):
        """FR-020 and the table of roles: allowed exactly where the options say."""
        clients = {role: self.server.client(self.admin.create_token(role).secret)
                   for role in ALL_ROLES}
        for path, method, rules in methods():
            for role, client in clients.items():
                code, message, _ = self.call(client, path)
                where = f"{path} by {roles.Role.Name(role)}: {code} {message}"
                if role not in rules.roles:
                    self.assertEqual(code, grpc.StatusCode.PERMISSION_DENIED, where)
                elif role not in rules.backfill_roles:
                    self.assertNotEqual(code, grpc.StatusCode.UNAUTHENTICATED, where)
                    if not path.endswith(("/CreateOrganization", "/Verify")):  # server flag
                        self.assertNotEqual(code, grpc.StatusCode.PERMISSION_DENIED, where)

    def test_backfill_alone(self):
        """INTEGRATOR captures history with its time; others may not give a time at all."""
        integrator = self.server.client(self.admin.create_token(roles.ROLE_INTEGRATOR).secret)
        service = self.server.client(self.admin.create_token(roles.ROLE_SERVICE).secret)
        old = feedback.FeedbackEvent(event_type=LINE, after_json='{"a":1}')
        self.assert_code(grpc.StatusCode.PERMISSION_DENIED, integrator.corrections.CaptureEvent,
                         correction.CaptureEventRequest(event=old))
        old.created_at.FromJsonString("2021-01-01T00:00:00Z")
        integrator.corrections.CaptureEvent(correction.CaptureEventRequest(event=old))
        self.assert_code(grpc.StatusCode.PERMISSION_DENIED, service.corrections.CaptureEvent,
                         correction.CaptureEventRequest(event=old))

    def test_a_viewer_sees_no_content(self):
        """VIEWER: no `*_json`, no diff, no free text, in any shape of an event."""
        canary = "canary-" + secrets.token_hex(8)
        event = self.admin.capture(event_type=LINE, layout_fingerprint="viewer",
                                   after_json='{"note":"%s"}' % canary,
                                   before_json='{"note":"%s-b"}' % canary,
                                   meta_json='{"input_snippet":"%s"}' % canary)
        viewer = self.server.client(self.admin.create_token(roles.ROLE_VIEWER).secret)
        answers = [
            viewer.corrections.GetFeedbackEvent(correction.GetFeedbackEventRequest(id=event.id)),
            viewer.corrections.ListFeedbackEvents(
                correction.ListFeedbackEventsRequest(layout_fingerprint="viewer")),
            viewer.learning.GetEvent(learning.GetEventRequest(id=event.id)),
            viewer.learning.ListEvents(learning.ListEventsRequest()),
        ]
        stream = viewer.learning.WatchEvents(learning.WatchEventsRequest(from_seq=1), timeout=10)
        for message in stream:
            answers.append(message)
            if message.event.id == event.id:
                break
        stream.cancel()
        for answer in answers:
            self.assertNotIn(canary.encode(), answer.SerializeToString(), type(answer).__name__)
        self.assertEqual(answers[0].event.layout_fingerprint, "viewer")


class Tokens(ServerCase):
    PATH = "/errata.v1.AdminService/GetServerInfo"

    def code_with(self, *values):
        client = self.server.client("")
        client.metadata = [("authorization", value) for value in values]
        return client.raw(self.PATH, b"")[0]

    def test_what_is_no_token(self):
        good = self.server.admin_token
        prefix, key_id, secret = good.split("_", 2)
        self.assertEqual((prefix, len(key_id), len(secret)), ("errata", 8, 43))
        self.assertEqual(self.code_with(f"Bearer {good}"), grpc.StatusCode.OK)
        other_secret = ("A" if secret[0] != "A" else "B") + secret[1:]
        other_key = f"{int(key_id, 16) ^ 1:08x}"
        for value in ("", "Bearer", f"Basic {good}", good, f"Bearer {good[:-1]}",
                      f"Bearer {good}A", f"Bearer errata_{key_id}_{other_secret}",
                      f"Bearer errata_{other_key}_{secret}", f"Bearer {good.upper()}",
                      f"Bearer {'x' * 4000}"):
            self.assertEqual(self.code_with(value), grpc.StatusCode.UNAUTHENTICATED, value)
        self.assertEqual(self.code_with(), grpc.StatusCode.UNAUTHENTICATED)

    def test_every_method_wants_one(self):
        nobody = self.server.client("")
        nobody.metadata = []
        for path, _, _ in methods():
            self.assertEqual(nobody.raw_any(path, b"")[0], grpc.StatusCode.UNAUTHENTICATED, path)

    def test_expiry(self):
        soon = int((time.time() + 1.5) * 1e6)
        made = self.admin.create_token(roles.ROLE_ADMIN, expire_us=soon)
        client = self.server.client(made.secret)
        client.admin.GetServerInfo(admin.GetServerInfoRequest())
        stream = client.learning.WatchEvents(learning.WatchEventsRequest(), timeout=30)
        time.sleep(1.8)
        self.assert_code(grpc.StatusCode.UNAUTHENTICATED, client.admin.GetServerInfo,
                         admin.GetServerInfoRequest())
        stream.cancel()
        past = int((time.time() - 60) * 1e6)
        self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, self.admin.create_token,
                         roles.ROLE_ADMIN, expire_us=past)

    def test_revocation(self):
        made = self.admin.create_token(roles.ROLE_SERVICE)
        client = self.server.client(made.secret)
        client.capture(event_type=LINE, after_json='{"a":1}')
        revoke = admin.RevokeTokenRequest(key_id=made.token.key_id)
        first = self.admin.admin.RevokeToken(revoke).token
        self.assertTrue(first.HasField("revoke_time"))
        self.assert_code(grpc.StatusCode.UNAUTHENTICATED, client.capture, event_type=LINE,
                         after_json='{"a":1}')
        again = self.admin.admin.RevokeToken(revoke).token
        self.assertEqual(again.revoke_time, first.revoke_time)
        listed = {t.key_id: t for t in
                  self.admin.admin.ListTokens(admin.ListTokensRequest()).tokens}
        self.assertTrue(listed[made.token.key_id].HasField("revoke_time"))

    def test_a_secret_is_shown_once(self):
        key = [("idempotency-key", "make-" + secrets.token_hex(4))]
        request = admin.CreateTokenRequest(token=admin.Token(role=roles.ROLE_SERVICE))
        made = self.admin.admin.CreateToken(request, metadata=key)
        error = self.assert_code(grpc.StatusCode.ALREADY_EXISTS, self.admin.admin.CreateToken,
                                 request, metadata=key)
        self.assertIn(made.token.key_id, error.details())
        self.assertNotIn(made.secret.split("_", 2)[2], error.details())
        self.assertNotIn(made.secret.split("_", 2)[2], self.server.read_log())

    def test_people_are_bound_to_a_user(self):
        for role in (roles.ROLE_OPERATOR, roles.ROLE_REVIEWER):
            self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, self.admin.create_token, role, "")

    def test_the_server_flag(self):
        """Without it, another organisation does not exist; only such a token gives it on."""
        org = self.admin.create_org("flagless")
        plain = self.server.client(
            self.admin.create_token(roles.ROLE_ADMIN, org_id=org.id).secret)
        listed = plain.admin.ListOrganizations(admin.ListOrganizationsRequest()).organizations
        self.assertEqual([o.id for o in listed], [org.id])
        self.assert_code(grpc.StatusCode.PERMISSION_DENIED, plain.create_org, "another")
        self.assert_code(grpc.StatusCode.PERMISSION_DENIED, plain.create_token, roles.ROLE_ADMIN,
                         server=True)
        mine = self.admin.admin.ListOrganizations(admin.ListOrganizationsRequest()).organizations
        default = next(o for o in mine if o.name == "default")
        foreign = self.answer(plain, default.id)
        self.assertEqual(foreign[0], grpc.StatusCode.NOT_FOUND)
        unknown = str(uuid.uuid4())
        self.assertEqual(self.blind(foreign, default.id),
                         self.blind(self.answer(plain, unknown), unknown))

    @staticmethod
    def answer(client, org_id):
        return client.raw("/errata.v1.AdminService/ListTokens",
                          admin.ListTokensRequest(org_id=org_id).SerializeToString())

    @staticmethod
    def blind(answer, value):
        return answer[0], answer[1].replace(value, "ID"), answer[2].replace(value.encode(), b"ID")


class Walls(ServerCase):
    """What one organisation has, and how another one's questions about it are answered."""

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
        """An id of the same shape that nobody has."""
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
        """The answer, with the id taken out, so that it can tell nothing but what it knows."""
        request = method.input_type._concrete_class()
        if path.endswith(("/RevokeToken",)) and field.name == "org_id":
            request.key_id = "00000000"
        setattr(request, field.name, value)
        code, message, body = self.admin_plain.raw_any(path, request.SerializeToString())
        return code, message.replace(value, "ID"), body.replace(value.encode(), b"ID")

    def test_foreign_ids_are_unknown_ids(self):
        """Every id field of every method: another organisation's id is answered as a random one."""
        org = self.admin.create_org("asker-" + secrets.token_hex(4))
        self.admin_plain = self.server.client(
            self.admin.create_token(roles.ROLE_ADMIN, org_id=org.id).secret)
        asked = 0
        for path, method, _ in methods():
            if path.endswith(("/CreateToken", "/CreateOrganization")):
                continue
            for field, values in self.id_fields(method):
                for value in values:
                    theirs = self.ask(path, method, field, value)
                    nobodys = self.ask(path, method, field, self.random_like(value))
                    self.assertEqual(theirs, nobodys, f"{path} {field.name}={value}")
                    asked += 1
        self.assertGreater(asked, 20)

    def test_no_answer_has_the_canary(self):
        """Lists, streams, logs and the server's own counters of one show nothing of the other."""
        org = self.admin.create_org("looker-" + secrets.token_hex(4))
        looker = self.server.client(
            self.admin.create_token(roles.ROLE_ADMIN, org_id=org.id).secret)
        canary = self.canary.encode()
        for path, method, _ in methods():
            code, message, body = looker.raw_any(path, b"", 1)
            self.assertNotIn(canary, body + message.encode(), path)
        self.assertNotIn(self.canary, self.server.read_log())

    def test_questions_of_one_do_not_depend_on_the_other(self):
        """Byte-equal answers of A before and after B writes with all of A's names."""
        org = self.admin.create_org("quiet-" + secrets.token_hex(4))
        mine = self.server.client(self.admin.create_token(roles.ROLE_ADMIN, org_id=org.id).secret)
        for i in range(5):
            mine.capture(event_type=LINE, layout_fingerprint="same", document_id="same",
                         entity_type="line", entity_id="same", after_json='{"qty":%d}' % i)
        questions = [
            ("/errata.v1.CorrectionService/GetExamples",
             correction.GetExamplesRequest(layout_fingerprint="same")),
            ("/errata.v1.CorrectionService/ListFeedbackEvents",
             correction.ListFeedbackEventsRequest(entity_type="line", entity_id="same")),
            ("/errata.v1.LearningService/ListEvents", learning.ListEventsRequest()),
            ("/errata.v1.AdminService/ListTokens", admin.ListTokensRequest()),
        ]
        before = [mine.raw(path, q.SerializeToString()) for path, q in questions]
        for i in range(20):
            self.theirs.capture(event_type=LINE, layout_fingerprint="same", document_id="same",
                                entity_type="line", entity_id="same", after_json='{"qty":-%d}' % i)
        self.theirs.ingest("same", pdf_data.small(1))
        after = [mine.raw(path, q.SerializeToString()) for path, q in questions]
        self.assertEqual(before, after)


if __name__ == "__main__":
    main()
