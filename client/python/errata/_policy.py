"""Shared by the blocking and the asynchronous client: the server's address, the token, and the rules for repeating a call."""
from __future__ import annotations

import os
import random
import ssl
import time
import uuid
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from errata import errors
from errata._message import Json, Message, check_members, plain

DEFAULT_SERVER = "127.0.0.1:7443"
# Waits between attempts: doubled from the first up to the last, each drawn between half and all of it.
BACKOFF_FIRST_S = 0.05
BACKOFF_LAST_S = 2.0
# The longest wait that a server may request; a longer one fails the call with the server's error.
RETRY_AFTER_MAX_S = 30.0
# A connection that was idle for longer is closed: the server closes it after ten minutes.
IDLE_S = 240.0
# The largest connect-timeout-ms, of ten digits.
TIMEOUT_MS_MAX = 9_999_999_999
# The largest answer that is read.
ANSWER_BYTES_MAX = 64 << 20


class Target(NamedTuple):
    """The address of the server."""

    tls: bool
    host: str
    port: int
    prefix: str  # prefix of every path, without a slash at its end

    @property
    def authority(self) -> str:
        """The value of the field Host."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The whole address."""
        return f"{'https' if self.tls else 'http'}://{self.authority}{self.prefix}"


def find_target(server: str | None) -> Target:
    """Reads HOST:PORT or a URL of http or https; by default the environment's ERRATA_SERVER."""
    text = server or os.environ.get("ERRATA_SERVER") or DEFAULT_SERVER
    parts = urlsplit(text if "://" in text else f"http://{text}")
    try:
        port = parts.port
    except ValueError:
        port = -1
    if parts.scheme not in ("http", "https") or not parts.hostname or port == -1 or parts.query or parts.fragment:
        raise ValueError(f"server: unknown form {text!r}; expected HOST:PORT, http://HOST:PORT or https://HOST:PORT")
    tls = parts.scheme == "https"
    return Target(tls, parts.hostname, port or (443 if tls else 7443), parts.path.rstrip("/"))


def tls_context(target: Target, given: ssl.SSLContext | None, ca_file: str | None) -> ssl.SSLContext | None:
    """Returns the settings of TLS: those given, else the system's roots or those of a file; None without TLS."""
    if not target.tls:
        return None
    if given is not None:
        return given
    context = ssl.create_default_context(cafile=ca_file)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context


class Token:
    """The caller's token: a text, or a file that is read again when the server refuses its content."""

    def __init__(self, token: str | None, token_file: str | os.PathLike[str] | None) -> None:
        self._file = None if token else token_file or os.environ.get("ERRATA_TOKEN_FILE")
        self._text = token.strip() if token else self._read()

    def _read(self) -> str | None:
        if self._file is None:
            return None
        with open(self._file, encoding="ascii") as file:
            return file.read().strip()

    @property
    def header(self) -> str | None:
        """The value of the field Authorization."""
        return f"Bearer {self._text}" if self._text else None

    @property
    def key_id(self) -> str:
        """The part of the token that is not secret."""
        parts = (self._text or "").split("_")
        return parts[1] if len(parts) == 3 else ""

    def renew(self) -> bool:
        """Reads the file again; returns whether it has another token."""
        before = self._text
        try:
            self._text = self._read() if self._file is not None else before
        except OSError:
            return False
        return self._text != before


class Attempts:
    """The attempts of one call: which errors are repeated, and after how long, within the time limit."""

    def __init__(self, timeout: float, token: Token) -> None:
        self.end = time.monotonic() + timeout
        self.timeout = timeout
        self.count = 0
        self._token = token
        self._renewed = False

    def remaining(self) -> float:
        """Returns the seconds left; raises DeadlineExceeded if there are none."""
        left = self.end - time.monotonic()
        if left <= 0:
            raise errors.DeadlineExceeded(f"no answer within {self.timeout:g} s")
        return left

    def wait_after(self, error: errors.ErrataError) -> float:
        """Returns the seconds to wait before the next attempt; raises the error if there is none."""
        if isinstance(error, errors.Unauthenticated) and not self._renewed and self._token.renew():
            self._renewed = True
            return 0.0
        asked = error.retry_after
        repeats = isinstance(error, errors.Unavailable) or (
            isinstance(error, errors.ResourceExhausted) and asked is not None)
        if not repeats or (asked or 0.0) > RETRY_AFTER_MAX_S:
            raise error
        longest: float = min(BACKOFF_LAST_S, BACKOFF_FIRST_S * 2 ** min(self.count, 16))
        wait = longest * random.uniform(0.5, 1.0)
        self.count += 1
        wait = max(wait, asked or 0.0)
        if time.monotonic() + wait >= self.end:
            raise error
        return wait


def new_key() -> str:
    """Returns a new idempotency key."""
    return uuid.uuid4().hex


def request_json(request: Message | Mapping[str, Any] | None, expected: type[Message]) -> Json:
    """Returns the JSON object of a request. A mapping may have no members that the message does not have: the server
    would ignore them."""
    if request is None:
        return {}
    if isinstance(request, expected):
        return request.to_json()
    if not isinstance(request, Mapping):
        raise TypeError(f"request: {type(request).__name__} given; expected {expected.__name__} or a mapping")
    check_members(request, expected)
    written = plain(request)
    assert isinstance(written, dict)
    return written


def call_headers(token: Token, agent: str, key: str | None, timeout: float | None,
                 content_type: str = "application/json") -> dict[str, str]:
    """Returns the header fields of a call; without a timeout, the server's default applies."""
    headers = {"Content-Type": content_type, "Connect-Protocol-Version": "1", "User-Agent": agent}
    if timeout is not None:
        headers["Connect-Timeout-Ms"] = str(max(1, min(int(timeout * 1000), TIMEOUT_MS_MAX)))
    if token.header is not None:
        headers["Authorization"] = token.header
    if key is not None:
        headers["Idempotency-Key"] = key
    return headers
