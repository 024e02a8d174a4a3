"""A method of the contract: its path and the classes of its request and response."""
from __future__ import annotations

from typing import Generic, TypeVar, cast

from errata._message import Message, find_type

Q = TypeVar("Q", bound=Message)
R = TypeVar("R", bound=Message)


class Method(Generic[Q, R]):
    """`safe`: it changes nothing, so it needs no idempotency key to be repeated."""

    def __init__(self, path: str, request: str, response: str, safe: bool) -> None:
        self.path = path
        self.safe = safe
        self._request = request
        self._response = response

    def request_type(self) -> type[Q]:
        """Returns the class of requests."""
        return cast("type[Q]", find_type(self._request))

    def response_type(self) -> type[R]:
        """Returns the class of responses."""
        return cast("type[R]", find_type(self._response))
