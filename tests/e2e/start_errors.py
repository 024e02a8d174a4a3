#!/usr/bin/python3
"""Messages and files of erratad if it cannot start.

Goal: the last line contains the system's reason and the remedy, and a start that fails before the store is opened
leaves nothing.
Method: real starts, each without one requirement: a port, an address, rights, address space, descriptors, a writable
file system.
"""
import os
import pwd
import resource
import shutil
import socket
import subprocess
import tempfile
import unittest

from erratad import BIN, Server, admin, feedback, feedback_service, is_sanitized, main

ERRATAD = os.path.join(BIN, "erratad")
MIB = 1 << 20


def limited(kind, value):
    """For Popen: limits a resource of the process."""
    return lambda: resource.setrlimit(kind, (value, value))


def as_unprivileged():
    """For Popen: drops to the rights of a user who owns nothing."""
    no_one = pwd.getpwnam("nobody")
    os.setgroups([])
    os.setgid(no_one.pw_gid)
    os.setuid(no_one.pw_uid)


needs_root = unittest.skipUnless(os.geteuid() == 0, "only root can become another user or mount")


class StartErrors(unittest.TestCase):
    def setUp(self):
        self.parent = tempfile.mkdtemp(prefix="errata-test-")
        self.addCleanup(shutil.rmtree, self.parent, ignore_errors=True)
        os.chmod(self.parent, 0o755)
        self.data = os.path.join(self.parent, "data")

    def refused(self, *arguments, data=None, preexec_fn=None, listen="127.0.0.1:0", prefix=()):
        """Starts the server, which must fail with status 1; returns its message."""
        run = subprocess.run(
            [*prefix, ERRATAD, "--data", data or self.data, "--listen", listen, *arguments],
            capture_output=True, text=True, timeout=30, preexec_fn=preexec_fn)
        self.assertEqual(run.returncode, 1, run.stderr)
        return run.stderr

    def refused_leaving_nothing(self, *arguments, **how):
        text = self.refused(*arguments, **how)
        self.assertEqual(os.listdir(self.parent), [], text)
        return text

    def test_used_port_is_reported(self):
        """The port is checked before anything is created, so a second start on a free port is a first start."""
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            port = other.getsockname()[1]
            text = self.refused_leaving_nothing(listen=f"127.0.0.1:{port}")
        self.assertIn(f"127.0.0.1:{port}: Address already in use; expected a free port", text)
        with Server(data=self.data) as server:
            self.assertRegex(server.admin_token, "^errata_")

    def test_port_of_another_server_is_reported(self):
        with Server() as first:
            text = self.refused_leaving_nothing(listen=first.address)
            self.assertIn(f"{first.address}: Address already in use", text)

    def test_port_is_reused_after_a_restart(self):
        """Connections that are still being closed do not keep the port from the next start."""
        with Server() as server:
            client = server.client()
            client.admin.GetServerInfo(admin.GetServerInfoRequest())
            address = server.address
            server.stop()  # closes first, so the kernel keeps the connection for a minute
            client.close()
            # The last of two --listen options is used.
            server.arguments += ["--listen", address]
            server.start()
            self.assertEqual(server.address, address)

    def test_foreign_address_is_reported(self):
        text = self.refused_leaving_nothing("--insecure-allow-remote", listen="192.0.2.1:7443")
        self.assertIn("192.0.2.1:7443: Cannot assign requested address; expected an address of this "
                      "host", text)

    @needs_root
    def test_privileged_port_is_reported(self):
        with open("/proc/sys/net/ipv4/ip_unprivileged_port_start", encoding="ascii") as f:
            if int(f.read()) <= 80:
                self.skipTest("every user may have every port here")
        text = self.refused_leaving_nothing(listen="127.0.0.1:80", preexec_fn=as_unprivileged)
        self.assertIn("127.0.0.1:80: Permission denied; expected a port from 1024 on", text)

    def test_too_few_descriptors_are_reported(self):
        text = self.refused_leaving_nothing(preexec_fn=limited(resource.RLIMIT_NOFILE, 16))
        self.assertIn("the limit of open files is 16; expected at least 64", text)
        self.assertIn("ulimit -n", text)

    def test_least_number_of_descriptors_is_enough(self):
        """The number that the message names is enough to serve."""
        server = Server(data=self.data, prefix=["prlimit", "--nofile=64:64"])
        with server:
            server.wait_for_pdf()
            client = server.client()
            client.capture(event_type=feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED,
                           after_json='{"n":1}')
            self.assertTrue(list(client.admin.Verify(admin.VerifyRequest(), timeout=120))[-1]
                            .report.clean)
            client.close()

    @unittest.skipIf(is_sanitized(), "a sanitizer needs more address space than any limit leaves it")
    def test_too_little_address_space_is_reported(self):
        limit = limited(resource.RLIMIT_AS, 2048 * MIB)
        text = self.refused_leaving_nothing(preexec_fn=limit)
        self.assertIn("--map-size: a map of 262144 MiB does not fit into the address space of this "
                      "process, which is limited to 2048 MiB (ulimit -v); expected at most about "
                      "512 MiB", text)

    @unittest.skipIf(is_sanitized(), "a sanitizer needs more address space than any limit leaves it")
    def test_map_that_fits_is_accepted(self):
        """A store of the size that the message names can be served, verified and rebuilt within the
        limit."""
        limit = ["prlimit", f"--as={2048 * MIB}"]
        server = Server(data=self.data, arguments=["--map-size", "512MiB"], prefix=limit)
        with server:
            client = server.client()
            events = [feedback.FeedbackEvent(
                event_type=feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED, actor_user_id="ada",
                layout_fingerprint=f"layout-{n % 7}", after_json='{"text":"%s"}' % ("x" * 4000))
                for n in range(500)]
            for event in events:
                client.feedback.CaptureFeedbackEvent(feedback_service.CaptureFeedbackEventRequest(event=event))
            report = list(client.admin.Verify(admin.VerifyRequest(), timeout=120))[-1].report
            self.assertTrue(report.clean, report)
            client.close()
            server.stop()
            subprocess.run([*limit, ERRATAD, "--rebuild", "--data", self.data, "--map-size",
                            "512MiB"], check=True, capture_output=True, timeout=60)

    def test_missing_parent_is_reported(self):
        text = self.refused_leaving_nothing(data=os.path.join(self.data, "deep", "down"))
        self.assertIn("No such file or directory; create its parent folders first", text)

    def test_data_path_of_a_file_is_reported(self):
        with open(self.data, "wb"):
            pass
        self.assertIn(f"{self.data}: cannot be opened: Not a directory; expected the path of a folder",
                      self.refused())
        self.assertEqual(os.path.getsize(self.data), 0)

    @needs_root
    def test_folder_of_another_user_is_reported(self):
        os.mkdir(self.data, 0o755)
        text = self.refused(preexec_fn=as_unprivileged)
        self.assertIn(f"{self.data}/errata.pid: cannot be opened: Permission denied; let the user",
                      text)
        self.assertEqual(os.listdir(self.data), [])

    @needs_root
    def test_parent_of_another_user_is_reported(self):
        text = self.refused_leaving_nothing(preexec_fn=as_unprivileged)
        self.assertIn(f"{self.data}: cannot create or open the data folder: Permission denied; "
                      "let the user", text)

    def read_only(self, data):
        """Starts it on a folder below a mount that was made read-only."""
        mount = ["unshare", "-m", "sh", "-c"]
        if subprocess.run([*mount, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("mounting needs privileges that this process lacks")
        return self.refused(data=data, prefix=[
            *mount, 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"',
            self.parent])

    def test_read_only_file_system_is_reported(self):
        self.assertIn("cannot create or open the data folder: Read-only file system; mount the "
                      "file system for writing", self.read_only(self.data))
        with Server(data=self.data) as server:
            server.stop()
        self.assertIn("errata.pid: cannot be opened: Read-only file system; mount the file system "
                      "for writing", self.read_only(self.data))

    def test_folder_in_use_is_reported_before_its_port(self):
        """The folder is locked before it is read: a free port, and a folder that another server
        uses."""
        with Server(data=self.data) as server:
            self.assertIn(f"{self.data}: in use by process {server.process.pid}",
                          self.refused())


if __name__ == "__main__":
    main()
