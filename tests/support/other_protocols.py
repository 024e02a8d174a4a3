"""Calls by the protocols beside gRPC: Connect in JSON and proto, gRPC-Web, REST, MCP; by Python's own HTTP client, and over
HTTP/2 by libcurl.

Each answers in the shape of `Client.raw` (erratad.py): the status code, the message, and the reply or the bytes of
google.rpc.Status.
"""
import base64
import http.client
import json
import re
import struct
import urllib.parse

import grpc

from curl_connection import CurlConnection
from erratad import is_client_stream, is_stream, status_pb2

CODES = {code.name.lower(): code for code in grpc.StatusCode} | {"canceled": grpc.StatusCode.CANCELLED}
NUMBERS = {code.value[0]: code for code in grpc.StatusCode}
END = 2  # flag of Connect's last envelope
TRAILERS = 0x80  # flag of gRPC-Web's last frame


def envelope(message, flags=0):
    return struct.pack(">BI", flags, len(message)) + message


def envelopes(body):
    """Returns (flags, message) of each envelope."""
    found = []
    while body:
        flags, size = struct.unpack(">BI", body[:5])
        assert len(body) >= 5 + size, f"a cut envelope: {body!r}"
        found.append((flags, body[5:5 + size]))
        body = body[5 + size:]
    return found


def status_of_json(error):
    """Returns (code, message, google.rpc.Status) of Connect's error."""
    code = CODES[error["code"]]
    status = status_pb2.Status(code=code.value[0], message=error.get("message", ""))
    for detail in error.get("details", ()):
        value = base64.b64decode(detail["value"] + "=" * (-len(detail["value"]) % 4))
        status.details.add(type_url="type.googleapis.com/" + detail["type"], value=value)
    return code, status.message, status.SerializeToString()


class Peer:
    """One connection, with a token or none."""

    @staticmethod
    def connect(host, port):
        return http.client.HTTPConnection(host, port, timeout=60)

    def __init__(self, address, token=""):
        host, port = address.rsplit(":", 1)
        self.connection = self.connect(host, int(port))
        self.fields = {"authorization": f"Bearer {token}"} if token else {}

    def ask(self, verb, target, body=None, fields=None):
        """Returns the status, the fields and the body of a response."""
        self.connection.request(verb, target, body, {**self.fields, **(fields or {})})
        response = self.connection.getresponse()
        return response.status, {k.lower(): v for k, v in response.getheaders()}, response.read()

    def close(self):
        self.connection.close()


class Connect(Peer):
    """Connect; `codec` is json or proto."""

    codec = "json"

    def raw_any(self, path, body, timeout=10):
        """A call of any kind with one request, as the codec's bytes."""
        fields = {"connect-protocol-version": "1", "connect-timeout-ms": str(int(timeout * 1000))}
        if is_stream(path) or is_client_stream(path):
            return self._stream(path, body, {**fields, "content-type": f"application/connect+{self.codec}"})
        status, got, reply = self.ask("POST", path, body, {**fields, "content-type": f"application/{self.codec}"})
        return self._unary(status, got, reply)

    def _unary(self, status, fields, reply):
        if status == 200:
            assert fields["content-type"] == f"application/{self.codec}", fields
            return grpc.StatusCode.OK, "", reply
        assert fields["content-type"] == "application/json", (status, fields, reply)
        return status_of_json(json.loads(reply))

    def _stream(self, path, body, fields):
        status, _, reply = self.ask("POST", path, envelope(body), fields)
        assert status == 200, (status, reply)
        found = envelopes(reply)
        assert [flags for flags, _ in found if flags & END] == [END] and found[-1][0] == END, found
        if len(found) > 1:
            return grpc.StatusCode.OK, "", found[0][1]
        error = json.loads(found[0][1]).get("error")
        return status_of_json(error) if error else (grpc.StatusCode.OK, "", b"")


class ConnectProto(Connect):
    codec = "proto"


class ConnectGet(Connect):
    """Connect in JSON; methods without side effects by GET."""

    def raw_get(self, path, body):
        query = urllib.parse.urlencode({"connect": "v1", "encoding": "json", "message": body})
        return self._unary(*self.ask("GET", f"{path}?{query}"))


class Web(Peer):
    """gRPC-Web, binary."""

    content_type = "application/grpc-web+proto"

    def raw_any(self, path, body, timeout=10):
        status, fields, reply = self.ask("POST", path, self.encode(envelope(body)), {
            "content-type": self.content_type, "x-grpc-web": "1", "grpc-timeout": f"{int(timeout * 1000)}m"})
        assert status == 200, (status, reply)
        found = envelopes(self.decode(reply))
        if found and not found[0][0] & TRAILERS:
            return grpc.StatusCode.OK, "", found[0][1]
        trailers = fields
        if found:
            trailers = dict(line.split(": ", 1) for line in found[-1][1].decode().split("\r\n") if line)
        details = trailers.get("grpc-status-details-bin", "")
        return (NUMBERS[int(trailers["grpc-status"])], urllib.parse.unquote(trailers.get("grpc-message", "")),
                base64.b64decode(details + "=" * (-len(details) % 4)))

    @staticmethod
    def encode(body):
        return body

    @staticmethod
    def decode(body):
        return body


class WebText(Web):
    """gRPC-Web in base64."""

    content_type = "application/grpc-web-text+proto"

    @staticmethod
    def encode(body):
        return base64.b64encode(body)

    @staticmethod
    def decode(body):
        """Each flush is padded by itself."""
        return b"".join(base64.b64decode(body[at:at + 4]) for at in range(0, len(body), 4))


class Rest(Peer):
    """Aliases in plain JSON, by the document that the server serves."""

    def routes(self):
        """Returns (verb, path template, name of the method) of each alias."""
        document = json.loads(self.ask("GET", "/openapi.json")[2])
        return [(verb.upper(), path, operation["operationId"])
                for path, operations in document["paths"].items() for verb, operation in operations.items()]

    def raw_route(self, verb, target, body=None):
        status, fields, reply = self.ask(verb, target, body, {"content-type": "application/json"} if body else {})
        if status == 200:
            return grpc.StatusCode.OK, "", reply
        assert fields["content-type"] == "application/json", (status, fields, reply)
        return status_of_json(json.loads(reply))


class Mcp(Peer):
    """Tools of agents: methods by the name of their tool. A result has no status code: a refused call is UNKNOWN here."""

    # Tools that are not named as their methods.
    NAMES = {"CaptureFeedbackEvent": "record_correction", "BuildAgentPrompt": "get_guidelines"}

    @classmethod
    def tool_of(cls, path):
        """Returns the name that the tool of a method would have."""
        method = path.rsplit("/", 1)[1]
        return cls.NAMES.get(method, re.sub(r"(?<!^)(?=[A-Z])", "_", method).lower())

    def ask_rpc(self, method, params):
        """Returns the status and the JSON of a response."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        status, _, reply = self.ask("POST", "/mcp", json.dumps(message), {
            "content-type": "application/json", "accept": "application/json, text/event-stream"})
        return status, json.loads(reply)

    def tools(self):
        """Returns the names of the tools that the token sees."""
        status, answer = self.ask_rpc("tools/list", {})
        assert status == 200, answer
        return {tool["name"] for tool in answer["result"]["tools"]}

    def raw_any(self, path, body, _timeout=10):
        status, answer = self.ask_rpc("tools/call", {"name": self.tool_of(path), "arguments": json.loads(body)})
        if status != 200:
            return status_of_json(answer)
        result = answer["result"]
        if result["isError"]:
            return grpc.StatusCode.UNKNOWN, result["content"][0]["text"], b""
        return grpc.StatusCode.OK, "", json.dumps(result["structuredContent"]).encode()


class OverHttp2:
    """Makes a protocol's requests over HTTP/2."""

    connect = CurlConnection


class Connect2(OverHttp2, Connect):
    pass


class Web2(OverHttp2, Web):
    pass


class Rest2(OverHttp2, Rest):
    pass


class Mcp2(OverHttp2, Mcp):
    pass
