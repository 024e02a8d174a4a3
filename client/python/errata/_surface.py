"""Shared by both clients: the requests of the short calls, and the conversion of their responses."""
from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from errata import errors
from errata._message import Json
from errata._policy import Target, Token

GET_EXAMPLES = "/errata.v1.PromptService/GetExamples"
PREPARE_PROMPT = "/errata.v1.PromptService/PreparePrompt"
CAPTURE = "/errata.v1.FeedbackService/CaptureFeedbackEvent"
RECORD_EXTRACTION = "/errata.v1.ExtractionService/RecordExtraction"
HEALTH = "/grpc.health.v1.Health/Check"

LINE = "FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED"
FIELD = "FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED"
# Errors that do not concern the request: reads continue without the server.
AWAY = (errors.Unavailable, errors.DeadlineExceeded, errors.ResourceExhausted, errors.Internal)
TOKEN = re.compile(r"\{\{([A-Za-z_][A-Za-z0-9_]*)\}\}")


class Example(dict[str, Any]):
    """A correction as an example: `input_snippet`, `output` (parsed), and the server's data about it."""

    @property
    def input_snippet(self) -> str:
        """The text that the model read."""
        return str(self.get("input_snippet", ""))

    @property
    def output(self) -> Any:
        """The correct result."""
        return self.get("output")


class Examples(list[Example]):
    """Examples, newest first. An empty list is an answer too; `failed` is set if the server did not respond."""

    def __init__(self, examples: Sequence[Example] = (), *, hint: str = "", arm: str = "", exposure_ref: str = "",
                 failed: bool = False) -> None:
        super().__init__(examples)
        self.hint = hint  # all as one JSON text, sanitised: the value of {{hint_examples}}
        self.arm = arm  # TREATMENT, CONTROL (held out: no examples) or NONE
        self.exposure_ref = exposure_ref  # proves what was served
        self.failed = failed


class Prompt(str):
    """A prompt that is ready for a model."""

    exposure_ref: str
    missing: tuple[str, ...]
    failed: bool

    def __new__(cls, text: str, *, exposure_ref: str = "", missing: Sequence[str] = (),
                failed: bool = False) -> Prompt:
        """Creates a prompt from its text. `missing`: placeholders without a value; `failed`: filled in without the server."""
        prompt = super().__new__(cls, text)
        prompt.exposure_ref = exposure_ref
        prompt.missing = tuple(missing)
        prompt.failed = failed
        return prompt


def without_none(values: Mapping[str, Any]) -> Json:
    """Returns the members that are given."""
    return {name: value for name, value in values.items() if value is not None}


def example_request(document_id: str | None, layout: str | None, limit: int | None,
                    more: Mapping[str, Any]) -> Json:
    """Returns the request of `examples`."""
    if document_id is None and layout is None:
        raise TypeError("examples: neither document_id nor layout given; expected one of them")
    return without_none({"document_id": document_id, "layout_fingerprint": layout, "max_examples": limit, **more})


def read_examples(answer: Json) -> Examples:
    """Returns the examples of GetExamples."""
    examples = []
    for served in answer.get("examples", ()):
        examples.append(Example(
            id=served.get("id", ""), input_snippet=served.get("inputSnippet", ""), output=_parsed(served.get("output")),
            partial=served.get("partial", False), created_at=served.get("createdAt", ""),
            match_level=_short(served.get("matchLevel", ""), "MATCH_LEVEL_")))
    return Examples(examples, hint=answer.get("hintExamplesJson", ""),
                    arm=_short(answer.get("arm", ""), "EXPERIMENT_ARM_"), exposure_ref=answer.get("exposureRef", ""))


def _short(name: Any, prefix: str) -> str:
    text = str(name)
    return text[len(prefix):] if text.startswith(prefix) else text


def _parsed(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text


def prompt_request(template: str, document_id: str | None, layout: str | None, values: Mapping[str, Any],
                   more: Mapping[str, Any]) -> Json:
    """Returns the request of `prompt`. A template with a placeholder or a space is the text itself, else a name."""
    source = {"template": template} if is_text(template) else {"template_name": template}
    context = {name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
               for name, value in values.items()}
    return without_none({**source, "document_id": document_id, "layout_fingerprint": layout, "context": context,
                         **more})


def is_text(template: str) -> bool:
    """Returns whether a template is a text, not the name of one."""
    return TOKEN.search(template) is not None or any(letter.isspace() for letter in template)


def read_prompt(answer: Json) -> Prompt:
    """Returns the prompt of PreparePrompt."""
    return Prompt(answer.get("prompt", ""), exposure_ref=answer.get("exposureRef", ""),
                  missing=answer.get("missingTokens", ()))


def fill_locally(template: str, context: Mapping[str, str]) -> Prompt:
    """Fills in a template without the server: no examples. Values are not expanded again."""
    missing = []

    def value_of(match: re.Match[str]) -> str:
        name = match.group(1)
        if name == "hint_examples":
            return ""
        if name not in context:
            missing.append(name)
        return context.get(name, match.group(0))

    return Prompt(TOKEN.sub(value_of, template), missing=missing, failed=True)


# Keyword arguments of Client.correct.
CORRECTION_OPTIONS = frozenset((
    "document_id", "layout", "draft_order_id", "entity_type", "entity_id", "output", "snippet", "meta", "actor",
    "annotator_kind", "type", "exposure_refs"))


def correction_request(before: Any, after: Any, options: Mapping[str, Any]) -> Json:
    """Returns the request of `correct`. `options` has keyword arguments of Client.correct."""
    unknown = sorted(options.keys() - CORRECTION_OPTIONS)
    if unknown:
        raise TypeError(f"correct: unknown argument {unknown[0]!r}; expected {', '.join(sorted(CORRECTION_OPTIONS))}")
    given = {**dict.fromkeys(CORRECTION_OPTIONS), **options}
    meta = dict(given["meta"] or {})
    if given["snippet"] is not None:
        meta["input_snippet"] = given["snippet"]
    if given["exposure_refs"]:
        meta["exposure_refs"] = list(given["exposure_refs"])
    kind = given["type"] or (LINE if given["entity_id"] is not None else FIELD)
    event = without_none({
        "event_type": kind, "document_id": given["document_id"], "draft_order_id": given["draft_order_id"],
        "layout_fingerprint": given["layout"], "entity_type": given["entity_type"], "entity_id": given["entity_id"],
        "actor_user_id": given["actor"], "annotator_kind": given["annotator_kind"],
        "before_json": json_object(before, "before"), "after_json": json_object(after, "after"),
        "corrected_output_json": json_object(given["output"], "output"),
        "meta_json": json_object(meta or None, "meta")})
    return {"event": event}


def json_object(value: Any, name: str) -> str | None:
    """Returns the text of a JSON object; a text is passed on as it is."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False)
    raise TypeError(f"{name}: {type(value).__name__} given; expected a mapping or the text of a JSON object")


def spool_folder(choice: str | os.PathLike[str] | None, target: Target, token: Token) -> str | None:
    """Returns the folder of queued writes: of its own for each server and token, so that none reaches another."""
    if choice is None:
        return None
    root = os.fspath(choice)
    if root == "auto":
        state = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
        root = os.path.join(state, "errata", "spool")
    whose = hashlib.sha256(f"{target.url} {token.key_id}".encode()).hexdigest()[:16]
    return os.path.join(root, whose)


S = TypeVar("S", Examples, Prompt)


class ExtractionState:
    """The values that an extraction carries from its prompt to its record."""

    def __init__(self, document_id: str | None, layout: str | None, draft_order_id: str | None,
                 model: str | None) -> None:
        self.subject: dict[str, Any] = {"document_id": document_id, "layout": layout}
        self.draft_order_id = draft_order_id
        self.exposure_refs: list[str] = []  # ids of the served examples, in order
        self.model = model
        self.confidence: float | None = None  # confidence of the model's result, 0 to 1
        self.field_count: int | None = None  # number of extracted fields
        self.recorded = False

    def served(self, what: S) -> S:
        """Adds the reference of the served examples."""
        if what.exposure_ref and what.exposure_ref not in self.exposure_refs:
            self.exposure_refs.append(what.exposure_ref)
        return what

    def record_request(self, confidence: float, model: str | None, field_count: int | None) -> Json:
        """Returns the extraction to record."""
        self.recorded = True
        return without_none({
            "document_id": self.subject["document_id"], "draft_order_id": self.draft_order_id,
            "layout_fingerprint": self.subject["layout"], "confidence": confidence, "model": model or self.model,
            "field_count": self.field_count if field_count is None else field_count,
            "exposure_refs": list(self.exposure_refs)})

    def correction_options(self, more: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the arguments of `correct` for this document."""
        return {**self.subject, "draft_order_id": self.draft_order_id,
                "exposure_refs": tuple(self.exposure_refs), **more}
