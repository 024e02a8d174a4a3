#!/usr/bin/python3
"""Refusals because of size, tokens and load: their codes and retry delays.

Goal: a standard client's retry policy behaves as intended: it waits for the delay of grpc-retry-pushback-ms (gRFC A6),
and does not repeat a message that is too large.
Method: erratad with small limits, grpcio, and the log. tests/fault covers a full queue and a full disk.
"""
import json
import os

import grpc

from erratad import (Server, ServerCase, admin, feedback, feedback_service, has_retry_info, main,
                     reason_of)

MESSAGE_BYTES_MAX = 100_000
PUSHBACK = "grpc-retry-pushback-ms"


def pushback_of(error):
    return dict(error.trailing_metadata()).get(PUSHBACK)


def event(size):
    return feedback.FeedbackEvent(
        event_type=feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED, actor_user_id="ada", layout_fingerprint="a",
        entity_type="line", entity_id="e", before_json='{"n":1}', after_json='{"n":"%s"}' % ("x" * size))


class Overload(ServerCase):
    arguments = ("--message-bytes-max", str(MESSAGE_BYTES_MAX), "--log-format", "json")

    def refusal(self, call, *arguments, **named):
        with self.assertRaises(grpc.RpcError) as caught:
            call(*arguments, timeout=30, **named)
        return caught.exception

    def test_too_large_message_is_not_retried(self):
        """The status has the code for size, no RetryInfo, and a pushback of -1, which disables retries."""
        error = self.refusal(self.admin.feedback.CaptureFeedbackEvent,
                             feedback_service.CaptureFeedbackEventRequest(event=event(MESSAGE_BYTES_MAX)))
        self.assertEqual(error.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
        self.assertEqual(reason_of(error), "TOO_LARGE")
        self.assertFalse(has_retry_info(error))
        self.assertEqual(pushback_of(error), "-1")

    def test_retry_policy_does_not_repeat_a_refusal(self):
        """grpcio with a policy that repeats RESOURCE_EXHAUSTED: the server has seen one call."""
        policy = {"methodConfig": [{"name": [{}], "retryPolicy": {
            "maxAttempts": 5, "initialBackoff": "0.01s", "maxBackoff": "0.01s",
            "backoffMultiplier": 1, "retryableStatusCodes": ["RESOURCE_EXHAUSTED"]}}]}
        before = self.refused()
        with grpc.insecure_channel(self.server.address, options=[
                ("grpc.service_config", json.dumps(policy)), ("grpc.enable_retries", 1)]) as channel:
            call = channel.unary_unary("/errata.v1.FeedbackService/CaptureFeedbackEvent")
            request = feedback_service.CaptureFeedbackEventRequest(event=event(MESSAGE_BYTES_MAX))
            self.refusal(call, request.SerializeToString(), metadata=self.admin.metadata)
        self.assertEqual(self.refused() - before, 1)

    def refused(self):
        info = self.admin.admin.GetServerInfo(admin.GetServerInfoRequest())
        return sum(m.count for m in info.methods if m.code != 0 and m.method.endswith("/CaptureFeedbackEvent"))

    def test_other_failures_have_no_retry_hint(self):
        error = self.refusal(self.admin.feedback.CaptureFeedbackEvent,
                             feedback_service.CaptureFeedbackEventRequest(event=event(0)),
                             metadata=[("idempotency-key", "")])
        self.assertEqual(error.code(), grpc.StatusCode.INVALID_ARGUMENT)
        self.assertIsNone(pushback_of(error))


class RefusedTokens(ServerCase):
    arguments = ("--log-format", "json")

    def test_flood_of_refused_tokens_is_one_line(self):
        """At level info, one line contains the reason, the key id, the peer and the count, but never the secret."""
        with open(os.path.join(self.server.data, "admin.token"), encoding="ascii") as f:
            token = f.read().strip()
        prefix, key_id, secret = token.split("_", 2)
        wrong = "".join("b" if letter == "a" else "a" for letter in secret[:-1]) + secret[-1]
        with grpc.insecure_channel(self.server.address) as channel:
            call = channel.unary_unary("/errata.v1.AdminService/GetServerInfo")
            for _ in range(50):
                with self.assertRaises(grpc.RpcError) as caught:
                    call(b"", timeout=30, metadata=[
                        ("authorization", f"Bearer {prefix}_{key_id}_{wrong}")])
                self.assertEqual(caught.exception.code(), grpc.StatusCode.UNAUTHENTICATED)
                self.assertIsNone(pushback_of(caught.exception))
        counters = self.server.counters(self.admin)
        self.assertEqual(counters["refused_tokens_total"], 50)
        said = self.server.read_log()
        lines = [json.loads(line) for line in said.splitlines() if "token refused" in line]
        # Allows one more attempt for every ten seconds on a busy machine.
        self.assertIn(len(lines), (1, 2, 3))
        self.assertEqual(lines[0]["reason"], "wrong secret")
        self.assertEqual(lines[0]["key_id"], key_id)
        self.assertEqual(lines[0]["refusals"], 1)
        self.assertIn("127.0.0.1", lines[0]["peer"])
        self.assertEqual(lines[0]["level"], "info")
        self.assertNotIn(secret, said)
        self.assertNotIn(wrong, said)


if __name__ == "__main__":
    main()
