#!/usr/bin/python3
"""pdf_flow.py [--long]: jobs that are cancelled, queues that are full, and processes that die.

Goal: a document's job ends with its call, runs in its turn, and does not affect other calls; a
process that dies is restarted or reported. Method: real signals to the worker, its children and the
server; the processes are inspected from outside. --long adds cases that take a job's whole time.
"""
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import grpc

import pdf_data
from erratad import (BIN, WORKER, Server, ServerCase, children, feedback, has_retry_info,
                     health_pb2, is_sanitized, layout, main, process_name, reason_of, roles,
                     wait_until)
from errata.v1 import warning_pb2

LONG = "--long" in sys.argv
if LONG:
    sys.argv.remove("--long")

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
FAKE_WORKER = os.path.join(BIN, "pdf_fake_worker")  # tests/unit/pdf_jobs/worker
STARVED_SECONDS = 3  # time spent waiting for a CPU, out of the 8 s of a document
SOON_SECONDS = 4  # from a cancel to the end of its process, on a busy machine; a child that hangs is ended after 8 s
ORG_JOBS_MAX = 128
MIB = 1 << 20


def ingest_later(client, document_id, content, **call):
    return client.layouts.IngestDocument.future(layout.IngestDocumentRequest(
        document_id=document_id, content=content), **call)


def code_of(call):
    """Returns the status code of a background call."""
    try:
        call.result()
        return grpc.StatusCode.OK
    except grpc.FutureCancelledError:
        return grpc.StatusCode.CANCELLED
    except grpc.RpcError as e:
        return e.code()


def is_gone(pid):
    """Returns whether the process has ended; it may be a zombie until its parent waits for it."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return f.read().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def cpu_times(pid):
    """Returns a process's state, and the seconds that it has waited for a processor; None if it has
    ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            state = f.read().rsplit(")", 1)[1].split()[0]
        with open(f"/proc/{pid}/schedstat", encoding="ascii") as f:
            return state, int(f.read().split()[1]) / 1e9
    except OSError:
        return None


class FlowCase(unittest.TestCase):
    """Each test has a server of its own."""

    def serve(self, **kwargs):
        self.server = Server(**kwargs).start()
        self.addCleanup(self.server.close)
        self.client = self.server.client()
        self.addCleanup(self.client.close)
        return self.server

    def client_of_a_new_org(self):
        org = self.client.create_org("flow-" + secrets.token_hex(4))
        client = self.server.client(self.client.create_token(roles.ROLE_SERVICE,
                                                             org_id=org.id).secret)
        self.addCleanup(client.close)
        return client

    def start_slow(self, document_id="slow", client=None, **call):
        """Starts a job that runs for seconds; returns (the call, its child's process id)."""
        before = set(self.server.jobs())
        future = ingest_later(client or self.client, document_id, pdf_data.slow(), **call)
        found = wait_until(lambda: set(self.server.jobs()) - before, "the job's child")
        return future, found.pop()

    def counter(self, name):
        return self.server.counters(self.client)[name]

    def assert_works(self, document_id="works"):
        self.assertEqual(self.client.ingest(document_id, pdf_data.small()).document.page_count, 1)


class Cancelled(FlowCase):
    def assert_ended_soon(self, pid, since):
        wait_until(lambda: is_gone(pid), "the child to end", 5)
        self.assertLess(time.monotonic() - since, SOON_SECONDS)
        wait_until(lambda: self.counter("pdf_jobs_live") == 0, "the job to end")
        self.assertEqual(self.counter("pdf_held_bytes"), 0)

    def test_cancelled_call_ends_its_job(self):
        """Cancel, a deadline, and a connection that closes: each ends the job's process at once."""
        self.serve().wait_for_pdf()
        worker = self.server.worker()
        future, child = self.start_slow()
        since = time.monotonic()
        future.cancel()
        self.assert_ended_soon(child, since)

        since = time.monotonic()
        future, child = self.start_slow(timeout=0.7)
        self.assertEqual(code_of(future), grpc.StatusCode.DEADLINE_EXCEEDED)
        self.assert_ended_soon(child, since + 0.7)

        other = self.server.client()
        _, child = self.start_slow(client=other)
        since = time.monotonic()
        other.close()
        self.assert_ended_soon(child, since)

        self.assertEqual(self.counter("pdf_cancelled_total"), 3)
        self.assertEqual(self.server.worker(), worker)
        self.assert_works("slow")

    def test_cancelled_queue_and_stream_leave_nothing(self):
        """Waiting and arriving documents are dropped, and their memory is released."""
        self.serve(arguments=["--pdf-slots", "1"]).wait_for_pdf()
        running, child = self.start_slow()
        waiting = [ingest_later(self.client, f"w-{i}", pdf_data.small(i)) for i in range(10)]
        wait_until(lambda: self.counter("pdf_jobs_live") == 11, "ten to wait")
        for call in waiting:
            call.cancel()
        wait_until(lambda: self.counter("pdf_jobs_live") == 1, "them to be forgotten")
        go_on = threading.Event()

        def half():
            yield layout.IngestDocumentStreamRequest(document_id="half")
            for _ in range(64):
                yield layout.IngestDocumentStreamRequest(content=b"x" * 131072)
            go_on.wait(20)

        stream = self.client.layouts.IngestDocumentStream.future(half())
        held = len(pdf_data.slow()) + 8 * MIB
        wait_until(lambda: self.counter("pdf_held_bytes") >= held, "8 MiB to arrive")
        stream.cancel()
        wait_until(lambda: self.counter("pdf_held_bytes") < 8 * MIB, "them to be given back")
        go_on.set()
        since = time.monotonic()
        running.cancel()
        self.assert_ended_soon(child, since)
        with self.assertRaises(grpc.RpcError):
            self.client.document("half")


class Queue(FlowCase):
    def test_full_queue_of_one_organisation_admits_others(self):
        """RESOURCE_EXHAUSTED with RetryInfo beyond the bound; another organisation is still served."""
        self.serve(arguments=["--pdf-slots", "1"]).wait_for_pdf()
        other = self.client_of_a_new_org()
        slow, _ = self.start_slow()
        content = pdf_data.small()
        clients = [self.server.client() for _ in range(4)]  # a connection has 100 calls at once
        calls = [ingest_later(clients[i % 4], f"q-{i}", content, timeout=60)
                 for i in range(ORG_JOBS_MAX + 20)]
        refused = wait_until(lambda: [c for c in calls if c.done()][:21], "some to be refused")
        wait_until(lambda: sum(c.done() for c in calls) == 21, "no more to be taken")
        for call in refused:
            error = call.exception()
            self.assertEqual(error.code(), grpc.StatusCode.RESOURCE_EXHAUSTED, error.details())
            self.assertTrue(has_retry_info(error))
        taken = ingest_later(other, "other", content, timeout=60)
        slow.cancel()
        self.assertEqual(code_of(taken), grpc.StatusCode.OK)
        codes = [code_of(call) for call in calls]
        self.assertEqual(codes.count(grpc.StatusCode.OK), ORG_JOBS_MAX - 1)
        self.assertEqual(self.counter("pdf_busy_total"), 21)
        wait_until(lambda: self.counter("pdf_jobs_live") == 0, "the queue to be empty")
        for client in clients:
            client.close()

    def test_bytes_of_one_organisation_are_bounded(self):
        """Half of all bytes held may be one organisation's: the third of 60 MiB waits outside."""
        self.serve(arguments=["--pdf-slots", "1"]).wait_for_pdf()
        slow, _ = self.start_slow()
        content = pdf_data.padded(60 * MIB)
        answers = []

        def send(number):
            client = self.server.client()
            try:
                client.ingest_stream(f"b-{number}", content, timeout=60)
                answers.append(None)
            except grpc.RpcError as e:
                answers.append(e)
            client.close()

        threads = [threading.Thread(target=send, args=(i,)) for i in range(3)]
        for thread in threads:
            thread.start()
        wait_until(lambda: answers, "one of them to be refused", 20)
        self.assertEqual(answers[0].code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
        self.assertTrue(has_retry_info(answers[0]))
        other = self.client_of_a_new_org()
        taken = ingest_later(other, "other", pdf_data.small(), timeout=60)
        slow.cancel()
        self.assertEqual(code_of(taken), grpc.StatusCode.OK)
        for thread in threads:
            thread.join()
        self.assertEqual(answers[1:], [None, None])
        self.assertEqual(self.counter("pdf_held_bytes"), 0)

    def test_organisations_are_served_round_robin(self):
        """Five documents of an organisation do not wait for a hundred of another one that were sent
        before."""
        self.serve(arguments=["--pdf-slots", "1"]).wait_for_pdf()
        other = self.client_of_a_new_org()
        done = []
        many = []
        for i in range(100):
            call = ingest_later(self.client, f"many-{i}", pdf_data.small(i), timeout=100)
            call.add_done_callback(lambda _: done.append("many"))
            many.append(call)
        slow, _ = self.start_slow(client=self.client_of_a_new_org())
        few = []
        for i in range(5):
            call = ingest_later(other, f"few-{i}", pdf_data.small(i), timeout=100)
            call.add_done_callback(lambda _: done.append("few"))
            few.append(call)
        wait_until(lambda: self.counter("pdf_jobs_live") >= 6, "all to be queued")
        at = len(done)
        slow.cancel()
        for call in [*few, *many]:
            self.assertEqual(code_of(call), grpc.StatusCode.OK)
        wait_until(lambda: len(done) == 105, "every callback")
        last = max(i for i, who in enumerate(done) if who == "few")
        self.assertLess(done[at:last].count("many"), 30, done)


class Sandbox(FlowCase):
    def test_child_has_its_restrictions(self):
        """The idle class, no new privileges, a system call filter, limits, and no stray descriptor."""
        self.serve().wait_for_pdf()
        future, child = self.start_slow()
        # The child closes its sandbox in its first millisecond; half a second is enough on any machine.
        time.sleep(0.5)
        self.assertEqual(os.sched_getscheduler(child), os.SCHED_IDLE)
        self.assertEqual(os.sched_getscheduler(self.server.process.pid), os.SCHED_OTHER)
        if not is_sanitized():
            self.check_sandbox(child)
        future.cancel()

    def check_sandbox(self, child):
        with open(f"/proc/{child}/status", encoding="ascii") as f:
            status = dict(line.split(":", 1) for line in f)
        self.assertEqual((status["Seccomp"].strip(), status["NoNewPrivs"].strip()), ("2", "1"))
        with open(f"/proc/{child}/limits", encoding="ascii") as f:
            limits = {line[:26].strip(): line[26:].split()[:2] for line in f}
        self.assertEqual(limits["Max address space"], [str(512 * MIB)] * 2)
        self.assertEqual(limits["Max cpu time"], ["5", "6"])
        for name in ("Max file size", "Max core file size", "Max processes", "Max locked memory"):
            self.assertEqual(limits[name], ["0", "0"], name)
        if os.geteuid() != 0:
            return  # only root may read the descriptors of such a process
        links = [os.readlink(f"/proc/{child}/fd/{fd}") for fd in os.listdir(f"/proc/{child}/fd")]
        self.assertEqual([link for link in links if link.startswith("socket:")], [], links)
        self.assertLessEqual(len(links), 8, links)
        self.assertFalse(any(self.server.data in link for link in links), links)


class Deaths(FlowCase):
    def test_dead_child_fails_only_its_document(self):
        """Only the call of the dead child fails, immediately; the fork server continues."""
        self.serve().wait_for_pdf()
        worker = self.server.worker()
        # SIGKILL comes from outside, as from a machine without memory: not the document's fault.
        for signal_number, code, reason in (
                (signal.SIGSEGV, grpc.StatusCode.INVALID_ARGUMENT, "CRASHED"),
                (signal.SIGKILL, grpc.StatusCode.UNAVAILABLE, "UNAVAILABLE")):
            future, child = self.start_slow()
            os.kill(child, signal_number)
            since = time.monotonic()
            error = future.exception()
            self.assertEqual(error.code(), code)
            self.assertEqual(reason_of(error), reason)
            self.assertLess(time.monotonic() - since, SOON_SECONDS)
        self.assert_works()
        self.assertEqual((self.server.worker(), self.server.pdf_health()), (worker, SERVING))

    def test_dead_fork_server_is_restarted(self):
        """Health reports it; jobs are UNAVAILABLE, and their children have ended; then everything works as before."""
        self.serve().wait_for_pdf()
        watch = self.client.health.Watch(health_pb2.HealthCheckRequest(service="errata.pdf"),
                                         timeout=30)
        self.assertEqual(next(watch).status, SERVING)
        future, child = self.start_slow()
        worker = self.server.worker()
        os.kill(worker, signal.SIGKILL)
        self.assertEqual([next(watch).status, next(watch).status], [NOT_SERVING, SERVING])
        watch.cancel()
        error = future.exception()
        self.assertEqual(error.code(), grpc.StatusCode.UNAVAILABLE, error.details())
        self.assertTrue(has_retry_info(error))
        wait_until(lambda: is_gone(child) and is_gone(worker), "both to be gone")
        self.assert_works("slow")
        self.assertNotEqual(self.server.worker(), worker)
        self.assertEqual(self.counter("pdf_worker_starts_total"), 2)

    def test_worker_that_dies_repeatedly_is_restarted(self):
        """The pause before a start grows; lookups and captures are not affected."""
        self.serve().wait_for_pdf()
        times = []
        for _ in range(4):
            worker = wait_until(self.server.worker, "the worker")
            os.kill(worker, signal.SIGKILL)
            since = time.monotonic()
            wait_until(lambda: self.server.worker() not in (None, worker), "another", 10)
            times.append(time.monotonic() - since)
            self.client.capture(event_type=LINE, layout_fingerprint="x", after_json='{"a":1}')
        self.assertGreater(times[3], times[0])
        self.server.wait_for_pdf()
        self.assert_works()

    def test_dead_server_leaves_no_worker(self):
        """After kill -9 the worker and its children have ended, too; acknowledged data is present after a restart."""
        self.serve().wait_for_pdf()
        stored = self.client.ingest("stored", pdf_data.small())
        _, child = self.start_slow()
        worker = self.server.worker()
        self.server.kill9()
        wait_until(lambda: is_gone(worker) and is_gone(child), "all of it to be gone", 5)
        self.server.start().wait_for_pdf()
        client = self.server.client()
        self.addCleanup(client.close)
        self.assertEqual(client.document("stored"), stored.document)
        self.assertEqual(client.ingest("stored", pdf_data.small()), stored)
        self.assertEqual(client.ingest("slow", pdf_data.small(1)).profile.seen_count, 2)

    def test_a_drain_leaves_nothing(self):
        """SIGTERM while documents are measured: they are answered or refused; exit 0; no process."""
        self.serve(arguments=["--drain-timeout", "1s"]).wait_for_pdf()
        worker = self.server.worker()
        future, child = self.start_slow()
        small = [ingest_later(self.client, f"d-{i}", pdf_data.small(i)) for i in range(20)]
        time.sleep(0.1)
        self.server.terminate()
        self.assertEqual(self.server.wait(), 0)
        self.assertTrue(is_gone(worker) and is_gone(child))
        self.assertIn(code_of(future), (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED))
        self.assertLessEqual({code_of(c) for c in small},
                             {grpc.StatusCode.OK, grpc.StatusCode.UNAVAILABLE,
                              grpc.StatusCode.CANCELLED})
        self.assertNotIn("unexpected", self.server.read_log())

    def start_stopped(self):
        """A job whose child has stopped before its text was read, after it had waited little for a processor:
        returns (the call, the time). On a busy machine this may take several jobs."""
        for number in range(10):
            future, child = self.start_slow(f"stopped-{number}")
            os.kill(child, signal.SIGSTOP)
            wait_until(lambda pid=child: cpu_times(pid) is None or cpu_times(pid)[0] == "T", "the child to stop")
            found = cpu_times(child)
            if found is not None and found[1] < STARVED_SECONDS / 2:
                return future, time.monotonic()
            future.cancel()
        self.fail("this machine gives a child no processor")

    @unittest.skipUnless(LONG, "takes a job's whole time; --long runs it")
    def test_hanging_worker_is_replaced(self):
        """A child that does nothing is killed after 8 s; a fork server that does nothing, too."""
        self.serve().wait_for_pdf()
        future, since = self.start_stopped()
        error = future.exception()
        self.assertLess(time.monotonic() - since, 11)
        # The process did not wait for a CPU, so the machine is not the reason for the missing text.
        self.assertEqual(error.code(), grpc.StatusCode.INVALID_ARGUMENT, error.details())
        self.assertEqual(reason_of(error), "TEXT_LIMIT")
        self.assert_works("child")
        os.kill(self.server.worker(), signal.SIGSTOP)
        since = time.monotonic()
        error = ingest_later(self.client, "stopped", pdf_data.small()).exception()
        self.assertEqual(error.code(), grpc.StatusCode.UNAVAILABLE, error.details())
        self.assertLess(time.monotonic() - since, 12)
        self.server.wait_for_pdf(30)
        self.assert_works("stopped")


class Busy(FlowCase):
    """A worker that reports for each document that the machine lacked CPU time for it."""

    def setUp(self):
        self.serve(arguments=("--pdf-worker", FAKE_WORKER, "--pdf-slots", "1")).wait_for_pdf()

    def assert_to_be_repeated(self, client, document_id, content):
        error = ingest_later(client, document_id, content).exception()
        self.assertEqual(error.code(), grpc.StatusCode.UNAVAILABLE, error.details())
        self.assertIn("lacked CPU time", error.details())
        self.assertTrue(has_retry_info(error))

    def test_second_attempt_without_text_is_refused(self):
        """The second attempt without text refuses the document under any id; other documents are not affected."""
        other = self.client_of_a_new_org()
        self.assert_to_be_repeated(self.client, "one", b"server-starved")
        self.assert_to_be_repeated(other, "one", b"server-starved")
        for document_id in ("one", "two"):
            error = ingest_later(self.client, document_id, b"server-starved").exception()
            self.assertEqual(error.code(), grpc.StatusCode.INVALID_ARGUMENT, error.details())
            self.assertEqual(reason_of(error), "WALL_LIMIT")
            self.assertTrue(error.details().startswith("wall_limit: "), error.details())
            self.assertFalse(has_retry_info(error))
        self.assert_to_be_repeated(self.client, "three", b"half server-starved")

    def test_starved_document_keeps_its_text(self):
        """The second attempt with text stores the document without a fingerprint, since a time limit must not determine
        one."""
        self.assert_to_be_repeated(self.client, "text", b"text server-starved")
        stored = self.client.layouts.IngestDocument(layout.IngestDocumentRequest(
            document_id="text", content=b"text server-starved")).document
        self.assertFalse(stored.HasField("layout_fingerprint"))
        self.assertIn(warning_pb2.WARNING_CODE_RULINGS_LIMIT, [w.code for w in stored.warnings])

    def test_command_ends_on_a_busy_server(self):
        """The command waits for the retry delay, sends the file again once, and reports the result."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "bomb.pdf")
            with open(path, "wb") as f:
                f.write(b"server-starved")
            run = subprocess.run([os.path.join(BIN, "errata"), "layouts", "ingest", path,
                                  "--server", self.server.address,
                                  "--token-file", os.path.join(self.server.data, "admin.token")],
                                 capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 1, run)
        self.assertIn("wall_limit", run.stdout + run.stderr)
        self.assertEqual(self.counter("pdf_failed_total"), 1)
        self.assertEqual(self.counter("pdf_refused_total"), 1)


class WithoutWorker(FlowCase):
    """The server does not depend on the program that reads PDFs."""

    def assert_serves_the_rest(self):
        for ingest in (self.client.ingest, self.client.ingest_stream):
            with self.assertRaises(grpc.RpcError) as caught:
                ingest("x", pdf_data.small())
            self.assertEqual(caught.exception.code(), grpc.StatusCode.UNAVAILABLE)
        self.client.capture(event_type=LINE, layout_fingerprint="f", document_id="x",
                            after_json='{"a":1}')
        self.assertEqual(len(self.client.examples("f").examples), 1)
        self.assertEqual(len(self.client.layouts.ListProfiles(
            layout.ListProfilesRequest()).profiles), 0)
        for service, status in (("", SERVING), ("errata.write", SERVING),
                                ("errata.pdf", NOT_SERVING)):
            self.assertEqual(self.client.health.Check(
                health_pb2.HealthCheckRequest(service=service)).status, status, service)

    def test_missing_worker_refuses_documents(self):
        """erratad by itself in a folder."""
        folder = tempfile.mkdtemp(prefix="errata-test-")
        self.addCleanup(shutil.rmtree, folder)
        program = shutil.copy(os.path.join(BIN, "erratad"), folder)
        self.serve(program=program)
        self.assert_serves_the_rest()
        self.assertIn(WORKER, self.server.read_log())

    def test_wrong_worker_program_refuses_documents(self):
        """A program that ends immediately, and one that never becomes ready."""
        for program in ("/bin/true", "/bin/cat"):
            with self.subTest(program=program):
                self.serve(arguments=["--pdf-worker", program])
                time.sleep(1)
                self.assert_serves_the_rest()
                self.assertLess(self.counter("pdf_worker_starts_total"), 8)
                self.assertEqual(self.server.close(), 0)


class Scheduling(ServerCase):
    def test_there_is_one_worker_with_its_name(self):
        """The fork server is a child of only erratad, and has no children without work."""
        worker = self.server.worker()
        self.assertEqual(children(self.server.process.pid), [worker])
        self.assertEqual(process_name(worker), WORKER[:15])
        self.assertEqual(children(worker), [])


if __name__ == "__main__":
    main()
