"""The blocking client."""
from __future__ import annotations

import os
import ssl
import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, NamedTuple

from errata import _policy, _surface, errors
from errata._call import Caller
from errata._policy import Token, find_target
from errata._queue import QueueCounts, WriteQueue
from errata._services import Services
from errata._surface import Examples, Prompt
from errata._version import __version__

QUEUE_ITEMS_MAX = 10_000
QUEUE_BYTES_MAX = 64 << 20


class Counts(NamedTuple):
    """The counts of a client's operations."""

    reads: int  # number of calls of examples() and prompt()
    reads_failed: int  # number of these that were answered without the server
    queue: QueueCounts


class Client(Services):
    """A connection to Errata for a whole program. Safe for use by several threads.

    Reads that a pipeline makes before each prompt (`examples`, `prompt`) fail open: if the server does not answer
    within `read_timeout`, they return no examples, and the pipeline continues. `counts()` shows how often. Corrections
    are queued, and sent by a thread, so a pipeline does not wait for them either.

    Every method of the contract is a method of its service, as `client.feedback_service.list_feedback_events({...})`;
    a request is a mapping or a message of `errata.types`, a response is a message.

    server: HOST:PORT or a URL; the environment's ERRATA_SERVER, else 127.0.0.1:7443.
    token, token_file: the token, or a file with it; the environment's ERRATA_TOKEN_FILE.
    timeout: seconds for a call with its repetitions. read_timeout: the same for examples() and prompt().
    fail_open: False makes examples() and prompt() raise the error instead.
    actor: the user who corrects, where a call names none.
    tls_context, ca_file: settings of TLS for an https URL; by default the system's roots.
    spool: the folder of corrections that wait; "auto" is errata/spool of the user's state folder, None is memory only.
    on_rejected: called with key and error, on the thread of the queue, for each correction that the server refused.
    """

    def __init__(self, server: str | None = None, *, token: str | None = None,
                 token_file: str | os.PathLike[str] | None = None, timeout: float = 10.0, read_timeout: float = 1.0,
                 fail_open: bool = True, actor: str | None = None, tls_context: ssl.SSLContext | None = None,
                 ca_file: str | None = None, spool: str | os.PathLike[str] | None = "auto", pool_size: int = 32,
                 queue_items_max: int = QUEUE_ITEMS_MAX, queue_bytes_max: int = QUEUE_BYTES_MAX,
                 on_rejected: Callable[[str, errors.ErrataError], None] | None = None) -> None:
        target = find_target(server)
        source = Token(token, token_file)
        self._caller = Caller(target, source, _policy.tls_context(target, tls_context, ca_file), timeout=timeout,
                              pool_size=pool_size, agent=f"errata-python/{__version__}")
        super().__init__(self._caller)
        self._read_timeout = read_timeout
        self._fail_open = fail_open
        self._actor = actor
        self._lock = threading.Lock()
        self._reads = 0
        self._reads_failed = 0
        self._queue = WriteQueue(self._caller.call, folder=_surface.spool_folder(spool, target, source),
                                 items_max=queue_items_max, bytes_max=queue_bytes_max, on_rejected=on_rejected)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def examples(self, document_id: str | None = None, *, layout: str | None = None, limit: int | None = None,
                 timeout: float | None = None, **more: Any) -> Examples:
        """Returns the newest corrections of a document's layout, for the next prompt.

        `more` has further fields of GetExamplesRequest, such as match_mode="FAMILY".
        """
        request = _surface.example_request(document_id, layout, limit, more)
        try:
            return _surface.read_examples(self._read(_surface.GET_EXAMPLES, request, timeout))
        except errors.ErrataError as error:
            self._failed(error)
            return Examples(failed=True)

    def prompt(self, template: str, *, document_id: str | None = None, layout: str | None = None,
               timeout: float | None = None, options: Mapping[str, Any] | None = None, **values: Any) -> Prompt:
        """Returns a prompt: a template, as text or by its name, with examples and `values` in its placeholders.

        `options` has further fields of PreparePromptRequest.
        """
        request = _surface.prompt_request(template, document_id, layout, values, options or {})
        try:
            return _surface.read_prompt(self._read(_surface.PREPARE_PROMPT, request, timeout))
        except errors.ErrataError as error:
            if not _surface.is_text(template):
                raise  # the text is known only to the server
            self._failed(error)
            return _surface.fill_locally(template, request["context"])

    def _read(self, path: str, request: dict[str, Any], timeout: float | None) -> dict[str, Any]:
        with self._lock:
            self._reads += 1
        return self._caller.call(path, request, timeout=self._read_timeout if timeout is None else timeout)

    def _failed(self, error: errors.ErrataError) -> None:
        """Counts a read that failed; raises the error if it is the caller's or the client does not fail open."""
        if not self._fail_open or not isinstance(error, _surface.AWAY):
            raise error
        with self._lock:
            self._reads_failed += 1

    def correct(self, before: Any, after: Any, *, document_id: str | None = None, layout: str | None = None,
                draft_order_id: str | None = None, entity_type: str | None = None, entity_id: str | None = None,
                output: Any = None, snippet: str | None = None, meta: Mapping[str, Any] | None = None,
                actor: str | None = None, annotator_kind: str | None = None, type: str | None = None,
                exposure_refs: tuple[str, ...] = ()) -> str:
        """Queues a correction, and returns its idempotency key. Raises QueueFull.

        before, after: the model's result and the correct one, as mappings. output: the complete correct result, if
        `after` is a part of it. snippet: the text that the model read; the server has it for an ingested document.
        type: the FeedbackEventType; by default a line if `entity_id` is given, else a field.
        """
        given = {"document_id": document_id, "layout": layout, "draft_order_id": draft_order_id,
                 "entity_type": entity_type, "entity_id": entity_id, "output": output, "snippet": snippet,
                 "meta": meta, "actor": actor or self._actor, "annotator_kind": annotator_kind, "type": type,
                 "exposure_refs": exposure_refs}
        return self._queue.add(_surface.CAPTURE, _surface.correction_request(before, after, given))

    def extraction(self, document_id: str | None = None, *, layout: str | None = None,
                   draft_order_id: str | None = None, model: str | None = None) -> Extraction:
        """Returns the extraction of one document, as a context manager: it carries what it served to what it records."""
        return Extraction(self, document_id, layout, draft_order_id, model)

    def record(self, extraction: Mapping[str, Any]) -> str:
        """Queues a RecordExtraction, and returns its idempotency key."""
        return self._queue.add(_surface.RECORD_EXTRACTION, {"extraction": dict(extraction)})

    def health(self, service: str = "", *, timeout: float = 2.0) -> str:
        """Returns SERVING or NOT_SERVING of the server or of a part such as "errata.write"."""
        return str(self._caller.call(_surface.HEALTH, {"service": service}, timeout=timeout).get("status", "UNKNOWN"))

    def counts(self) -> Counts:
        """Returns the counts of this client's operations."""
        with self._lock:
            reads, failed = self._reads, self._reads_failed
        return Counts(reads, failed, self._queue.counts())

    def flush(self, timeout: float = 30.0) -> bool:
        """Waits until all queued corrections are stored or refused; returns whether they are."""
        return self._queue.flush(timeout)

    def close(self, timeout: float = 5.0) -> bool:
        """Flushes and closes; returns whether nothing waits any more. Remaining writes stay in the spool."""
        done = self._queue.close(timeout)
        self._caller.close()
        return done


class Extraction(_surface.ExtractionState):
    """The extraction of one document, from its prompt to its corrections.

    The served references of `examples` and `prompt` are cited when the extraction is recorded: at the end of the `with`
    block, if `confidence` was set and no exception left it.
    """

    def __init__(self, client: Client, document_id: str | None, layout: str | None, draft_order_id: str | None,
                 model: str | None) -> None:
        super().__init__(document_id, layout, draft_order_id, model)
        self._client = client

    def __enter__(self) -> Extraction:
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None,
                 trace: TracebackType | None) -> None:
        if kind is None and self.confidence is not None and not self.recorded:
            self.record(self.confidence)

    def examples(self, **options: Any) -> Examples:
        """Client.examples for this document."""
        return self.served(self._client.examples(**self.subject, **options))

    def prompt(self, template: str, **values: Any) -> Prompt:
        """Client.prompt for this document."""
        return self.served(self._client.prompt(template, **self.subject, **values))

    def record(self, confidence: float, *, model: str | None = None, field_count: int | None = None) -> str:
        """Queues the record of the extraction, citing what was served; returns its idempotency key."""
        return self._client.record(self.record_request(confidence, model, field_count))

    def correct(self, before: Any, after: Any, **more: Any) -> str:
        """Client.correct for this document; the event's meta_json names what was served."""
        return self._client.correct(before, after, **self.correction_options(more))
