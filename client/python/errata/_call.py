"""Calls over blocking connections: Connect in JSON over http.client (connectrpc.com/docs/protocol)."""
from __future__ import annotations

import http.client
import json
import os
import socket
import ssl
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from errata import _envelope, _http, errors
from errata._message import Json
from errata._method import Method, Q, R
from errata._policy import ANSWER_BYTES_MAX, IDLE_S, Attempts, Target, Token, call_headers, new_key, request_json


class _Stale(Exception):
    """A connection that was idle had been closed by the server: the request was not read."""


class Pool:
    """Idle connections to one server. Threads share it; each connection belongs to one call at a time."""

    def __init__(self, target: Target, context: ssl.SSLContext | None, size: int) -> None:
        self._target = target
        self._context = context
        self._size = size
        self._lock = threading.Lock()
        self._idle: list[tuple[http.client.HTTPConnection, float]] = []  # latest last
        self._pid = os.getpid()

    def take(self, timeout: float) -> tuple[http.client.HTTPConnection, bool]:
        """Returns a connection, and whether it was used before."""
        oldest = time.monotonic() - IDLE_S
        with self._lock:
            if self._pid != os.getpid():  # after a fork, the connections are the parent's
                self._idle.clear()
                self._pid = os.getpid()
            while self._idle:
                connection, since = self._idle.pop()
                if since >= oldest and connection.sock is not None:
                    connection.sock.settimeout(timeout)
                    return connection, True
                connection.close()
        if self._context is not None:
            return http.client.HTTPSConnection(self._target.host, self._target.port, timeout=timeout,
                                               context=self._context), False
        return http.client.HTTPConnection(self._target.host, self._target.port, timeout=timeout), False

    def give(self, connection: http.client.HTTPConnection) -> None:
        """Returns a connection whose response was read completely to the pool."""
        with self._lock:
            if len(self._idle) < self._size and self._pid == os.getpid():
                self._idle.append((connection, time.monotonic()))
                return
        connection.close()

    def close(self) -> None:
        """Closes the idle connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            connection.close()


class Caller:
    """Makes calls. Safe for use by several threads."""

    def __init__(self, target: Target, token: Token, context: ssl.SSLContext | None, *, timeout: float,
                 pool_size: int, agent: str) -> None:
        self.target = target
        self.token = token
        self.timeout = timeout
        self._agent = agent
        self._pool = Pool(target, context, pool_size)

    def close(self) -> None:
        """Closes idle connections; calls that run keep theirs."""
        self._pool.close()

    def unary(self, method: Method[Q, R], request: Q | Mapping[str, Any] | None, *, timeout: float | None = None,
              idempotency_key: str | None = None) -> R:
        """Calls a method with one request and one response."""
        answer = self.call(method.path, request_json(request, method.request_type()), timeout=timeout,
                           key=idempotency_key or (None if method.safe else new_key()))
        return method.response_type().from_json(answer)

    def call(self, path: str, request: Json, *, timeout: float | None = None, key: str | None = None) -> Json:
        """Calls a method by its path, repeated while it may be; returns the response's JSON."""
        body = json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
        attempts = Attempts(self.timeout if timeout is None else timeout, self.token)
        while True:
            try:
                return self._attempt(path, body, key, attempts)
            except errors.ErrataError as error:
                time.sleep(attempts.wait_after(error))

    def _attempt(self, path: str, body: bytes, key: str | None, attempts: Attempts) -> Json:
        while True:
            left = attempts.remaining()
            try:
                status, kind, content = self._exchange(path, body, key, left)
            except _Stale:
                continue  # each one takes an idle connection away, so this ends
            return read_answer(status, kind, content)

    def _exchange(self, path: str, body: bytes, key: str | None, timeout: float) -> tuple[int, str, bytes]:
        connection, used = self._pool.take(timeout)
        begun = False
        try:
            headers = call_headers(self.token, self._agent, key, timeout)
            headers["Content-Length"] = str(len(body))
            head = _http.head(self.target.prefix + path, self.target.authority, headers)
            response = _http.post(connection, head + body)
            begun = True
            content = response.read(ANSWER_BYTES_MAX + 1)
            if response.will_close or not response.isclosed():
                connection.close()
            else:
                self._pool.give(connection)
            return response.status, response.fields.get("content-type", ""), content
        except BaseException as problem:
            connection.close()
            raise translate(problem, self.target, used and not begun) from problem

    def server_stream(self, method: Method[Q, R], request: Q | Mapping[str, Any] | None, *,
                      timeout: float | None = None, idempotency_key: str | None = None) -> Iterator[R]:
        """Calls a method that streams its responses; they are read as they arrive. Not repeated."""
        body = _envelope.pack(request_json(request, method.request_type()))
        reply = method.response_type()
        for message in self._stream(method.path, iter((body,)), timeout, idempotency_key):
            yield reply.from_json(message)

    def client_stream(self, method: Method[Q, R], requests: Iterable[Q | Mapping[str, Any]], *,
                      timeout: float | None = None, idempotency_key: str | None = None) -> R:
        """Calls a method that streams its requests. Not repeated."""
        bodies = (_envelope.pack(request_json(request, method.request_type())) for request in requests)
        key = idempotency_key or (None if method.safe else new_key())
        answers = list(self._stream(method.path, bodies, self.timeout if timeout is None else timeout, key))
        if len(answers) != 1:
            raise errors.Internal(f"{len(answers)} responses; expected one")
        return method.response_type().from_json(answers[0])

    def _stream(self, path: str, bodies: Iterator[bytes], timeout: float | None, key: str | None) -> Iterator[Json]:
        connection, _ = self._pool.take(self.timeout if timeout is None else timeout)
        connection.close()  # a stream has a connection of its own, which is new: it can't be stale
        headers = call_headers(self.token, self._agent, key, timeout, "application/connect+json")
        try:
            connection.timeout = timeout
            headers["Transfer-Encoding"] = "chunked"
            connection.send(_http.head(self.target.prefix + path, self.target.authority, headers))
            for body in bodies:
                connection.send(b"%x\r\n%b\r\n" % (len(body), body))
            response = _http.post(connection, b"0\r\n\r\n")
            kind = response.fields.get("content-type", "")
            if response.status != 200 or not kind.startswith("application/connect+json"):
                read_answer(response.status, kind, response.read(ANSWER_BYTES_MAX))
                raise errors.Internal(f"the answer is {kind or 'of no type'}; expected application/connect+json")
            yield from _envelope.messages(response.read)
        except errors.ErrataError:
            raise
        except (OSError, http.client.HTTPException) as problem:
            raise translate(problem, self.target, False) from problem
        finally:
            connection.close()


def read_answer(status: int, kind: str, content: bytes) -> Json:
    """Returns the JSON of an answer; raises the error that it states."""
    if len(content) > ANSWER_BYTES_MAX:
        raise errors.ResourceExhausted(f"the answer is longer than {ANSWER_BYTES_MAX} bytes; ask for smaller pages")
    if not kind.startswith("application/json"):
        raise errors.of_status(status, content[:300].decode("utf-8", "replace"))
    try:
        answer = json.loads(content)
    except ValueError as problem:
        raise errors.Internal(f"the answer is not JSON: {problem}") from problem
    if status != 200:
        raise errors.of_json(status, answer)
    if not isinstance(answer, dict):
        raise errors.Internal("the answer is not a JSON object")
    return answer


def translate(problem: BaseException, target: Target, stale: bool) -> BaseException:
    """Returns the error of a failed exchange. `stale`: the connection had been idle, and nothing was answered."""
    if isinstance(problem, (socket.timeout, TimeoutError)):
        return errors.DeadlineExceeded(f"{target.url}: no answer in time")
    if isinstance(problem, ssl.SSLCertVerificationError):
        return errors.Untrusted(f"{target.url}: the server's certificate is not accepted: {problem.verify_message}")
    if isinstance(problem, (OSError, http.client.HTTPException)):
        return _Stale() if stale else errors.Unreachable(f"{target.url}: {problem or type(problem).__name__}")
    return problem
