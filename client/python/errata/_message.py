"""Messages as dataclasses, and their JSON on the wire (proto3's mapping of messages to JSON)."""
from __future__ import annotations

import base64
import importlib
from collections.abc import Mapping
from datetime import datetime, timezone
from enum import Enum
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, TypeVar

Json = dict[str, Any]
M = TypeVar("M", bound="Message")


class Kind(Enum):
    """The form of a value in JSON."""

    PLAIN = 0  # unchanged
    INTEGER = 1  # 64 bits: as text
    DOUBLE = 2  # a number, or the text NaN, Infinity or -Infinity
    BYTES = 3  # base64
    ENUM = 4  # the value's full name
    TIMESTAMP = 5  # RFC 3339 in UTC
    MESSAGE = 6  # an object


class Label(Enum):
    """The number of values of a field."""

    ONE = 0  # one; its default is not written
    OPTIONAL = 1  # one or None
    LIST = 2
    MAP = 3  # keys are texts


class FieldInfo(NamedTuple):
    """A field of a message."""

    name: str  # the attribute
    json: str  # the name in JSON
    kind: Kind
    label: Label
    type: str  # "module.Class" of an enum or a message, else ""


class Message:
    """Base of all messages of the contract."""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = ()

    def to_json(self) -> Json:
        """Returns the message as a JSON object, without absent and default values."""
        written: Json = {}
        for info in self.FIELDS:
            value = getattr(self, info.name)
            if value is None or (info.label is not Label.OPTIONAL and _is_default(info, value)):
                continue
            if info.label is Label.LIST:
                written[info.json] = [plain(one) for one in value]
            elif info.label is Label.MAP:
                written[info.json] = {key: plain(one) for key, one in value.items()}
            else:
                written[info.json] = plain(value)
        return written

    @classmethod
    def from_json(cls: type[M], data: Mapping[str, Any]) -> M:
        """Returns the message of a JSON object as the server writes it; unknown members are ignored."""
        message = cls()
        for info in cls.FIELDS:
            value = data.get(info.json)
            if value is None:
                continue
            read: Any
            if info.label is Label.LIST:
                read = [_read(info, one) for one in value]
            elif info.label is Label.MAP:
                read = {key: _read(info, one) for key, one in value.items()}
            else:
                read = _read(info, value)
            setattr(message, info.name, read)
        return message


def _is_default(info: FieldInfo, value: Any) -> bool:
    if info.kind is Kind.ENUM and info.label is Label.ONE:
        return str(plain(value)).endswith("_UNSPECIFIED")
    return not isinstance(value, Message) and not value


def plain(value: Any) -> Any:
    """Returns the JSON form of a value of a request: of messages, times, bytes and enums, in any depth of lists and
    mappings of messages; other values stay as they are."""
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, Message):
        return value.to_json()
    if isinstance(value, datetime):
        return write_time(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(bytes(value)).decode("ascii")
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(one) for one in value]
    raise TypeError(f"{type(value).__name__} has no form in JSON; expected a message, a mapping, a list, a text, "
                    "a number, a bool, bytes or a datetime")


def check_members(given: Mapping[str, Any], expected: type[Message]) -> None:
    """Raises TypeError for a member, in any depth, that the message does not have."""
    todo: list[tuple[str, Mapping[str, Any], type[Message]]] = [("", given, expected)]
    while todo:
        path, mapping, kind = todo.pop()
        infos = {name: info for info in kind.FIELDS for name in (info.name, info.name.rstrip("_"), info.json)}
        for name, value in mapping.items():
            info = infos.get(name)
            if info is None:
                raise TypeError(f"{path}{name}: unknown field of {kind.__name__}; expected one of "
                                f"{', '.join(one.name for one in kind.FIELDS) or 'none'}")
            if info.kind is Kind.MESSAGE:
                values = value.values() if info.label is Label.MAP and isinstance(value, Mapping) else \
                    value if isinstance(value, (list, tuple)) else (value,)
                todo += [(f"{path}{name}.", one, find_type(info.type)) for one in values if isinstance(one, Mapping)]


def _read(info: FieldInfo, value: Any) -> Any:
    kind = info.kind
    if kind is Kind.PLAIN:
        return value
    if kind is Kind.INTEGER:
        return int(value)
    if kind is Kind.DOUBLE:
        return float(value)
    if kind is Kind.BYTES:
        return base64.b64decode(value)
    if kind is Kind.TIMESTAMP:
        return read_time(value)
    found = find_type(info.type)
    if kind is Kind.MESSAGE:
        return found.from_json(value)
    try:
        return found(value)
    except ValueError:
        return value  # a value that this version does not know


@lru_cache(maxsize=None)
def find_type(path: str) -> Any:
    """Returns the class of "module.Class" in errata.types."""
    module, _, name = path.partition(".")
    return getattr(importlib.import_module(f"errata.types.{module}"), name)


def write_time(time: datetime) -> str:
    """Returns the time in UTC as RFC 3339, with microseconds. A time without a zone is taken as UTC."""
    time = time.replace(tzinfo=timezone.utc) if time.tzinfo is None else time.astimezone(timezone.utc)
    return time.strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0") + f".{time.microsecond:06d}Z"


def read_time(text: str) -> datetime:
    """Returns the UTC time of a timestamp in JSON; digits beyond microseconds are dropped."""
    head, _, rest = text.partition("Z")[0].partition(".")
    return datetime(int(head[0:4]), int(head[5:7]), int(head[8:10]), int(head[11:13]), int(head[14:16]),
                    int(head[17:19]), int((rest + "000000")[:6]), tzinfo=timezone.utc)
