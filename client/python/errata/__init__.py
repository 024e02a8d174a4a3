"""Errata from Python: examples for the next prompt, and corrections that become examples.

    from errata import Client

    client = Client("127.0.0.1:7443", token_file="admin.token")
    print(client.examples(layout="supplier-7").hint)
    client.correct({"qty": 10}, {"qty": 12}, layout="supplier-7", actor="ada")
"""
from pkgutil import extend_path

# Stubs that a program generated itself are in a package of the same name, errata.v1.
__path__ = extend_path(__path__, __name__)

from errata._surface import Example, Examples, Prompt  # noqa: E402
from errata._version import __version__  # noqa: E402
from errata.client import Client, Counts, Extraction  # noqa: E402
from errata.errors import (  # noqa: E402
    AlreadyExists, Cancelled, DeadlineExceeded, ErrataError, FailedPrecondition, Internal, InvalidArgument, NotFound,
    PermissionDenied, QueueFull, ResourceExhausted, Unauthenticated, Unavailable, Unimplemented, Unreachable, Untrusted,
    Violation)

__all__ = [
    "AlreadyExists", "Cancelled", "Client", "Counts", "DeadlineExceeded", "ErrataError", "Example", "Examples",
    "Extraction", "FailedPrecondition", "Internal", "InvalidArgument", "NotFound", "PermissionDenied", "Prompt",
    "QueueFull", "ResourceExhausted", "Unauthenticated", "Unavailable", "Unimplemented", "Unreachable", "Untrusted",
    "Violation",
    "__version__",
]
