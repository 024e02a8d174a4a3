"""Errata for asyncio.

    from errata.aio import Client

    async with Client("127.0.0.1:7443", token_file="admin.token") as client:
        print((await client.examples(layout="supplier-7")).hint)
"""
from errata.aio.client import Client, Extraction

__all__ = ["Client", "Extraction"]
