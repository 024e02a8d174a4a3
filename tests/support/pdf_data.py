"""The documents of tests/data/pdf, and others that tests make of them or by themselves.

What the manifest says of a file is what a reader of PDFs says: sizes of page 1 before its rotation.
"""
import csv
import os

import make_hostile
from erratad import ROOT

FOLDER = os.path.join(ROOT, "tests", "data", "pdf")
INVOICE = "layout/gen-L00-0.pdf"  # an A4 page with one table and text
SCAN = "scanned/scan-1.pdf"
ENCRYPTED = "encrypted/password-example.pdf"
PASSWORDS = {
    "encrypted/c-r6-in.pdf": ("user4", "owner4"),
    "encrypted/enc-R3_V2_U=view_O=master.pdf": ("view", "master"),
    "encrypted/health_protected.pdf": ("userpass", "ownerpass"),
    "encrypted/issue6010_1.pdf": ("abc",),
    "encrypted/own-r2-latin1.pdf": ("schl\u00fcssel", "owner"),
    "encrypted/own-r6-utf8.pdf": ("schl\u00fcssel", "\u043f\u0430\u0440\u043e\u043b\u044c"),
    "encrypted/password-example.pdf": ("test",),
}


def rows(*kinds):
    """The manifest's rows, of these kinds or of all."""
    with open(os.path.join(FOLDER, "manifest.tsv"), encoding="utf-8", newline="") as f:
        return [row for row in csv.DictReader(f, delimiter="\t")
                if not kinds or row["kind"] in kinds]


def read(path):
    with open(os.path.join(FOLDER, path), "rb") as f:
        return f.read()


def first_page_size(row):
    """Width and height as a viewer shows them: turned by the page's rotation."""
    width, height = float(row["page1_w"]), float(row["page1_h"])
    return (height, width) if int(row["page1_rotate"]) % 180 == 90 else (width, height)


def small(number=0):
    """A valid page of text; each number has other bytes and the same layout."""
    return make_hostile.Maker(0).page(make_hostile.HELLO) + b"% another copy\n" * number


def padded(size):
    """The same page in a file of exactly `size` bytes, by an object that nothing refers to."""
    make = make_hostile.Maker(0)
    objects = {1: make_hostile.CATALOG, 2: make_hostile.ONE_KID,
               3: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font "
                  b"<< /F1 5 0 R >> >> /Contents 4 0 R >>",
               4: (b"", make_hostile.HELLO), 5: make_hostile.FONT}
    padding = size - len(make.pdf({**objects, 6: (b"", b"")}))
    for digits in range(20):  # the stream's length and the table's place are written in digits
        data = make.pdf({**objects, 6: (b"", b"x" * (padding - digits))})
        if len(data) <= size:
            return data + b"\n" * (size - len(data))
    raise ValueError(f"{size} bytes are too few")


def slow():
    """A page whose text takes longer than a document may: half a gigabyte of spaces."""
    return make_hostile.Maker(0).page(make_hostile.bomb(b" " * make_hostile.MIB, 512),
                                      filter=b"/Filter /FlateDecode")


def busy(number=0):
    """A page that takes some tenths of a second: thousands of words over one another."""
    words = b"(Same place) Tj -50 0 Td " * 20000
    return make_hostile.Maker(0).deflated(b"BT /F1 10 Tf 72 700 Td " + words + b"ET",
                                          more={7: b"(%d)" % number})
