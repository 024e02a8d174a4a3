"""Calls over asyncio streams: Connect in JSON over HTTP/1.1, as errata._call makes them over blocking connections."""
from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import AsyncIterable, AsyncIterator, Mapping
from typing import Any

from errata import _envelope, _http, errors
from errata._call import read_answer
from errata._message import Json
from errata._method import Method, Q, R
from errata._policy import (ANSWER_BYTES_MAX, IDLE_S, Attempts, Target, Token, call_headers, new_key,
                            request_json)

HEAD_BYTES_MAX = 64 << 10


class _Stale(Exception):
    """A connection that was idle had been closed by the server: the request was not read."""


class _Connection:
    """One connection, for one call at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.idle_since = 0.0
        self.used = False

    def close(self) -> None:
        """Closes it without waiting for the peer."""
        self.writer.close()

    async def read_head(self) -> tuple[int, dict[str, str]]:
        """Reads status and fields of a response, past any interim ones."""
        while True:
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            lines = head.split("\r\n")
            version, _, rest = lines[0].partition(" ")
            if not version.startswith("HTTP/1.") or not rest[:3].isdigit():
                raise errors.Unreachable(f"the answer is not HTTP/1.1: {lines[0][:100]!r}")
            fields = {}
            for line in lines[1:-2]:
                name, _, value = line.partition(":")
                fields[name.lower()] = value.strip()
            if int(rest[:3]) >= 200:
                return int(rest[:3]), fields

    async def read_chunk(self) -> bytes:
        """Reads one chunk; empty at the body's end."""
        line = await self.reader.readuntil(b"\r\n")
        size = int(line.split(b";")[0], 16)
        if size > ANSWER_BYTES_MAX:
            raise errors.ResourceExhausted(f"a chunk of {size} bytes is too long")
        content = await self.reader.readexactly(size)
        await self.reader.readuntil(b"\r\n")
        return content

    async def read_body(self, fields: Mapping[str, str]) -> tuple[bytes, bool]:
        """Reads the body, and returns whether the connection can be used again."""
        keeps = fields.get("connection", "").lower() != "close"
        if fields.get("transfer-encoding", "").lower() == "chunked":
            parts, size = [], 0
            while chunk := await self.read_chunk():
                parts.append(chunk)
                size += len(chunk)
                if size > ANSWER_BYTES_MAX:
                    return b"".join(parts), False
            return b"".join(parts), keeps
        length = fields.get("content-length", "")
        if not length.isdigit():
            return await self.reader.read(ANSWER_BYTES_MAX + 1), False
        if int(length) > ANSWER_BYTES_MAX:
            return b" " * (ANSWER_BYTES_MAX + 1), False
        return await self.reader.readexactly(int(length)), keeps


class Caller:
    """Makes calls, on one event loop."""

    def __init__(self, target: Target, token: Token, context: ssl.SSLContext | None, *, timeout: float,
                 pool_size: int, agent: str) -> None:
        self.target = target
        self.token = token
        self.timeout = timeout
        self._context = context
        self._agent = agent
        self._idle: list[_Connection] = []
        self._free = asyncio.Semaphore(pool_size)  # connections that may be opened

    def close(self) -> None:
        """Closes idle connections."""
        while self._idle:
            self._idle.pop().close()

    async def unary(self, method: Method[Q, R], request: Q | Mapping[str, Any] | None, *,
                    timeout: float | None = None, idempotency_key: str | None = None) -> R:
        """Calls a method with one request and one response."""
        answer = await self.call(method.path, request_json(request, method.request_type()), timeout=timeout,
                                 key=idempotency_key or (None if method.safe else new_key()))
        return method.response_type().from_json(answer)

    async def call(self, path: str, request: Json, *, timeout: float | None = None, key: str | None = None) -> Json:
        """Calls a method by its path, repeated while it may be; returns the response's JSON."""
        body = json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
        attempts = Attempts(self.timeout if timeout is None else timeout, self.token)
        while True:
            try:
                return await self._attempt(path, body, key, attempts)
            except errors.ErrataError as error:
                await asyncio.sleep(attempts.wait_after(error))

    async def _attempt(self, path: str, body: bytes, key: str | None, attempts: Attempts) -> Json:
        while True:
            left = attempts.remaining()
            try:
                return await asyncio.wait_for(self._exchange(path, body, key, attempts), left)
            except _Stale:
                continue  # each one takes an idle connection away, so this ends
            except asyncio.TimeoutError as problem:
                raise errors.DeadlineExceeded(f"{self.target.url}: no answer in time") from problem

    async def _exchange(self, path: str, body: bytes, key: str | None, attempts: Attempts) -> Json:
        async with self._free:
            connection = await self._take()
            stale = connection.used
            keeps = False
            try:
                headers = call_headers(self.token, self._agent, key, attempts.remaining())
                headers["Content-Length"] = str(len(body))
                connection.writer.write(_http.head(self.target.prefix + path, self.target.authority, headers) + body)
                await connection.writer.drain()
                status, fields = await connection.read_head()
                stale = False
                content, keeps = await connection.read_body(fields)
            except (OSError, EOFError, ValueError, asyncio.LimitOverrunError) as problem:
                raise self._translate(problem, stale) from problem
            finally:
                self._give(connection, keeps)
            return read_answer(status, fields.get("content-type", ""), content)

    async def _take(self) -> _Connection:
        oldest = time.monotonic() - IDLE_S
        while self._idle:
            connection = self._idle.pop()
            if connection.idle_since >= oldest and not connection.reader.at_eof():
                return connection
            connection.close()
        try:
            reader, writer = await asyncio.open_connection(
                self.target.host, self.target.port, ssl=self._context, limit=HEAD_BYTES_MAX,
                server_hostname=self.target.host if self._context is not None else None)
        except OSError as problem:
            raise self._translate(problem, False) from problem
        return _Connection(reader, writer)

    def _give(self, connection: _Connection, keeps: bool) -> None:
        if not keeps:
            connection.close()
            return
        connection.used = True
        connection.idle_since = time.monotonic()
        self._idle.append(connection)

    def _translate(self, problem: BaseException, stale: bool) -> BaseException:
        if isinstance(problem, ssl.SSLCertVerificationError):
            return errors.Untrusted(f"{self.target.url}: the server's certificate is not accepted: "
                                    f"{problem.verify_message}")
        return _Stale() if stale else errors.Unreachable(f"{self.target.url}: {problem or type(problem).__name__}")

    async def server_stream(self, method: Method[Q, R], request: Q | Mapping[str, Any] | None, *,
                            timeout: float | None = None, idempotency_key: str | None = None) -> AsyncIterator[R]:
        """Calls a method that streams its responses; they are read as they arrive. Not repeated."""
        reply = method.response_type()

        async def bodies() -> AsyncIterator[bytes]:
            yield _envelope.pack(request_json(request, method.request_type()))

        async for message in self._stream(method.path, bodies(), timeout, idempotency_key):
            yield reply.from_json(message)

    async def client_stream(self, method: Method[Q, R], requests: AsyncIterable[Q | Mapping[str, Any]], *,
                            timeout: float | None = None, idempotency_key: str | None = None) -> R:
        """Calls a method that streams its requests. Not repeated."""
        async def bodies() -> AsyncIterator[bytes]:
            async for request in requests:
                yield _envelope.pack(request_json(request, method.request_type()))

        key = idempotency_key or (None if method.safe else new_key())
        answers = [answer async for answer in self._stream(method.path, bodies(), timeout or self.timeout, key)]
        if len(answers) != 1:
            raise errors.Internal(f"{len(answers)} responses; expected one")
        return method.response_type().from_json(answers[0])

    async def _stream(self, path: str, bodies: AsyncIterator[bytes], timeout: float | None,
                      key: str | None) -> AsyncIterator[Json]:
        headers = call_headers(self.token, self._agent, key, timeout, "application/connect+json")
        headers["Transfer-Encoding"] = "chunked"
        async with self._free:
            connection = await self._take()
            try:
                connection.writer.write(_http.head(self.target.prefix + path, self.target.authority, headers))
                async for body in bodies:
                    connection.writer.write(b"%x\r\n%b\r\n" % (len(body), body))
                    await connection.writer.drain()
                connection.writer.write(b"0\r\n\r\n")
                status, fields = await connection.read_head()
                kind = fields.get("content-type", "")
                if status != 200 or not kind.startswith("application/connect+json"):
                    read_answer(status, kind, (await connection.read_body(fields))[0])
                    raise errors.Internal(f"the answer is {kind or 'of no type'}; expected application/connect+json")
                async for message in _messages(connection):
                    yield message
            except (OSError, EOFError, ValueError, asyncio.LimitOverrunError) as problem:
                raise self._translate(problem, False) from problem
            finally:
                connection.close()


async def _messages(connection: _Connection) -> AsyncIterator[Json]:
    """Yields the messages of a chunked stream until its end."""
    held = b""
    while True:
        while len(held) >= _envelope.HEAD_BYTES:
            flags, size = _envelope.unpack_head(held[:_envelope.HEAD_BYTES])
            whole = _envelope.HEAD_BYTES + size
            if len(held) < whole:
                break
            content, held = held[_envelope.HEAD_BYTES:whole], held[whole:]
            if flags == _envelope.END:
                _envelope.read_end(content)
                return
            message = json.loads(content)
            yield message
        chunk = await connection.read_chunk()
        if not chunk:
            raise errors.Unreachable("the stream ended without its last message")
        held += chunk
