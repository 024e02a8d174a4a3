"""The client for asyncio."""
from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from errata import _call, _policy, _surface, errors
from errata._policy import Token, find_target
from errata._queue import WriteQueue
from errata._surface import Examples, Prompt
from errata._version import __version__
from errata.aio._call import Caller
from errata.aio._services import Services
from errata.client import QUEUE_BYTES_MAX, QUEUE_ITEMS_MAX, Counts


class Client(Services):
    """errata.Client for asyncio: the same arguments and methods, of which those that wait are coroutines.

    Belongs to the event loop in which it is first used. `correct` and `record` do not wait: their queue has a thread.
    """

    def __init__(self, server: str | None = None, *, token: str | None = None,
                 token_file: str | os.PathLike[str] | None = None, timeout: float = 10.0, read_timeout: float = 1.0,
                 fail_open: bool = True, actor: str | None = None, tls_context: ssl.SSLContext | None = None,
                 ca_file: str | None = None, spool: str | os.PathLike[str] | None = "auto", pool_size: int = 64,
                 queue_items_max: int = QUEUE_ITEMS_MAX, queue_bytes_max: int = QUEUE_BYTES_MAX,
                 on_rejected: Callable[[str, errors.ErrataError], None] | None = None) -> None:
        target = find_target(server)
        source = Token(token, token_file)
        context = _policy.tls_context(target, tls_context, ca_file)
        agent = f"errata-python/{__version__}"
        self._caller = Caller(target, source, context, timeout=timeout, pool_size=pool_size, agent=agent)
        super().__init__(self._caller)
        self._sender = _call.Caller(target, source, context, timeout=timeout, pool_size=1, agent=agent)
        self._read_timeout = read_timeout
        self._fail_open = fail_open
        self._actor = actor
        self._reads = 0
        self._reads_failed = 0
        self._queue = WriteQueue(self._sender.call, folder=_surface.spool_folder(spool, target, source),
                                 items_max=queue_items_max, bytes_max=queue_bytes_max, on_rejected=on_rejected)

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, problem: BaseException | None,
                        trace: TracebackType | None) -> None:
        await self.close()

    async def examples(self, document_id: str | None = None, *, layout: str | None = None, limit: int | None = None,
                       timeout: float | None = None, **more: Any) -> Examples:
        """errata.Client.examples."""
        request = _surface.example_request(document_id, layout, limit, more)
        try:
            return _surface.read_examples(await self._read(_surface.GET_EXAMPLES, request, timeout))
        except errors.ErrataError as error:
            self._failed(error)
            return Examples(failed=True)

    async def prompt(self, template: str, *, document_id: str | None = None, layout: str | None = None,
                     timeout: float | None = None, options: Mapping[str, Any] | None = None, **values: Any) -> Prompt:
        """errata.Client.prompt."""
        request = _surface.prompt_request(template, document_id, layout, values, options or {})
        try:
            return _surface.read_prompt(await self._read(_surface.PREPARE_PROMPT, request, timeout))
        except errors.ErrataError as error:
            if not _surface.is_text(template):
                raise
            self._failed(error)
            return _surface.fill_locally(template, request["context"])

    async def _read(self, path: str, request: dict[str, Any], timeout: float | None) -> dict[str, Any]:
        self._reads += 1
        return await self._caller.call(path, request, timeout=self._read_timeout if timeout is None else timeout)

    def _failed(self, error: errors.ErrataError) -> None:
        if not self._fail_open or not isinstance(error, _surface.AWAY):
            raise error
        self._reads_failed += 1

    def correct(self, before: Any, after: Any, **given: Any) -> str:
        """errata.Client.correct, which has the arguments."""
        given["actor"] = given.get("actor") or self._actor
        return self._queue.add(_surface.CAPTURE, _surface.correction_request(before, after, given))

    def extraction(self, document_id: str | None = None, *, layout: str | None = None,
                   draft_order_id: str | None = None, model: str | None = None) -> Extraction:
        """errata.Client.extraction, for `async with`."""
        return Extraction(self, document_id, layout, draft_order_id, model)

    def record(self, extraction: Mapping[str, Any]) -> str:
        """errata.Client.record."""
        return self._queue.add(_surface.RECORD_EXTRACTION, {"extraction": dict(extraction)})

    async def health(self, service: str = "", *, timeout: float = 2.0) -> str:
        """errata.Client.health."""
        answer = await self._caller.call(_surface.HEALTH, {"service": service}, timeout=timeout)
        return str(answer.get("status", "UNKNOWN"))

    def counts(self) -> Counts:
        """errata.Client.counts."""
        return Counts(self._reads, self._reads_failed, self._queue.counts())

    async def flush(self, timeout: float = 30.0) -> bool:
        """errata.Client.flush."""
        return await asyncio.get_running_loop().run_in_executor(None, self._queue.flush, timeout)

    async def close(self, timeout: float = 5.0) -> bool:
        """errata.Client.close."""
        done = await asyncio.get_running_loop().run_in_executor(None, self._queue.close, timeout)
        self._sender.close()
        self._caller.close()
        return done


class Extraction(_surface.ExtractionState):
    """errata.Extraction for `async with`."""

    def __init__(self, client: Client, document_id: str | None, layout: str | None, draft_order_id: str | None,
                 model: str | None) -> None:
        super().__init__(document_id, layout, draft_order_id, model)
        self._client = client

    async def __aenter__(self) -> Extraction:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, problem: BaseException | None,
                        trace: TracebackType | None) -> None:
        if kind is None and self.confidence is not None and not self.recorded:
            self.record(self.confidence)

    async def examples(self, **options: Any) -> Examples:
        """Client.examples for this document."""
        return self.served(await self._client.examples(**self.subject, **options))

    async def prompt(self, template: str, **values: Any) -> Prompt:
        """Client.prompt for this document."""
        return self.served(await self._client.prompt(template, **self.subject, **values))

    def record(self, confidence: float, *, model: str | None = None, field_count: int | None = None) -> str:
        """errata.Extraction.record."""
        return self._client.record(self.record_request(confidence, model, field_count))

    def correct(self, before: Any, after: Any, **more: Any) -> str:
        """errata.Extraction.correct."""
        return self._client.correct(before, after, **self.correction_options(more))
