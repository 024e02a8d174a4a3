"""`erratad --rebuild` on a disk that fails on request: after any failure, the next server finds the
old store or the new one, complete, and no other file.
"""
import os
import shutil
import tempfile

import disk_fixture

STEPS = 20
EXIT_CODES = (0, 1, -9)  # rebuilt, not rebuilt, killed
LEFTOVERS = {"db.old", "db.new", "rebuild"}


def is_folder(path, inode):
    try:
        return os.stat(path).st_ino == inode
    except FileNotFoundError:
        return False


class Rebuild:
    """A data folder with a load's writes, of which each run gets a copy."""

    def __init__(self, disk):
        self.disk = disk
        self.outcome = None  # result of the last run
        self.load = disk_fixture.Load(disk_fixture.make_steps(STEPS, False), disk)
        self.template = tempfile.mkdtemp(prefix="errata-rebuild-")
        server = disk_fixture.FaultServer(self.template)
        self.load.client, _ = disk_fixture.recover(server)
        for step in self.load.steps:
            self.load.do(step)
        self.load.client.close()
        server.close()
        os.unlink(os.path.join(self.template, "reserve"))

    def run(self, recoveries, **how):
        """Rebuilds a copy while the disk fails as `how` specifies, and starts the server on it; returns the problems."""
        server = disk_fixture.FaultServer()
        try:
            shutil.copytree(self.template, server.data, dirs_exist_ok=True)
            old = os.stat(os.path.join(server.data, "db")).st_ino
            rebuild = server.run_rebuild(self.disk.environment(server.data, **how))
            self.outcome = "rebuilt" if rebuild.returncode == 0 else "not rebuilt"
            moved = not is_folder(os.path.join(server.data, "db"), old)
            problems = self.check(server, recoveries)
            if moved and "is unchanged" in rebuild.stderr:
                problems.append("it reported the store as unchanged, but another one was there")
            if rebuild.returncode not in EXIT_CODES:
                problems.append(f"the rebuild ended with {rebuild.returncode}: {rebuild.stderr}")
            if rebuild.returncode == 1 and "not rebuilt" not in rebuild.stderr:
                problems.append(f"it did not say why it is not rebuilt: {rebuild.stderr}")
            return problems
        except (disk_fixture.Hang, AssertionError, disk_fixture.grpc.RpcError) as e:
            return [f"{type(e).__name__}: {e}"]
        finally:
            if server.process is not None:
                server.kill9()
            server.close()

    def check(self, server, recoveries):
        client, seconds = disk_fixture.recover(server)
        recoveries.append(seconds)
        self.load.client, self.load.problems = client, []
        problems = disk_fixture.check_stored(client, self.load.steps)
        disk_fixture.repeat_all(self.load)
        problems += self.load.problems + disk_fixture.check_stored(client, self.load.steps)
        client.close()
        left = LEFTOVERS & set(os.listdir(server.data))
        return problems + [f"{name} was left" for name in left]

    def close(self):
        shutil.rmtree(self.template)
