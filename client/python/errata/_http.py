"""Requests and responses of http.client without its objects for messages of e-mail, which take most of a call's time."""
from __future__ import annotations

import http.client
from collections.abc import Mapping

LINE_BYTES_MAX = 65536
FIELDS_MAX = 100


class Response(http.client.HTTPResponse):
    """A response whose fields are a plain dictionary; their names are in lower case."""

    fields: dict[str, str]

    def begin(self) -> None:
        """Reads the head, past any interim responses."""
        while True:
            version, self.status, self.reason = self._read_status()  # type: ignore[attr-defined]
            self.fields = self._read_fields()
            if self.status >= 200:
                break
        self.version = 10 if version == "HTTP/1.0" else 11
        self.code = self.status
        self.chunked = self.fields.get("transfer-encoding", "").lower() == "chunked"
        self.chunk_left = None
        length = self.fields.get("content-length", "")
        self.length = int(length) if length.isdigit() and not self.chunked else None
        if self.status in (204, 304):
            self.length = 0
        self.will_close = (self.fields.get("connection", "").lower() == "close" or version == "HTTP/1.0"
                           or (self.length is None and not self.chunked))

    def _read_fields(self) -> dict[str, str]:
        fields: dict[str, str] = {}
        for _ in range(FIELDS_MAX):
            line = self.fp.readline(LINE_BYTES_MAX + 1)
            if line in (b"\r\n", b"\n"):
                return fields
            name, colon, value = line.decode("latin-1").partition(":")
            if not colon or len(line) > LINE_BYTES_MAX:
                raise http.client.HTTPException("the response has a malformed field")
            fields[name.lower()] = value.strip()
        raise http.client.HTTPException(f"the response has more than {FIELDS_MAX} fields")


def head(path: str, authority: str, headers: Mapping[str, str]) -> bytes:
    """Returns the head of a POST request."""
    lines = [f"POST {path} HTTP/1.1", f"Host: {authority}"]
    for name, value in headers.items():
        if "\r" in value or "\n" in value:
            raise ValueError(f"{name}: the value has a line break")
        lines.append(f"{name}: {value}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def post(connection: http.client.HTTPConnection, request: bytes) -> Response:
    """Sends a whole request over a connection, which is opened if it is not, and reads the response's head."""
    connection.send(request)
    response = Response(connection.sock, method="POST")
    try:
        response.begin()
    except BaseException:
        response.close()
        raise
    return response
