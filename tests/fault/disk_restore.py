"""`erratad --restore` on a disk that fails on request: after any failure, the folder has no store,
or the complete one; without a store, a second restore succeeds.
"""
import os
import subprocess

import disk_rebuild
import disk_fixture

EXIT_CODES = (0, 1, 65, -9)  # restored, not restored, corrupt data, killed
UNFINISHED = {"db.new"}


class Restore(disk_rebuild.Rebuild):
    """A backup of a data folder with a load's writes, which each run restores into an empty folder."""

    def __init__(self, disk):
        super().__init__(disk)
        self.backup = os.path.join(self.template, "backup")
        server = disk_fixture.FaultServer(self.template)
        client, _ = disk_fixture.recover(server)
        client.close()
        subprocess.run([os.path.join(disk_fixture.BIN, "errata"), "admin", "backup", self.backup,
                        "--server", server.address, "--token-file",
                        os.path.join(self.template, "admin.token")], check=True,
                       capture_output=True, timeout=60)
        self.token = server.admin_token
        server.close()

    def restore(self, server, environment):
        return subprocess.run([server.program, "--restore", self.backup, "--data", server.data],
                              env={**os.environ, **environment}, capture_output=True,
                              encoding="utf-8", timeout=60, check=False)

    def run(self, recoveries, **how):
        """Restores while the disk fails as `how` specifies, and starts a server on the result; returns the problems."""
        server = disk_fixture.FaultServer()
        problems = []
        try:
            done = self.restore(server, self.disk.environment(server.data, **how))
            self.outcome = "restored" if done.returncode == 0 else "not restored"
            names = set(os.listdir(server.data))
            if "db" not in names:
                if done.returncode == 0:
                    problems.append("it said that the store is restored, and there is none")
                if not names <= UNFINISHED:
                    problems.append(f"{names - UNFINISHED} was left")
                again = self.restore(server, {})
                if again.returncode != 0:
                    problems.append(f"restoring again ended with {again.returncode}: {again.stderr}")
            if done.returncode not in EXIT_CODES:
                problems.append(f"it ended with {done.returncode}: {done.stderr}")
            if done.returncode > 0 and "not restored: " not in done.stderr:
                problems.append(f"it did not say why it is not restored: {done.stderr}")
            with open(os.path.join(server.data, "admin.token"), "w", encoding="ascii") as f:
                f.write(self.token)
            return problems + self.check(server, recoveries)
        except (disk_fixture.Hang, AssertionError, disk_fixture.grpc.RpcError) as e:
            return problems + [f"{type(e).__name__}: {e}"]
        finally:
            if server.process is not None:
                server.kill9()
            server.close()
