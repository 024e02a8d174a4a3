#!/usr/bin/python3
"""The TypeScript package, installed from its tarball, against a real erratad.

Goal: corrections are stored once whoever dies, reads fail open within their time limit, and the package works as ESM and
as CommonJS, with strict types. Method: a driver in Node makes the calls that a test asks for, through a proxy that
freezes, and over TLS; servers and drivers are killed.
"""
import functools
import http.server
import json
import os
import queue
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from certificates import Authority
from client_driver import Proxy, stored_names
from erratad import BIN, ROOT, Server, main, wait_until

BUILD = os.environ.get("ERRATA_BUILD", os.path.join(ROOT, "build", "release"))
DRIVER = os.path.join(ROOT, "tests", "interop", "typescript", "driver.mjs")
EXAMPLE = os.path.join(ROOT, "client", "typescript", "examples", "pipeline.ts")
PATIENCE_MS = 60_000
LAYOUT = "supplier-7"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Driver:
    def __init__(self, place, environment=None, **options):
        self.process = subprocess.Popen(["node", os.path.join(place, "driver.mjs"), json.dumps(options)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=place,
                                        env={**os.environ, **(environment or {})})

    def __call__(self, name, *values):
        """Returns the result of an operation; raises RuntimeError with the code of a failed one."""
        self.process.stdin.write(json.dumps([name, *values]) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise RuntimeError(f"{answer['error']}: {answer['text']}")
        return answer["value"]

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Package(unittest.TestCase):
    """The installed package, which all tests share, and a server."""
    place = None

    @classmethod
    def setUpClass(cls):
        if Package.place is not None:
            return
        made = subprocess.run([os.path.join(ROOT, "tools", "package-typescript"), "--bin", BIN, "--out",
                               os.path.join(BUILD, "typescript")], check=True, stdout=subprocess.PIPE, text=True)
        Package.place = tempfile.mkdtemp(prefix="errata-typescript-")
        # The packages that npm would install beside the tarball are installed already, in the versions of the lock file.
        modules = os.path.join(cls.place, "node_modules")
        shutil.copytree(os.path.join(BUILD, "typescript", "node_modules"), modules, symlinks=True)
        home = os.path.join(modules, "@errata", "client")
        os.makedirs(home)
        subprocess.run(["tar", "-xzf", made.stdout.strip().splitlines()[-1], "-C", home, "--strip-components=1"], check=True)
        shutil.copy(DRIVER, cls.place)

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="errata-spool-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.server = Server(arguments=["--listen", f"127.0.0.1:{free_port()}", *self.files()]).start()
        self.addCleanup(self.server.close)

    def files(self):
        """Further arguments of the server."""
        return []

    def driver(self, **options):
        driver = Driver(self.place, **{"server": self.server.address, "spoolFolder": self.folder, "readTimeoutMs": PATIENCE_MS,
                                       "tokenFile": os.path.join(self.server.data, "admin.token"), **options})
        self.addCleanup(driver.kill)
        return driver

    def stored(self):
        """The entities of all corrections, in the order in which they were stored."""
        client = self.server.client()
        names = stored_names(client)
        client.close()
        return names[::-1]

    def correct(self, driver, name):
        driver("correct", {"n": 0}, {"name": name}, {"layout": LAYOUT, "entityType": "line", "entityId": name})

    def spooled(self):
        return [name for _, _, names in os.walk(self.folder) for name in names if name.endswith(".queue")]


class Calls(Package):
    def test_correction_becomes_an_example(self):
        driver = self.driver()
        driver("correct", {"qty": 10}, {"qty": 12}, {"layout": LAYOUT, "snippet": "12 pcs"})
        self.assertTrue(driver("flush", PATIENCE_MS))
        found = driver("examples", {"layout": LAYOUT})
        self.assertEqual([(one["inputSnippet"], one["output"]) for one in found["list"]], [("12 pcs", {"qty": 12})])
        self.assertIn('"qty":12', found["hint"])
        prompt, references = driver("extract", {"documentId": "d-1", "layout": LAYOUT})
        self.assertIn('"qty":12', prompt)
        self.assertEqual(references, 2)
        self.assertTrue(driver("flush", PATIENCE_MS))
        self.assertEqual(driver("counts"), {"reads": 3, "readsFailed": 0,
                                            "queue": {"waiting": 0, "sent": 3, "rejected": 0}})
        events = driver("events", {"layoutFingerprint": LAYOUT})
        self.assertEqual([event[0] for event in events], ["ada", "ada"])
        self.assertEqual(driver("watch", 4), ["1", "2", "3", "4"])
        self.assertTrue(driver("close", PATIENCE_MS))
        self.assertEqual(self.spooled(), [])

    def test_errors_keep_their_codes_and_repeats_store_once(self):
        driver = self.driver()
        with self.assertRaisesRegex(RuntimeError, "InvalidArgument: .*layout_fingerprint"):
            driver("examples", {"layout": "x" * 500})
        event = {"eventType": 3, "layoutFingerprint": LAYOUT, "afterJson": '{"a":1}'}
        self.assertEqual(driver("capture", event, "key-1"), driver("capture", event, "key-1"))
        with self.assertRaisesRegex(RuntimeError, "AlreadyExists"):
            driver("capture", {**event, "afterJson": '{"a":2}'}, "key-1")
        driver("correct", {"a": 1}, {"a": 2}, {"layout": "x" * 500})
        self.assertTrue(driver("flush", PATIENCE_MS))
        self.assertEqual([code for _, code in driver("refused")], ["InvalidArgument"])

    def test_unreachable_and_silent_servers_fail_open_in_time(self):
        with Proxy(self.server.address) as proxy:
            driver = self.driver(server=proxy.address, readTimeoutMs=500)
            driver("examples", {"layout": LAYOUT, "timeoutMs": PATIENCE_MS})
            proxy.freezes_all = True
            at = time.monotonic()
            self.assertTrue(driver("examples", {"layout": LAYOUT})["failed"])
            self.assertLess(time.monotonic() - at, 5)
        at = time.monotonic()
        driver = self.driver(server=f"127.0.0.1:{free_port()}", readTimeoutMs=300)
        prompt = driver("prompt", "Read {{text}}{{hint_examples}}{{x}}", {"values": {"text": "t {{x}}"}})
        self.assertEqual((prompt["text"], prompt["failed"], prompt["missing"]), ("Read t {{x}}{{x}}", True, ["x"]))
        self.assertLess(time.monotonic() - at, 5)
        self.assertEqual(driver("counts")["readsFailed"], 1)

    def test_killed_server_stores_each_correction_once_and_in_order(self):
        driver = self.driver()
        names = [f"e{n}" for n in range(200)]
        for name in names[:150]:
            self.correct(driver, name)
        wait_until(lambda: driver("counts")["queue"]["sent"] >= 20, "some corrections to be sent", PATIENCE_MS / 1000)
        self.server.kill9()
        for name in names[150:]:
            self.correct(driver, name)
        self.server.start()
        self.assertTrue(driver("flush", PATIENCE_MS))
        self.assertEqual(self.stored(), names)

    def test_token_file_is_read_again(self):
        path = os.path.join(self.folder, "token")
        with open(path, "w", encoding="ascii") as file:
            file.write("errata_00000000_" + "A" * 43)
        driver = self.driver(tokenFile=path)
        with self.assertRaisesRegex(RuntimeError, "Unauthenticated"):
            driver("examples", {"layout": LAYOUT})
        with open(path, "w", encoding="ascii") as file:
            file.write(self.server.admin_token + "\n")
        self.assertFalse(driver("examples", {"layout": LAYOUT})["failed"])
        self.correct(driver, "with the new token")
        self.assertTrue(driver("flush", PATIENCE_MS))

    def test_draining_server_costs_no_correction(self):
        driver = self.driver()
        names = [f"e{n}" for n in range(150)]
        for name in names:
            self.correct(driver, name)
        wait_until(lambda: driver("counts")["queue"]["sent"] >= 20, "some corrections to be sent", PATIENCE_MS / 1000)
        self.assertEqual(self.server.stop(), 0)
        self.server.start()
        self.assertTrue(driver("flush", PATIENCE_MS))
        self.assertEqual(self.stored(), names)

    def test_slow_and_lost_answers_are_survived(self):
        with Proxy(self.server.address) as proxy:
            proxy.delay_s = 0.1
            proxy.dribble = True
            driver = self.driver(server=proxy.address)
            self.assertFalse(driver("examples", {"layout": LAYOUT})["failed"])
            proxy.delay_s, proxy.dribble, proxy.losses = 0, False, 3
            self.correct(driver, "once")
            self.assertTrue(driver("flush", PATIENCE_MS))
            self.assertEqual((proxy.losses, self.stored()), (0, ["once"]))

    def test_killed_program_leaves_its_corrections_to_the_next_one(self):
        self.server.kill9()
        first = self.driver()
        for n in range(30):
            self.correct(first, f"e{n}")
        first.kill()
        self.server.start()
        second = self.driver()
        self.assertTrue(second("flush", PATIENCE_MS))
        self.assertEqual(self.stored(), [f"e{n}" for n in range(30)])

    def test_correction_of_a_new_client_is_sent(self):
        """In the same turn of the event loop as `connect`, when the queue has just found nothing to do."""
        with open(os.path.join(self.place, "new.mjs"), "w", encoding="utf-8") as file:
            file.write('import { connect } from "@errata/client/node";\n'
                       'const client = connect({ spoolFolder: null, actor: "ada" });\n'
                       'client.correct({ qty: 1 }, { qty: 2 }, { layout: "new" });\n'
                       'console.log(await client.flush(10000));\n')
        self.assertEqual(self.run_program("new.mjs"), "true\n")

    def test_failures_of_spool_and_callback_stop_neither_queue_nor_flush(self):
        with open(os.path.join(self.place, "broken.mjs"), "w", encoding="utf-8") as file:
            file.write('import { readFileSync } from "node:fs";\n'
                       'import { connect } from "@errata/client";\n'
                       'const fails = () => { throw new Error("broken"); };\n'
                       'const nothing = () => {};\n'
                       'const spool = { load: () => [], add: nothing, done: fails, reject: fails, close: nothing };\n'
                       'const token = readFileSync(process.env.ERRATA_TOKEN_FILE, "ascii").trim();\n'
                       'for (const broken of [{ spool }, { onRejected: fails }]) {\n'
                       '  const client = connect({ server: process.env.ERRATA_SERVER, token, actor: "ada", ...broken });\n'
                       '  client.correct({ qty: 1 }, { qty: 2 }, { layout: "x".repeat(500) });\n'
                       '  client.correct({ qty: 1 }, { qty: 2 }, { layout: "after" });\n'
                       '  console.log(await client.flush(60000), JSON.stringify(client.counts().queue));\n'
                       '}\n')
        self.assertEqual(self.run_program("broken.mjs"), 'true {"waiting":0,"sent":1,"rejected":1}\n' * 2)

    def test_common_js_and_the_example_with_strict_types_work(self):
        shown = subprocess.run(["node", "-e", "console.log(typeof require('@errata/client').connect, "
                                "typeof require('@errata/client/types').FeedbackEventSchema)"], cwd=self.place, check=True,
                               capture_output=True, text=True).stdout
        self.assertEqual(shown, "function object\n")
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
            block = re.findall(r"^```ts\n(.*?)^```$", file.read(), re.M | re.S)[0]
        block = block.replace("127.0.0.1:7443", self.server.address).replace("/tmp/errata", self.server.data)
        with open(os.path.join(self.place, "readme.mts"), "w", encoding="utf-8") as file:
            file.write(block)
        shutil.copy(EXAMPLE, os.path.join(self.place, "pipeline.mts"))
        subprocess.run(["node", os.path.join("node_modules", "typescript", "bin", "tsc"), "--strict", "--target", "es2022",
                        "--module", "nodenext", "--lib", "es2022,esnext.disposable,dom", "--types", "node",
                        "--skipLibCheck", "pipeline.mts", "readme.mts"], cwd=self.place, check=True)
        shown = self.run_program("pipeline.mjs")
        self.assertIn("order-1 was given 0 examples\norder-2 was given 1 examples", shown)
        self.assertEqual(json.loads(shown.splitlines()[-1])["queue"], {"waiting": 0, "sent": 4, "rejected": 0})
        self.assertEqual(json.loads(self.run_program("readme.mjs")), [{"input_snippet": "9 boxes of 10", "output": {"qty": 90}}])

    def run_program(self, name):
        """Returns what a program prints that finds the server in its environment."""
        return subprocess.run(["node", name], cwd=self.place, check=True, capture_output=True, text=True, env={
            "PATH": os.environ["PATH"], "HOME": self.folder, "ERRATA_SERVER": self.server.address,
            "ERRATA_TOKEN_FILE": os.path.join(self.server.data, "admin.token")}).stdout


class Pages(http.server.SimpleHTTPRequestHandler):
    """Serves the installed packages, and takes what the page found."""
    found = queue.Queue()

    def do_POST(self):
        self.found.put(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        """Prints nothing."""


def import_map(modules, names):
    """Returns the files of all that the packages export as ES modules, as a browser resolves them without a bundler."""
    found = {}
    for name in names:
        with open(os.path.join(modules, name, "package.json"), encoding="utf-8") as file:
            exports = json.load(file)["exports"]
        for entry, target in exports.items():
            while isinstance(target, dict):
                target = target.get("import") or target["default"]
            found[(name + entry[1:])] = f"/node_modules/{name}/{target[2:]}"
    return {"imports": found}


PAGE = """<script type="importmap">%s</script><script type="module">
const found = {};
try {
  const { connect } = await import("@errata/client");
  const { FeedbackEventType } = await import("@errata/client/types");
  const client = connect({ server: %s, token: %s, actor: "ada", readTimeoutMs: 60000 });
  client.correct({ qty: 10 }, { qty: 12 }, { layout: "browser", snippet: "12 pcs" });
  found.flushed = await client.flush(60000);
  found.examples = (await client.examples({ layout: "browser" })).map((one) => one.output);
  const { events } = await client.feedbackService.listFeedbackEvents({ layoutFingerprint: "browser" });
  found.types = events.map((one) => FeedbackEventType[one.eventType]);
  found.failed = (await connect({ server: "127.0.0.1:1", readTimeoutMs: 500 }).examples({ layout: "browser" })).failed;
} catch (problem) {
  found.problem = String(problem);
}
await fetch("/found", { method: "POST", body: JSON.stringify(found) });
</script>"""


@unittest.skipUnless(shutil.which("chromium"), "chromium is not installed")
class Browser(Package):
    """A page of another origin, in Chromium, without TLS: some of what browsers have is missing there."""

    def files(self):
        pages = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Pages, directory=self.place))
        self.addCleanup(pages.server_close)
        self.addCleanup(pages.shutdown)
        threading.Thread(target=pages.serve_forever, daemon=True).start()
        self.origin = f"http://page.test:{pages.server_address[1]}"
        return ["--cors-origin", self.origin]

    @staticmethod
    def end(browser):
        browser.terminate()
        try:
            browser.wait(timeout=10)
        except subprocess.TimeoutExpired:
            browser.kill()
            browser.wait()

    def found(self, browser, log):
        """Returns what the page found; a failure shows the end of what Chromium printed."""
        try:
            wait_until(lambda: not Pages.found.empty() or browser.poll() is not None, "the page", PATIENCE_MS / 1000)
            return Pages.found.get_nowait()
        except (TimeoutError, queue.Empty):
            log.seek(0)
            return self.fail(log.read()[-4000:])

    def test_the_package_works_in_a_browser(self):
        modules = os.path.join(self.place, "node_modules")
        names = ("@errata/client", "@bufbuild/protobuf", "@connectrpc/connect", "@connectrpc/connect-web")
        with open(os.path.join(self.place, "page.html"), "w", encoding="utf-8") as file:
            file.write(PAGE % tuple(map(json.dumps, (import_map(modules, names), self.server.address, self.server.admin_token))))
        log = tempfile.TemporaryFile("w+")
        self.addCleanup(log.close)
        browser = subprocess.Popen(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
                                    "--disable-background-networking", "--disable-component-update", "--disable-sync",
                                    "--host-resolver-rules=MAP page.test 127.0.0.1", f"--user-data-dir={self.folder}",
                                    f"{self.origin}/page.html"],
                                   stdout=subprocess.DEVNULL, stderr=log)
        self.addCleanup(self.end, browser)
        self.assertEqual(self.found(browser, log), {
            "flushed": True, "examples": [{"qty": 12}], "types": ["EXTRACTION_FIELD_CORRECTED"], "failed": True})


class Tls(Package):
    def files(self):
        self.authority = Authority(self.folder)
        cert, key = self.authority.sign("server")
        return ["--tls-cert", cert, "--tls-key", key]

    def secure(self, authority):
        """A driver that trusts the authority; Node reads it from its environment."""
        port = self.server.address.rsplit(":", 1)[1]
        return self.driver(server=f"https://localhost:{port}", environment={"NODE_EXTRA_CA_CERTS": authority.path},
                           spoolFolder=os.path.join(self.folder, "spool"))

    def test_calls_and_streams_go_over_tls(self):
        driver = self.secure(self.authority)
        driver("correct", {"qty": 10}, {"qty": 12}, {"layout": LAYOUT, "snippet": "12 pcs"})
        self.assertTrue(driver("flush", PATIENCE_MS))
        self.assertEqual([one["output"] for one in driver("examples", {"layout": LAYOUT})["list"]], [{"qty": 12}])
        self.assertEqual(driver("watch", 2), ["1", "2"])

    def test_call_to_an_untrusted_server_fails_at_once_with_the_reason(self):
        driver = self.secure(Authority(self.folder, "other"))
        began = time.monotonic()
        with self.assertRaisesRegex(RuntimeError, "Unavailable: .*certificate"):
            driver("events", {"layoutFingerprint": LAYOUT})
        self.assertLess(time.monotonic() - began, 5)

    def test_corrections_wait_for_a_trusted_server(self):
        """A server that is not trusted gets nothing and refuses nothing; the next program sends what waited, in order."""
        first = self.secure(Authority(self.folder, "other"))
        for n in range(3):
            self.correct(first, f"e{n}")
        self.assertFalse(first("flush", 1000))
        self.assertEqual((first("counts")["queue"], first("refused")), ({"waiting": 3, "sent": 0, "rejected": 0}, []))
        first.kill()
        second = self.secure(self.authority)
        self.assertTrue(second("flush", PATIENCE_MS))
        events = second("events", {"layoutFingerprint": LAYOUT})
        self.assertEqual([entity for _, entity, _, _ in reversed(events)], ["e0", "e1", "e2"])


def tearDownModule():
    shutil.rmtree(Package.place, ignore_errors=True)


def node_version():
    return int(subprocess.run(["node", "--version"], check=True, capture_output=True, text=True).stdout[1:].split(".")[0])


if __name__ == "__main__":
    if node_version() < 20:
        print("skipped: the package needs Node 20")
        sys.exit(77)
    main()
