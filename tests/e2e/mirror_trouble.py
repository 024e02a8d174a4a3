#!/usr/bin/python3
"""`errata decisions mirror` in trouble: killed runs, changes of others, older backups, hostile texts and configurations.

Goal: no change is lost or repeated, whenever a run is killed; nothing of others is overwritten; no text of a reviewer,
a git configuration or an environment can run a program. Method: a real server and git; runs that are killed at random
moments with their processes of git; a restored backup.
"""
import os
import random
import shutil
import signal
import subprocess
import time

from erratad import Server, decision, decision_service, main
from errata_cli import ERRATA
from mirror import MirrorCase

APPROVED = decision.DECISION_OUTCOME_APPROVED
EDGE = decision.DECISION_CLASS_EDGE_CASE
KILLS = int(os.environ.get("MIRROR_KILLS", "5"))


class Refused(MirrorCase):
    def expect_refused(self, what, *words, **options):
        self.assertIn(what, " ".join(self.run_mirror(*words, expected=4, **options).split()))

    def test_foreign_folders_are_refused(self):
        os.mkdir(self.folder)
        with open(os.path.join(self.folder, "notes.txt"), "w", encoding="ascii") as f:
            f.write("mine")
        self.expect_refused("has files, and is not a git repository")
        self.git("init", "-q", "-b", "main")
        self.expect_refused("has files, and no commit of a mirror")
        self.git("add", ".")
        self.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "mine")
        self.expect_refused("was not made by `errata decisions mirror`")
        self.assertEqual(self.git("status", "--porcelain"), "")
        self.expect_refused("can't be opened", os.path.join(self.folder, "notes.txt"))

    def test_folders_of_other_users_are_refused(self):
        """Nothing that their configuration of git names is run; own files are for the owner only."""
        marker = os.path.join(self.home, "ran")
        self.record()
        if os.geteuid() != 0:
            self.expect_refused("belongs to another user", "/usr")
        else:
            self.run_mirror()
            self.git("config", "filter.x.clean", f"touch {marker}; cat")
            os.makedirs(os.path.join(self.folder, ".git", "info"), exist_ok=True)
            with open(os.path.join(self.folder, ".git", "info", "attributes"), "w", encoding="ascii") as f:
                f.write("* filter=x\n")
            for directory, _, names in os.walk(self.folder):
                for name in names:
                    os.utime(os.path.join(directory, name))
            for path in (self.folder, os.path.join(self.folder, ".git")):
                os.chown(path, 65534, -1)
                self.expect_refused("belongs to another user")
                os.chown(path, os.geteuid(), -1)
        self.assertFalse(os.path.exists(marker))
        self.folder += "-own"
        self.run_mirror()
        for directory, folders, names in os.walk(self.folder):
            for name in (*folders, *names, "."):
                self.assertEqual(os.stat(os.path.join(directory, name)).st_mode & 0o077, 0, name)

    def test_changes_of_others_are_reported(self):
        name = self.record() + ".json"
        self.run_mirror()
        path = os.path.join(self.folder, "decisions", name)
        with open(path, "a", encoding="ascii") as f:
            f.write("changed")
        self.record()
        self.expect_refused(f"decisions/{name} is not as the mirror wrote it")
        with open(path, encoding="ascii") as f:
            self.assertTrue(f.read().endswith("changed"))
        self.git("checkout", "-q", "--", ".")
        with open(os.path.join(self.folder, "rules"), "w", encoding="ascii") as f:
            f.write("a file instead of a folder")
        self.expect_refused("rules is not as the mirror wrote it")
        os.unlink(os.path.join(self.folder, "rules"))
        self.git("checkout", "-q", "-b", "other")
        self.expect_refused("HEAD is not the branch main")
        self.git("checkout", "-q", "main")
        self.run_mirror()
        self.expect_mirrored()

    def expect_follower_ends(self, change, what):
        """A change of others while a mirror follows the log; nothing of it is overwritten."""
        self.record()
        with subprocess.Popen(self.command(self.folder, "--follow"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "HOME": self.home}) as follower:
            try:
                self.assertIn("1 event in 1 commit", follower.stdout.readline())
                change()
                self.record()
                said = follower.communicate(timeout=60)[1]
            finally:
                follower.kill()
        self.assertIn(what, " ".join(said.split()))
        self.assertEqual(follower.returncode, 4)

    def test_commits_of_others_end_a_follower(self):
        self.expect_follower_ends(lambda: self.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty",
                                                   "-m", "mine"), "the branch main was moved")
        self.assertEqual(self.git("log", "-1", "--format=%s"), "mine\n")

    def test_files_of_others_end_a_follower(self):
        def change():
            with open(os.path.join(self.folder, "notes.txt"), "w", encoding="ascii") as f:
                f.write("mine")

        self.expect_follower_ends(change, "notes.txt is not as the mirror wrote it")

    def test_refused_tokens_end_a_follower(self):
        """What does not pass by itself is not tried again."""
        self.use_token("err_" + "0" * 60)
        started = time.monotonic()
        said = self.run_mirror(self.folder, "--follow", expected=1)
        self.assertIn("UNAUTHENTICATED", said)
        self.assertNotIn("trying again", said)
        self.assertLess(time.monotonic() - started, 50)

    def test_older_backup_and_other_organisation_are_refused(self):
        self.record()
        backup = os.path.join(self.home, "backup")
        subprocess.run([ERRATA, "admin", "backup", backup, "--server", self.server.address, "--token-file",
                        os.path.join(self.server.data, "admin.token")], check=True, capture_output=True, timeout=60)
        self.record()
        self.run_mirror()
        before = self.git("rev-parse", "HEAD")
        restored = os.path.join(self.home, "restored")
        subprocess.run([os.path.join(os.environ["ERRATA_BIN"], "erratad"), "--restore", backup, "--data", restored],
                       check=True, capture_output=True, timeout=60)
        with Server(data=restored, arguments=("--pdf-worker", "/nowhere")) as server:
            self.expect_refused("which the server does not have", server=server)
            client = server.client(self.secret)
            for number in range(3):
                client.decisions.RecordDecision(decision_service.RecordDecisionRequest(decision=decision.Decision(
                    decision=APPROVED, decision_id=f"new-{number}", gate_id="g", epic_id="e", agent_name="coder")))
            self.expect_refused("which the server does not have", server=server)
            client.close()
        self.assertEqual(self.git("rev-parse", "HEAD"), before)


class Hostile(MirrorCase):
    def test_names_and_texts_are_only_data(self):
        bad = "a\nD decisions\ncommit refs/heads/x <b> \u202e\u00e4 $(touch pwned) --exec=x"
        self.record(bad, decision_id="../../etc/passwd", reviewer_id="<b> --author=x ../e;\u00e4",
                    correction_diff="done\nreset refs/heads/main\n\n")
        first = self.record("", decision_id="--upload-pack=touch pwned", reviewer_id="$(touch pwned)")
        self.run_program_override(first, "Errata-Position: 99 " + "a" * 36 + "\n\nErrata-Position: 98 x")
        self.run_mirror()
        self.expect_mirrored()
        self.assertEqual(sorted(os.listdir(self.folder)), [".git", "decisions", "edge_cases"])
        self.assertIn("decision_id\": \"../../etc/passwd", self.git("grep", "-h", "passwd", "HEAD"))
        self.assertEqual(self.git("branch", "--format=%(refname)"), "refs/heads/main\n")
        self.assertIn("0 events in 0 commits", self.run_mirror())

    def run_program_override(self, feedback_id, reason):
        self.mine.decisions.OverrideEvaluation(decision_service.OverrideEvaluationRequest(
            feedback_id=feedback_id, classification=EDGE, reason=reason))
        self.mine.decisions.OverrideEvaluation(decision_service.OverrideEvaluationRequest(
            feedback_id=feedback_id, classification=decision.DECISION_CLASS_POSITIVE, reason=reason))

    def test_configuration_of_git_does_not_matter(self):
        marker = os.path.join(self.home, "ran")
        hooks = os.path.join(self.home, "hooks")
        os.mkdir(hooks)
        for name in ("pre-commit", "post-commit", "commit-msg", "reference-transaction", "post-checkout", "post-index-change"):
            with open(os.path.join(hooks, name), "w", encoding="ascii") as f:
                f.write(f"#!/bin/sh\ntouch {marker}\nexit 1\n")
            os.chmod(f.name, 0o755)
        with open(os.path.join(self.home, ".gitconfig"), "w", encoding="ascii") as f:
            f.write(f"[core]\n hooksPath = {hooks}\n autocrlf = true\n fsmonitor = touch {marker}\n"
                    f"[commit]\n gpgsign = true\n[gpg]\n program = {hooks}/pre-commit\n"
                    f"[init]\n templateDir = {hooks}\n defaultBranch = other\n")
        environment = {"GIT_DIR": "/nowhere", "GIT_INDEX_FILE": "/nowhere", "GIT_AUTHOR_NAME": "x",
                       "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.hooksPath", "GIT_CONFIG_VALUE_0": hooks}
        self.record()
        self.run_mirror(environment=environment)
        for name in ("post-index-change", "reference-transaction"):
            os.makedirs(os.path.join(self.folder, ".git", "hooks"), exist_ok=True)
            shutil.copy(os.path.join(hooks, name), os.path.join(self.folder, ".git", "hooks", name))
        self.record()
        self.run_mirror(environment=environment)
        self.assertFalse(os.path.exists(marker))
        self.expect_mirrored()


class Killed(MirrorCase):
    def test_killed_runs_lose_and_repeat_nothing(self):
        """Killed with its processes of git at a random moment; the next run continues."""
        seed = random.randrange(10**6)
        print("seed", seed)
        chance = random.Random(seed)
        for _ in range(KILLS):
            for number in range(8):
                self.record(f"Comment {self.count}", reviewer_id=("anna", "berta", "carl")[number % 3])
            with subprocess.Popen(self.command(self.folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  env={**os.environ, "HOME": self.home}, start_new_session=True) as run:
                time.sleep(chance.random() * 0.4)
                os.killpg(run.pid, signal.SIGKILL)
        self.run_mirror()
        self.expect_mirrored()
        self.assertEqual(len(self.listed("decisions")), 8 * KILLS)


if __name__ == "__main__":
    main()
