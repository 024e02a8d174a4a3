"""Prints the use of the pages of a store's data file, by table. Reads LMDB's file directly (data version 1, 64 bits,
little-endian); no server may have the store open. LMDB's own tools count pages, but do not report their fill."""
import mmap
import os
import struct

HEAD_BYTES = 16  # size of a page's head
META_TREES = HEAD_BYTES + 24  # a meta page's two trees, last page and commit
TREE = struct.Struct("<IHHQQQQQ")  # pad, flags, depth, branches, leaves, overflow pages, entries, root
BRANCH, LEAF = 0x01, 0x02  # flags of pages
ON_OVERFLOW, IS_TREE = 0x01, 0x02  # flags of nodes
NO_PAGE = 2**64 - 1


class Tree:
    """A table: its pages by kind, and the bytes used by rows."""

    def __init__(self, name, record):
        (_, _, self.depth, self.branch_pages, self.leaf_pages, self.overflow_pages, self.entries,
         self.root) = TREE.unpack_from(record)
        self.name = name
        self.leaf_used = self.overflow_used = self.key_bytes = self.value_bytes = 0

    @property
    def pages(self):
        return self.branch_pages + self.leaf_pages + self.overflow_pages


class StorePages:
    """The data file of a folder."""

    def __init__(self, folder):
        path = os.path.join(folder, "db", "data.mdb")
        self.file_bytes = os.path.getsize(path)
        with open(path, "rb") as f:
            self.bytes = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
        self.page_bytes = struct.unpack_from("<I", self.bytes, META_TREES)[0]
        meta = max((0, self.page_bytes),
                   key=lambda at: struct.unpack_from("<Q", self.bytes, at + META_TREES + 2 * TREE.size + 8))
        self.last_page = struct.unpack_from("<Q", self.bytes, meta + META_TREES + 2 * TREE.size)[0]
        self.free = Tree("free list", self.bytes[meta + META_TREES:][:TREE.size])
        names = Tree("names", self.bytes[meta + META_TREES + TREE.size:][:TREE.size])
        self.tables = [Tree(key.decode(), value) for key, flags, value in self.nodes(names) if flags & IS_TREE]
        for table in self.tables:
            self.count(table)

    def nodes(self, tree):
        """The rows of a tree: key, flags of the node, and the value, or only its size if it has pages of its own."""
        pages = [tree.root] if tree.root != NO_PAGE else []
        while pages:
            at = pages.pop() * self.page_bytes
            kind, lower, upper = struct.unpack_from("<HHH", self.bytes, at + 10)
            offsets = struct.unpack_from(f"<{(lower - HEAD_BYTES) // 2}H", self.bytes, at + HEAD_BYTES)
            if kind & LEAF:
                tree.leaf_used += self.page_bytes - HEAD_BYTES - (upper - lower)
            for offset in offsets:
                low, flags, key_bytes = struct.unpack_from("<IHH", self.bytes, at + offset)
                key_at = at + offset + 8
                if kind & BRANCH:
                    pages.append(low | flags << 32)
                    continue
                value_at = key_at + key_bytes
                value = None if flags & ON_OVERFLOW else self.bytes[value_at:value_at + low]
                tree.key_bytes += key_bytes
                tree.value_bytes += low
                tree.overflow_used += low if flags & ON_OVERFLOW else 0
                yield self.bytes[key_at:value_at], flags, value

    def count(self, table):
        for _ in self.nodes(table):
            pass

    def close(self):
        self.bytes.close()

    def report(self, events):
        """Prints the bytes per event of every table with rows, largest first."""
        lines = ["table | rows an event | key + value bytes of a row | leaf, overflow, branch pages | "
                 "full: leaves, overflow | depth | bytes of file an event"]
        used = sorted((table for table in self.tables if table.entries), key=lambda table: -table.pages)
        room = self.page_bytes - HEAD_BYTES
        for table in used:
            overflow = table.overflow_used / (table.overflow_pages * self.page_bytes) if table.overflow_pages else 0
            lines.append(
                f"{table.name} | {table.entries / events:.3f} | {table.key_bytes / table.entries:.0f} + "
                f"{table.value_bytes / table.entries:.0f} | {table.leaf_pages}, {table.overflow_pages}, "
                f"{table.branch_pages} | {table.leaf_used / (table.leaf_pages * room):.2f}, {overflow:.2f} | "
                f"{table.depth} | {table.pages * self.page_bytes / events:.0f}")
        held = sum(table.pages for table in self.tables)
        lines.append(f"free, names, metas: {(self.last_page + 1 - held) * self.page_bytes / events:.0f}")
        lines.append(f"all: {self.file_bytes / events:.0f}")
        return "\n".join(lines)
