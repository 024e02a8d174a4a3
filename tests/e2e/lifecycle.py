#!/usr/bin/python3
"""A server's life: first start, restart, drain, idempotency across both, and refused starts.

Goal: erratad without any set-up has a working, private store, and never loses a response. Method:
each test starts and stops its own server, with real signals.
"""
import os
import re
import signal
import stat
import subprocess
import tempfile
import threading
import time
import unittest

import grpc

from erratad import (BIN, ENGINE, Server, admin, event_service, feedback, feedback_service, health_pb2,
                     main, wait_until)

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED


def event(**fields):
    return feedback_service.CaptureFeedbackEventRequest(event=feedback.FeedbackEvent(
        event_type=LINE, layout_fingerprint="life", actor_user_id="ada", **fields))


class FirstStart(unittest.TestCase):
    def test_first_start_creates_a_token_and_a_restart_keeps_it(self):
        """The first start makes org and token, once; a restart keeps both and all events."""
        with Server() as server:
            token = server.admin_token
            self.assertRegex(token, r"^errata_[0-9a-f]{8}_[A-Za-z0-9_-]{43}$")
            token_file = os.path.join(server.data, "admin.token")
            self.assertEqual(stat.S_IMODE(os.stat(token_file).st_mode), 0o600)
            self.assertEqual(stat.S_IMODE(os.stat(server.data).st_mode), 0o700)
            self.assertRegex(server.address, r"^127\.0\.0\.1:\d+$")
            client = server.client()
            orgs = client.admin.ListOrganizations(admin.ListOrganizationsRequest()).organizations
            self.assertEqual([o.name for o in orgs], ["default"])
            stored = client.capture(event_type=LINE, layout_fingerprint="life",
                                    after_json='{"qty":12}')
            client.close()
            self.assertEqual(server.stop(), 0)

            server.start()
            self.assertEqual(server.admin_token, token)
            client = server.client()
            again = client.feedback.GetFeedbackEvent(
                feedback_service.GetFeedbackEventRequest(id=stored.id)).event
            self.assertEqual(again.after_json, '{"qty":12}')
            self.assertEqual(len(client.examples("life").examples), 1)
            second = client.capture(event_type=LINE, after_json='{"qty":13}')
            self.assertGreater(second.id, stored.id)
            self.assertNotIn(token.split("_", 2)[2], server.read_log())

    def test_files_are_private(self):
        with Server() as server:
            for folder, _, names in os.walk(server.data):
                for name in names:
                    if name != "address":
                        mode = stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode)
                        self.assertEqual(mode & 0o077, 0, f"{name} has mode {mode:o}")

    def test_second_server_on_the_same_data_is_refused(self):
        with Server() as server:
            run = subprocess.run([os.path.join(BIN, "erratad"), "--data", server.data, "--listen",
                                  "127.0.0.1:0"], capture_output=True, text=True, timeout=20)
            self.assertNotEqual(run.returncode, 0)
            self.assertIn(server.data, run.stderr)
            server.client().admin.GetServerInfo(admin.GetServerInfoRequest())

    def refused(self, *arguments):
        with tempfile.TemporaryDirectory() as data:
            run = subprocess.run([os.path.join(BIN, "erratad"), "--data", data, *arguments],
                                 capture_output=True, text=True, timeout=20)
        self.assertNotEqual(run.returncode, 0, arguments)
        return run.stderr

    def test_invalid_flags_are_refused_with_the_expected_form(self):
        self.assertIn("--no-such-flag", self.refused("--no-such-flag"))
        self.assertIn("127.0.0.1:99999", self.refused("--listen", "127.0.0.1:99999"))
        self.assertIn("nonsense", self.refused("--listen", "nonsense"))

    def test_public_address_without_tls_is_refused(self):
        self.assertRegex(self.refused("--listen", "0.0.0.0:0"), "speaks cleartext")

    def test_folder_that_is_not_a_store_is_refused(self):
        """A damaged store is refused with the reason, and unchanged."""
        with Server() as server:
            server.stop()
            for folder, _, names in os.walk(server.data):
                for name in names:
                    if name == "data.mdb":
                        path = os.path.join(folder, name)
            with open(path, "r+b") as f:
                f.write(b"\xa5" * 16384)
            damaged = open(path, "rb").read(16384)
            with self.assertRaises(RuntimeError):
                server.start()
            self.assertEqual(open(path, "rb").read(16384), damaged)
            self.assertGreater(len(server.read_log().strip()), 0)
            server.process = None


class Idempotency(unittest.TestCase):
    def test_repeat_under_a_key_gets_the_first_answer(self):
        """The repeated response is identical, also after a restart; the event is stored once."""
        with Server() as server:
            client = server.client()
            key = [("idempotency-key", "order 7/line 3")]
            path = "/errata.v1.FeedbackService/CaptureFeedbackEvent"
            body = event(after_json='{"qty":12}').SerializeToString()
            first = client.raw(path, body, metadata=key)
            self.assertEqual(first[0], grpc.StatusCode.OK)
            self.assertEqual(client.raw(path, body, metadata=key), first)
            client.close()
            server.stop()
            server.start()
            client = server.client()
            self.assertEqual(client.raw(path, body, metadata=key), first)
            self.assertEqual(len(client.examples("life").examples), 1)

            other = event(after_json='{"qty":13}').SerializeToString()
            self.assertEqual(client.raw(path, other, metadata=key)[0],
                             grpc.StatusCode.ALREADY_EXISTS)
            fresh = client.raw(path, other, metadata=[("idempotency-key", "another")])
            self.assertEqual(fresh[0], grpc.StatusCode.OK)
            for bad in ("", "x" * 129):
                self.assertEqual(client.raw(path, body, metadata=[("idempotency-key", bad)])[0],
                                 grpc.StatusCode.INVALID_ARGUMENT)

    def test_concurrent_repeats_store_one_event(self):
        with Server() as server:
            clients = [server.client() for _ in range(8)]
            answers = []

            def run(client):
                reply = client.feedback.CaptureFeedbackEvent(
                    event(after_json='{"qty":1}'), metadata=[("idempotency-key", "race")])
                answers.append(reply.SerializeToString())

            threads = [threading.Thread(target=run, args=(c,)) for c in clients for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(len(answers), 64)
            self.assertEqual(len(set(answers)), 1)
            self.assertEqual(len(clients[0].examples("life", max_examples=20).examples), 1)


class Drain(unittest.TestCase):
    def test_drain_finishes_running_calls(self):
        """SIGTERM under load: every call gets an answer or a clean refusal; exit code 0."""
        with Server() as server:
            clients = [server.client() for _ in range(4)]
            stored, codes, stop = [], [], threading.Event()

            def run(client):
                number = 0
                while not stop.is_set():
                    number += 1
                    try:
                        reply = client.feedback.CaptureFeedbackEvent(event(after_json='{"n":1}'),
                                                                timeout=10)
                        stored.append(reply.event.id)
                    except grpc.RpcError as e:
                        codes.append(e.code())
                        return

            threads = [threading.Thread(target=run, args=(c,)) for c in clients for _ in range(4)]
            for thread in threads:
                thread.start()
            time.sleep(0.7)
            server.terminate()
            code = server.wait()
            stop.set()
            for thread in threads:
                thread.join()
            server.log.close()
            self.assertEqual(code, 0)
            self.assertLessEqual(set(codes), {grpc.StatusCode.UNAVAILABLE,
                                              grpc.StatusCode.CANCELLED})
            self.assertGreater(len(stored), 20)

            server.start()
            client = server.client()
            kept = set()
            token = ""
            while True:
                page = client.feedback.ListFeedbackEvents(feedback_service.ListFeedbackEventsRequest(
                    layout_fingerprint="life", page_size=1000, page_token=token))
                kept |= {e.id for e in page.events}
                token = page.next_page_token
                if not token:
                    break
            self.assertLessEqual(set(stored), kept, "an acknowledged capture is gone")

    def test_drain_ends_health_and_streams(self):
        """A watcher is notified; a stream that would last forever does not delay the shutdown."""
        with Server() as server:
            client = server.client()
            watch = client.health.Watch(health_pb2.HealthCheckRequest(service=""), timeout=20)
            self.assertEqual(next(watch).status, health_pb2.HealthCheckResponse.SERVING)
            events = client.log.WatchEvents(event_service.WatchEventsRequest(), timeout=20)
            time.sleep(0.2)
            server.terminate()
            start = time.monotonic()
            seen = []
            try:
                for reply in watch:
                    seen.append(reply.status)
            except grpc.RpcError as e:
                self.assertIn(e.code(), (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED))
            self.assertEqual(seen[:1], [health_pb2.HealthCheckResponse.NOT_SERVING])
            with self.assertRaises(grpc.RpcError) as ended:
                next(events)
            self.assertEqual(ended.exception.code(), grpc.StatusCode.UNAVAILABLE)
            self.assertEqual(server.wait(), 0)
            self.assertLess(time.monotonic() - start, 15)
            server.log.close()
            server.process = None


class Hangup(unittest.TestCase):
    """SIGHUP, which a closing terminal sends, does not end the server."""

    LINE = "reload: the configuration was read again"

    def wait_for_lines(self, server, count):
        wait_until(lambda: server.read_log().count(self.LINE) >= count, f"{count} lines", 20)

    def test_hangup_while_serving_changes_nothing(self):
        with Server() as server:
            for count in (1, 2, 3):
                server.process.send_signal(signal.SIGHUP)
                self.wait_for_lines(server, count)
            server.client().capture(event_type=LINE, layout_fingerprint="life")
            self.assertEqual(server.stop(), 0, server.read_log())

    def test_hangup_while_starting_changes_nothing(self):
        """Sends the signal between locking the folder and serving calls."""
        with Server() as first:
            self.assertEqual(first.stop(), 0)
            pid_file = os.path.join(first.data, "errata.pid")
            for _ in range(10):
                os.unlink(pid_file)
                process = subprocess.Popen(
                    [os.path.join(BIN, "erratad"), "--data", first.data, "--listen",
                     "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                try:
                    wait_until(lambda: os.path.exists(pid_file), "the lock", 20, 0.0005)
                    process.send_signal(signal.SIGHUP)
                    lines = ""
                    while "serving on" not in lines and process.poll() is None:
                        lines += process.stdout.readline().decode()
                    process.terminate()
                    lines += process.communicate(timeout=20)[0].decode()
                    self.assertEqual(process.returncode, 0, lines)
                    self.assertIn(self.LINE, lines)
                finally:
                    process.kill()
                    process.wait()
                    process.stdout.close()

    def test_hangup_while_draining_changes_nothing(self):
        """A running call delays the shutdown, and is completed."""
        with Server() as server:
            client = server.client()
            go_on = threading.Event()

            def request():
                yield event(after_json='{"n":1}').SerializeToString()
                go_on.wait(20)

            call = client.plain.stream_unary("/errata.v1.FeedbackService/CaptureFeedbackEvent").future(
                request(), timeout=30, metadata=client.metadata)
            wait_until(lambda: server.counters(client)["calls_live"] > 1, "the call", 20)
            server.terminate()
            wait_until(lambda: "signal 15" in server.read_log(), "the drain", 20)
            server.process.send_signal(signal.SIGHUP)
            self.wait_for_lines(server, 1)
            self.assertIsNone(server.process.poll(), server.read_log())
            go_on.set()
            self.assertGreater(len(call.result(20)), 0)
            self.assertEqual(server.wait(), 0, server.read_log())
            server.log.close()
            server.process = None


class Health(unittest.TestCase):
    def test_health_is_checked_and_watched(self):
        with Server() as server:
            no_one = server.client("")  # health needs no token
            for service in ("", "errata.write", "errata.admin"):
                reply = no_one.health.Check(health_pb2.HealthCheckRequest(service=service))
                self.assertEqual(reply.status, health_pb2.HealthCheckResponse.SERVING, service)
            with self.assertRaises(grpc.RpcError) as unknown:
                no_one.health.Check(health_pb2.HealthCheckRequest(service="no.such"))
            self.assertEqual(unknown.exception.code(), grpc.StatusCode.NOT_FOUND)
            watch = no_one.health.Watch(health_pb2.HealthCheckRequest(service="no.such"), timeout=9)
            self.assertEqual(next(watch).status, health_pb2.HealthCheckResponse.SERVICE_UNKNOWN)
            watch.cancel()

    def test_server_info_counts(self):
        with Server() as server:
            client = server.client()
            for _ in range(3):
                client.examples("x")
            info = client.admin.GetServerInfo(admin.GetServerInfoRequest())
            self.assertTrue(re.fullmatch(r"\d+\.\d+\.\d+", info.version))
            self.assertEqual(info.log_engine, admin.LogEngineKind.Value(f"LOG_ENGINE_KIND_{ENGINE.upper()}"))
            counts = {(m.method, m.code): m.count for m in info.methods}
            self.assertEqual(counts[("errata.v1.PromptService/GetExamples", 0)], 3)
            self.assertTrue(info.counters)


if __name__ == "__main__":
    main()
