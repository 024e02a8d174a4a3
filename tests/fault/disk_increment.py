"""`erratad --restore` of an increment on a disk that fails on request: after any failure the store is as before, or no
server starts on it until the restore was run again; then it is whole.
"""
import os
import shutil
import subprocess
import tempfile

import disk_fixture
import disk_deletion
from erratad import organization
from increment_file import records

ERRATA = os.path.join(disk_fixture.BIN, "errata")
MARKED = "the restore of an increment was interrupted"
STEPS = 12


class Increment(disk_deletion.Deletion):
    """A restored backup, and an increment after it: captures, and the deletion of an organisation that the backup has."""

    def __init__(self, disk):
        super().__init__(disk)
        self.found = {"before it began": 0, "within": 0, "after its end": 0}
        self.folder = tempfile.mkdtemp(prefix="errata-increment-")
        server = disk_fixture.FaultServer(self.template)
        client, _ = disk_fixture.recover(server)
        self.token = server.admin_token
        self.back_up(server, "whole")
        load = disk_fixture.Load(disk_fixture.make_steps(STEPS, False), disk)
        load.client = client
        for step in load.steps:
            load.do(step)
        self.begin(client)
        self.wait_for_end(client)
        self.back_up(server, "one", "--since", self.path("whole"))
        client.close()
        server.close()
        shutil.rmtree(self.template)
        self.restore("whole", self.template)

    def path(self, name):
        return os.path.join(self.folder, name)

    def back_up(self, server, name, *words):
        subprocess.run([ERRATA, "admin", "backup", self.path(name), "--force", *words, "--server", server.address,
                        "--token-file", os.path.join(server.data, "admin.token")], check=True, capture_output=True,
                       timeout=60)

    def restore(self, name, data, environment=None):
        return subprocess.run([os.path.join(disk_fixture.BIN, "erratad"), "--restore", self.path(name), "--data", data],
                              env={**os.environ, **(environment or {})}, capture_output=True, encoding="utf-8",
                              timeout=60, check=False)

    def run(self, recoveries, **how):
        server = self.copy()
        problems = []
        try:
            done = self.restore("one", server.data, self.disk.environment(server.data, **how))
            if done.returncode > 0 and "not restored: " not in done.stderr:
                problems.append(f"it did not say why it is not restored: {done.stderr}")
            problems += self.look(server, done.returncode == 0)
            again = self.restore("one", server.data)
            if again.returncode != 0:
                return problems + [f"restoring again ended with {again.returncode}: {again.stderr}"]
            with open(os.path.join(server.data, "admin.token"), "w", encoding="ascii") as f:
                f.write(self.token)
            client, seconds = disk_fixture.recover(server)
            recoveries.append(seconds)
            client.close()
            self.back_up(server, "again", "--since", self.path("whole"))
            if records(self.path("again")) != records(self.path("one")):
                problems.append("the store has other events than the one that it was made of")
            return problems + self.verify(server)
        except (disk_fixture.Hang, AssertionError, subprocess.SubprocessError, disk_fixture.grpc.RpcError) as e:
            return problems + [f"{type(e).__name__}: {e}"]
        finally:
            if server.process is not None:
                server.kill9()
            server.close()

    def look(self, server, is_done):
        """Looks in a copy at how far the restore came: a server starts on a whole store only."""
        data = self.path("look")
        shutil.copytree(server.data, data)
        started = disk_fixture.FaultServer(data)
        try:
            code = started.launch({})
            if code is None:
                self.found["after its end" if is_done else "before it began"] += 1
                return []
            if is_done or MARKED not in started.read_log():
                return [f"the next server ended with {code}: {started.read_log()[-300:]}"]
            self.found["within"] += 1
            return []
        finally:
            if started.process is not None:
                started.kill9()
            started.close()
            shutil.rmtree(data, ignore_errors=True)

    def verify(self, server):
        done = subprocess.run([ERRATA, "admin", "verify", "--server", server.address, "--token-file",
                               os.path.join(server.data, "admin.token")], capture_output=True, text=True, timeout=60,
                              check=False)
        return [] if "everything holds" in done.stdout else [f"verify: {done.stdout} {done.stderr}"]

    def close(self):
        super().close()
        shutil.rmtree(self.folder, ignore_errors=True)
