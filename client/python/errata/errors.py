"""Errors of calls: one class for each status code of the contract, with the details that the server sent."""
from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Violation:
    """An invalid field of a request."""

    field: str  # its path
    description: str  # the error, and the expected form


class ErrataError(Exception):
    """A call failed. `code` is the status code in lower case, as `invalid_argument`."""

    code = "unknown"

    def __init__(self, message: str, *, violations: tuple[Violation, ...] = (), reason: str = "",
                 retry_after: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.violations = violations  # every invalid field, of invalid_argument
        self.reason = reason  # a constant such as TOKEN_EXPIRED, where the server gives one
        self.retry_after = retry_after  # seconds after which the server permits another attempt

    def __str__(self) -> str:
        listed = "".join(f"\n  {one.field}: {one.description}" for one in self.violations
                         if one.description not in self.message)
        return f"{self.code}: {self.message}{listed}"


class Cancelled(ErrataError):
    """The caller cancelled the call."""

    code = "canceled"


class InvalidArgument(ErrataError):
    """The request is invalid; `violations` names every field."""

    code = "invalid_argument"


class DeadlineExceeded(ErrataError):
    """The time limit passed. A write may have been stored: repeat it with the same idempotency key."""

    code = "deadline_exceeded"


class NotFound(ErrataError):
    """The organisation has no such resource."""

    code = "not_found"


class AlreadyExists(ErrataError):
    """The id or the idempotency key was used with other content."""

    code = "already_exists"


class PermissionDenied(ErrataError):
    """The token's role may not call the method."""

    code = "permission_denied"


class ResourceExhausted(ErrataError):
    """A limit of size or rate, or a full disk."""

    code = "resource_exhausted"


class FailedPrecondition(ErrataError):
    """The state does not allow the call."""

    code = "failed_precondition"


class Unimplemented(ErrataError):
    """The server has no such method."""

    code = "unimplemented"


class Internal(ErrataError):
    """A fault of the server, or an answer that can't be read."""

    code = "internal"


class Unavailable(ErrataError):
    """The server refuses calls for now, drains, or can't write."""

    code = "unavailable"


class Unreachable(Unavailable):
    """No connection to the server, or it ended before an answer."""


class Untrusted(ErrataError):
    """The server's certificate is not accepted, so nothing was sent. Queued writes wait until it is."""


class Unauthenticated(ErrataError):
    """There is no token, or it is unknown, revoked or expired."""

    code = "unauthenticated"


class QueueFull(ErrataError):
    """The background queue is full: the server was away for too long. The correction was not queued."""

    code = "resource_exhausted"


_CLASSES = {kind.code: kind for kind in (
    Cancelled, InvalidArgument, DeadlineExceeded, NotFound, AlreadyExists, PermissionDenied, ResourceExhausted,
    FailedPrecondition, Unimplemented, Internal, Unavailable, Unauthenticated)}
# Codes of HTTP without a body in JSON, as a proxy answers (connectrpc.com/docs/protocol, "HTTP to error code").
_OF_STATUS = {400: Internal, 401: Unauthenticated, 403: PermissionDenied, 404: Unimplemented, 429: Unavailable,
              502: Unavailable, 503: Unavailable, 504: Unavailable}


def of_status(status: int, text: str) -> ErrataError:
    """Returns the error of an answer that has no error in JSON."""
    error = _OF_STATUS.get(status, ErrataError)(f"HTTP status {status}: {text.strip()[:200] or 'no text'}")
    return error


def of_json(status: int, error: Any) -> ErrataError:
    """Returns the error of Connect's JSON: code, message and details."""
    if not isinstance(error, Mapping) or not isinstance(error.get("code"), str):
        return of_status(status, "the answer has no error code")
    kind = _CLASSES.get(error["code"], ErrataError)
    violations: list[Violation] = []
    reason = ""
    retry_after = None
    details = error.get("details")
    for detail in details if isinstance(details, list) else []:
        try:
            name, value = detail["type"], base64.b64decode(detail["value"] + "==")
            if name == "google.rpc.BadRequest":
                violations += [_violation(part) for number, part in _fields(value) if number == 1]
            elif name == "google.rpc.RetryInfo":
                retry_after = sum(_seconds(part) for number, part in _fields(value) if number == 1)
            elif name == "google.rpc.ErrorInfo":
                reason = "".join(_text(part) for number, part in _fields(value) if number == 1)
        except (KeyError, TypeError, ValueError, IndexError):
            continue  # a detail that this version does not know
    return kind(str(error.get("message", "")), violations=tuple(violations), reason=reason, retry_after=retry_after)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value, at
    raise ValueError("a varint is longer than ten bytes")


def _fields(data: bytes) -> Iterator[tuple[int, bytes | int]]:
    """Yields number and value of the varints and length-delimited fields of a message (protobuf.dev, "Encoding")."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        if key & 7 == 0:
            value, at = _varint(data, at)
            yield key >> 3, value
        elif key & 7 == 2:
            size, at = _varint(data, at)
            yield key >> 3, data[at:at + size]
            at += size
        else:
            raise ValueError("a field of a fixed size")


def _text(part: bytes | int) -> str:
    return part.decode("utf-8", "replace") if isinstance(part, bytes) else ""


def _violation(part: bytes | int) -> Violation:
    members = dict(_fields(part)) if isinstance(part, bytes) else {}
    return Violation(_text(members.get(1, b"")), _text(members.get(2, b"")))


def _seconds(part: bytes | int) -> float:
    members = dict(_fields(part)) if isinstance(part, bytes) else {}
    seconds, nanos = members.get(1, 0), members.get(2, 0)
    return (seconds if isinstance(seconds, int) else 0) + (nanos if isinstance(nanos, int) else 0) / 1e9
