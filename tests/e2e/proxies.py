#!/usr/bin/python3
"""The configurations of tools/PROXIES.md, with Debian's nginx before a real server; and --path-prefix.

Goal: the document's configurations work as written. Method: its blocks, with ports and paths of the test; calls by
gRPC, Connect and plain HTTP. Without nginx only the prefix is tested.
"""
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request

import grpc

from certificates import Authority
from erratad import (ROOT, Client, Server, admin, feedback, health_pb2, main, wait_until)

LINE = feedback.FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
CHECK = "/grpc.health.v1.Health/Check"
NGINX = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
MAIN = """daemon off;
{user}
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {blocks}
}}
"""


def blocks():
    with open(os.path.join(ROOT, "tools", "PROXIES.md"), encoding="utf-8") as f:
        return re.findall(r"^```nginx\n(.*?)^```$", f.read(), re.M | re.S)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class ProxyCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="errata-test-")
        self.addCleanup(shutil.rmtree, self.folder)

    def server(self, *arguments):
        server = Server(arguments=arguments).start()
        self.addCleanup(self.end, server)
        return server

    def end(self, server):
        self.assertEqual(server.stop(), 0, server.read_log())
        server.close()

    def post(self, url, context=None, body=b"{}", token=None):
        """Makes a Connect call in JSON; returns the reply."""
        headers = {"content-type": "application/json"}
        if token:
            headers["authorization"] = f"Bearer {token}"
        request = urllib.request.Request(url, body, headers)
        with urllib.request.urlopen(request, timeout=20, context=context) as reply:
            return json.loads(reply.read())


@unittest.skipUnless(NGINX, "nginx is not installed")
class Nginx(ProxyCase):
    def setUp(self):
        super().setUp()
        self.ca = Authority(self.folder)
        self.ca.sign("proxy")
        self.ca.sign("internal", "DNS:errata.internal")

    def path(self, name):
        return os.path.join(self.folder, name)

    def nginx(self, block, server, upstream_port, listen_port):
        """Runs one block of the document before a server; returns the port on which it listens."""
        port = free_port()
        text = block.replace(f"127.0.0.1:{upstream_port}", server.address)
        text = re.sub(rf"listen {listen_port}\b", f"listen 127.0.0.1:{port}", text)
        text = text.replace("/etc/ssl/errata/", self.folder + "/")
        self.assertNotEqual(text, block)
        user = "user root;" if os.geteuid() == 0 else ""
        with open(self.path("nginx.conf"), "w", encoding="utf-8") as f:
            f.write(MAIN.format(folder=self.folder, blocks=text, user=user))
        process = subprocess.Popen([NGINX, "-e", self.path("error.log"), "-c", self.path("nginx.conf")],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        wait_until(lambda: self.listens(port, process), "nginx", 20)
        return port

    def listens(self, port, process):
        if process.poll() is not None:
            self.fail(self.read_errors())
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", port)) == 0

    def read_errors(self):
        try:
            with open(self.path("error.log"), encoding="utf-8") as f:
                return f.read()
        except FileNotFoundError:
            return "nginx ended"

    def use(self, port, token):
        """Makes a call of each kind through a proxy with TLS."""
        with open(self.ca.path, "rb") as f:
            credentials = grpc.ssl_channel_credentials(f.read())
        client = Client(f"localhost:{port}", token, credentials=credentials)
        self.addCleanup(client.close)
        for _ in range(5):
            client.capture(event_type=LINE, layout_fingerprint="proxy",
                           after_json=json.dumps({"note": "word " * 1000}))
        self.assertGreater(len(client.examples("proxy").examples), 0)
        self.assertTrue(client.admin.GetServerInfo(admin.GetServerInfoRequest()).counters)
        watch = client.health.Watch(health_pb2.HealthCheckRequest(), timeout=20)
        self.assertEqual(next(watch).status, health_pb2.HealthCheckResponse.SERVING)
        watch.cancel()
        with self.assertRaises(grpc.RpcError) as caught:
            client.capture(layout_fingerprint="proxy")
        self.assertEqual(caught.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
        self.assertIn("event.event_type", caught.exception.details())
        context = ssl.create_default_context(cafile=self.ca.path)
        url = f"https://localhost:{port}"
        self.assertEqual(self.post(url + CHECK, context), {"status": "SERVING"})
        reply = self.post(url + "/errata.v1.FeedbackService/ListFeedbackEvents", context, token=token)
        self.assertEqual(len(reply["events"]), 5)
        with urllib.request.urlopen(url + "/readyz", timeout=20, context=context) as answer:
            self.assertEqual(answer.status, 200)

    def test_all_protocols_pass_on_one_port(self):
        server = self.server()
        self.use(self.nginx(blocks()[0], server, 7443, 8443), server.admin_token)

    def test_tls_to_the_server_is_verified(self):
        server = self.server("--tls-cert", self.path("internal.pem"), "--tls-key", self.path("internal.key"))
        self.use(self.nginx(blocks()[1], server, 7444, 8444), server.admin_token)

    def test_path_prefix_is_passed_on(self):
        server = self.server("--path-prefix", "/errata")
        port = self.nginx(blocks()[2], server, 7445, 8445)
        self.assertEqual(self.post(f"http://127.0.0.1:{port}/errata{CHECK}"), {"status": "SERVING"})
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/errata/healthz", timeout=20) as answer:
            self.assertEqual(answer.read().strip(), b"ok")


class Prefix(ProxyCase):
    def test_paths_are_served_with_and_without_the_prefix(self):
        server = self.server("--path-prefix", "/v1/errata")
        client = server.client()
        self.addCleanup(client.close)
        for prefix in ("/v1/errata", ""):
            self.assertEqual(client.raw(prefix + CHECK, b"")[0], grpc.StatusCode.OK)
            self.assertEqual(self.post(f"http://{server.address}{prefix}{CHECK}"), {"status": "SERVING"})
            with urllib.request.urlopen(f"http://{server.address}{prefix}/readyz", timeout=20) as answer:
                self.assertEqual(answer.status, 200)
        for path in ("/v1/erratax" + CHECK, "/v1" + CHECK, "/v1/errata", "/v1/errata/v1/errata" + CHECK):
            self.assertEqual(client.raw(path, b"")[0], grpc.StatusCode.UNIMPLEMENTED, path)
            with self.assertRaises(urllib.error.HTTPError) as caught:
                self.post(f"http://{server.address}{path}")
            self.assertEqual(caught.exception.code, 404)

    def test_without_the_option_there_is_no_prefix(self):
        client = self.server().client()
        self.addCleanup(client.close)
        self.assertEqual(client.raw("/errata" + CHECK, b"")[0], grpc.StatusCode.UNIMPLEMENTED)


if __name__ == "__main__":
    main()
