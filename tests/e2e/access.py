#!/usr/bin/python3
"""Access control: every method by every role, and tokens in every state.

Goal: no method serves a caller whose role is not in its options. Method: a walk over the
descriptors, so that later methods are tested automatically.
"""
import secrets
import time
import uuid

import grpc

from erratad import (ALL_ROLES, NEED_THE_FLAG, ServerCase, admin, event_service, feedback, feedback_service, main, methods,
                     options, organization, roles)

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
REFUSED = (grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.UNAUTHENTICATED)


class Roles(ServerCase):
    def call(self, client, path):
        """An empty request: the role is checked before its content."""
        return client.raw_any(path, b"", 0.5)

    def test_every_method_has_roles(self):
        for path, method, rules in methods():
            self.assertTrue(rules.roles, f"{path} names no role in its options")
            self.assertNotEqual(rules.transaction, options.TRANSACTION_UNSPECIFIED, path)
            self.assertLessEqual(set(rules.backfill_roles), set(rules.roles), path)

    def test_every_method_admits_only_its_roles(self):
        """FR-020 and the table of roles: a method is allowed if and only if its options permit it."""
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
                    if not path.endswith(NEED_THE_FLAG):
                        self.assertNotEqual(code, grpc.StatusCode.PERMISSION_DENIED, where)

    def test_integrator_may_only_backfill(self):
        """INTEGRATOR captures history with its time; others may not specify a time."""
        integrator = self.server.client(self.admin.create_token(roles.ROLE_INTEGRATOR).secret)
        service = self.server.client(self.admin.create_token(roles.ROLE_SERVICE).secret)
        old = feedback.FeedbackEvent(event_type=LINE, after_json='{"a":1}')
        self.assert_code(grpc.StatusCode.PERMISSION_DENIED, integrator.feedback.CaptureFeedbackEvent,
                         feedback_service.CaptureFeedbackEventRequest(event=old))
        old.created_at.FromJsonString("2021-01-01T00:00:00Z")
        integrator.feedback.CaptureFeedbackEvent(feedback_service.CaptureFeedbackEventRequest(event=old))
        self.assert_code(grpc.StatusCode.PERMISSION_DENIED, service.feedback.CaptureFeedbackEvent,
                         feedback_service.CaptureFeedbackEventRequest(event=old))

    def test_viewer_sees_no_content(self):
        """A VIEWER gets no `*_json`, diff or free text in any form of an event."""
        canary = "canary-" + secrets.token_hex(8)
        event = self.admin.capture(event_type=LINE, layout_fingerprint="viewer",
                                   after_json='{"note":"%s"}' % canary,
                                   before_json='{"note":"%s-b"}' % canary,
                                   meta_json='{"input_snippet":"%s"}' % canary)
        viewer = self.server.client(self.admin.create_token(roles.ROLE_VIEWER).secret)
        answers = [
            viewer.feedback.GetFeedbackEvent(feedback_service.GetFeedbackEventRequest(id=event.id)),
            viewer.feedback.ListFeedbackEvents(
                feedback_service.ListFeedbackEventsRequest(layout_fingerprint="viewer")),
            viewer.log.GetEvent(event_service.GetEventRequest(id=event.id)),
            viewer.log.ListEvents(event_service.ListEventsRequest()),
        ]
        stream = viewer.log.WatchEvents(event_service.WatchEventsRequest(from_seq=1), timeout=10)
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

    def test_invalid_token_is_refused(self):
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

    def test_every_method_needs_a_token(self):
        no_one = self.server.client("")
        no_one.metadata = []
        for path, _, _ in methods():
            self.assertEqual(no_one.raw_any(path, b"")[0], grpc.StatusCode.UNAUTHENTICATED, path)

    def test_expired_token_is_refused(self):
        soon = int((time.time() + 1.5) * 1e6)
        made = self.admin.create_token(roles.ROLE_ADMIN, expire_us=soon)
        client = self.server.client(made.secret)
        client.admin.GetServerInfo(admin.GetServerInfoRequest())
        stream = client.log.WatchEvents(event_service.WatchEventsRequest(), timeout=30)
        time.sleep(1.8)
        self.assert_code(grpc.StatusCode.UNAUTHENTICATED, client.admin.GetServerInfo,
                         admin.GetServerInfoRequest())
        stream.cancel()
        past = int((time.time() - 60) * 1e6)
        self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, self.admin.create_token,
                         roles.ROLE_ADMIN, expire_us=past)

    def test_revoked_token_is_refused_at_once(self):
        made = self.admin.create_token(roles.ROLE_SERVICE)
        client = self.server.client(made.secret)
        client.capture(event_type=LINE, after_json='{"a":1}')
        revoke = admin.RevokeTokenRequest(key_id=made.token.key_id)
        first = self.admin.admin.RevokeToken(revoke).token
        self.assertTrue(first.HasField("revoked_at"))
        self.assert_code(grpc.StatusCode.UNAUTHENTICATED, client.capture, event_type=LINE,
                         after_json='{"a":1}')
        again = self.admin.admin.RevokeToken(revoke).token
        self.assertEqual(again.revoked_at, first.revoked_at)
        listed = {t.key_id: t for t in
                  self.admin.admin.ListTokens(admin.ListTokensRequest()).tokens}
        self.assertTrue(listed[made.token.key_id].HasField("revoked_at"))

    def test_secret_is_shown_once(self):
        key = [("idempotency-key", "make-" + secrets.token_hex(4))]
        request = admin.CreateTokenRequest(token=admin.Token(role=roles.ROLE_SERVICE))
        made = self.admin.admin.CreateToken(request, metadata=key)
        error = self.assert_code(grpc.StatusCode.ALREADY_EXISTS, self.admin.admin.CreateToken,
                                 request, metadata=key)
        self.assertIn(made.token.key_id, error.details())
        self.assertNotIn(made.secret.split("_", 2)[2], error.details())
        self.assertNotIn(made.secret.split("_", 2)[2], self.server.read_log())

    def test_token_of_a_person_needs_a_user(self):
        for role in (roles.ROLE_OPERATOR, roles.ROLE_REVIEWER):
            self.assert_code(grpc.StatusCode.INVALID_ARGUMENT, self.admin.create_token, role, "")

    def test_server_methods_need_the_server_flag(self):
        """Without the flag, other organisations are invisible; only a token with the flag can grant it."""
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

    def test_org_id_needs_the_server_flag(self):
        """Every method that takes an org_id: another organisation is served only for a token with
        the server flag and a role that may call the method; all others get the reply for an unknown
        one."""
        org = self.admin.create_org("named-" + secrets.token_hex(4))
        mine = self.admin.create_org("asking-" + secrets.token_hex(4))
        plain, flagged = ({role: self.server.client(self.admin.create_token(
            role, org_id=mine.id, server=server).secret) for role in ALL_ROLES}
            for server in (False, True))
        asked = 0
        for path, method, rules in methods():
            if "org_id" not in method.input_type.fields_by_name:
                continue
            asked += 1
            # A method may end the token that it names, so each gets a new one.
            known = self.admin.create_token(roles.ROLE_SERVICE, org_id=org.id).token.key_id
            named = self.ended_org() if path.endswith("/DeleteOrganization") else org
            for role in ALL_ROLES:
                self.expect_unknown(plain[role], path, method, named.id, known, role in rules.roles)
                self.assertEqual(
                    flagged[role].raw_any(path, self.naming(method, named.id, known))[0],
                    grpc.StatusCode.OK if role in rules.roles else grpc.StatusCode.PERMISSION_DENIED,
                    f"{path} by {roles.Role.Name(role)} with the flag")
        self.assertGreaterEqual(asked, 3)

    def ended_org(self):
        """A suspended organisation, whose name `naming` confirms."""
        ended = self.admin.create_org("ended")
        self.admin.admin.SuspendOrganization(organization.SuspendOrganizationRequest(org_id=ended.id, reason="ended"))
        return ended

    @staticmethod
    def naming(method, org_id, key_id):
        """A request that names an organisation, with the other required fields."""
        request = method.input_type._concrete_class(org_id=org_id)
        if "key_id" in method.input_type.fields_by_name:
            request.key_id = key_id
        if "token" in method.input_type.fields_by_name:
            request.token.role = roles.ROLE_SERVICE
        if "settings" in method.input_type.fields_by_name:
            request.settings.holdout_percent = 0
        if "quota" in method.input_type.fields_by_name:
            request.quota.pdf_jobs = 0
        if "session_id" in method.input_type.fields_by_name:
            request.session_id = "s"
        if "confirm_name" in method.input_type.fields_by_name:
            request.confirm_name = "ended"
        if "reason" in method.input_type.fields_by_name:
            request.reason = "a request"
        return request.SerializeToString()

    def expect_unknown(self, client, path, method, org_id, key_id, allowed):
        unknown = str(uuid.uuid4())
        foreign = client.raw_any(path, self.naming(method, org_id, key_id))
        nobodys = client.raw_any(path, self.naming(method, unknown, key_id))
        wanted = grpc.StatusCode.NOT_FOUND if allowed else grpc.StatusCode.PERMISSION_DENIED
        self.assertEqual(foreign[0], wanted, path)
        self.assertEqual(self.blind(foreign, org_id), self.blind(nobodys, unknown), path)

    @staticmethod
    def answer(client, org_id):
        return client.raw("/errata.v1.AdminService/ListTokens",
                          admin.ListTokensRequest(org_id=org_id).SerializeToString())

    @staticmethod
    def blind(answer, value):
        return answer[0], answer[1].replace(value, "ID"), answer[2].replace(value.encode(), b"ID")


if __name__ == "__main__":
    main()
