#!/usr/bin/python3
"""make_hostile.py FOLDER [VARIANT]: writes hostile PDFs, small on disk and large in effect.

VARIANT 0 (default) or 1 has other sizes, depths and random bytes. Needs only the standard library, and
is deterministic. Tests make the files when they run; the small ones of variant 0 are in
tests/data/pdf/hostile too. Also a module: files(variant) yields (name, bytes).
"""
import os
import random
import struct
import sys
import zlib

MIB = 1 << 20
CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
ONE_KID = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
HELLO = b"BT /F1 12 Tf 72 700 Td (Invoice 12345) Tj ET\n"


class Maker:
    """A variant: its parameters, and the bytes of a PDF made of objects."""

    def __init__(self, variant):
        self.variant = variant
        self.random = random.Random(7 + variant)
        self.good = self.page(HELLO + b"72 600 m 500 600 l S\n")

    def pick(self, first, second):
        """A parameter of this variant."""
        return second if self.variant else first

    def noise(self, size):
        return bytes(self.random.randrange(256) for _ in range(size))

    def pdf(self, objects):
        """Number -> bytes, or (dictionary, stream)."""
        out = bytearray(b"%%PDF-1.5\n%%\xe2\xe3\xcf\xd3\n%% variant %d\n" % self.variant)
        offsets = {}
        for number in sorted(objects):
            offsets[number] = len(out)
            body = objects[number]
            if isinstance(body, tuple):
                dictionary, stream = body
                out += b"%d 0 obj\n<< %s /Length %d >>\nstream\n" % (number, dictionary, len(stream))
                out += stream + b"\nendstream\nendobj\n"
            else:
                out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
        xref, size = len(out), max(objects) + 1
        out += b"xref\n0 %d\n0000000000 65535 f \n" % size
        for number in range(1, size):
            out += (b"%010d 00000 n \n" % offsets[number] if number in offsets
                    else b"0000000000 65535 f \n")
        out += b"trailer\n<< /Size %d /Root 1 0 R  >>\nstartxref\n%d\n%%%%EOF\n" % (size, xref)
        return bytes(out)

    def page(self, content, more=None, **parts):
        """Builds one page. Parts: box, resources, filter (of its content), entries (of the page)."""
        objects = {
            1: CATALOG, 2: ONE_KID,
            3: b"<< /Type /Page /Parent 2 0 R /MediaBox " + parts.get("box", b"[0 0 612 792]")
               + b" /Resources << " + parts.get("resources", b"/Font << /F1 5 0 R >>")
               + b" >> /Contents 4 0 R " + parts.get("entries", b"") + b" >>",
            4: (parts.get("filter", b""), content), 5: FONT}
        objects.update(more or {})
        return self.pdf(objects)

    def deflated(self, content, level=9, more=None, **parts):
        return self.page(zlib.compress(content, level), more, filter=b"/Filter /FlateDecode", **parts)


def bomb(unit, count):
    """zlib's format of `unit` repeated: one deflated block, repeated, so that it takes no time."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = squeeze.compress(unit) + squeeze.flush(zlib.Z_FULL_FLUSH)
    low, high = 1, 0  # Adler-32 so far (RFC 1950, 8.2)
    unit_low, unit_high = zlib.adler32(unit) & 0xffff, zlib.adler32(unit) >> 16
    for _ in range(count):
        high = (high + unit_high + len(unit) * (low - 1)) % 65521
        low = (low + unit_low - 1) % 65521
    return (b"\x78\xda" + block * count + squeeze.flush()
            + struct.pack(">I", high << 16 | low))


def damaged(make):
    yield "zero", b""
    yield "onebyte", b"%"
    yield "header-only", b"%PDF-1.7\n"
    yield "html", (b"<!doctype html><html><body><h1>Invoice %d</h1></body></html>" % make.variant)
    yield "png", b"\x89PNG\r\n\x1a\n" + make.noise(2000)
    yield "zip", b"PK\x03\x04" + make.noise(3000)
    yield "random", make.noise(20000)
    yield "random-with-header", b"%PDF-1.4\n" + make.noise(20000)
    good = make.good
    yield "trunc-half", good[:len(good) // 2]
    yield "trunc-noxref", good[:good.rfind(b"xref")]
    yield "junk-before-header", b"X" * make.pick(900, 1500) + good
    yield "bad-startxref", good.replace(b"startxref\n", b"startxref\n999")
    yield "missing-root", good.replace(b"/Root 1 0 R", b"/Rxxt 1 0 R")
    yield "nul-filled", good[:200] + b"\0" * 100000


def deflate_bombs(make):
    flate = b"/Filter /FlateDecode"
    yield "bomb-content-spaces", make.page(bomb(b" " * MIB, make.pick(512, 800)), filter=flate)
    yield "bomb-content-ops", make.page(bomb((b"0 0 m 1 1 l S\n" * 80000)[:MIB],
                                             make.pick(64, 100)), filter=flate)
    if make.variant == 0:
        yield "bomb-double-flate", make.page(zlib.compress(bomb(b"\0" * MIB, 1024), 9),
                                             filter=b"/Filter [/FlateDecode /FlateDecode]")
    else:
        inner = zlib.compress(bomb(b"\n" * MIB, 2048), 9)
        yield "bomb-double-flate", make.page(
            zlib.compress(inner, 9), filter=b"/Filter [/FlateDecode /FlateDecode /FlateDecode]")
    yield "bomb-many-filters", make.page(
        zlib.compress(HELLO), filter=b"/Filter [" + b"/FlateDecode " * make.pick(2000, 9000) + b"]")
    yield "bomb-asciihex-chain", make.page(HELLO.hex().encode() + b">",
                                           filter=b"/Filter [" + b"/ASCIIHexDecode " * 400 + b"]")
    yield from image_bombs(make)
    yield "bomb-objstm", make.pdf({
        1: CATALOG, 2: ONE_KID, 3: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>",
        7: (b"/Type /ObjStm /N 1000000000 /First 10 /Filter /FlateDecode",
            bomb(b"1 0 " * (MIB // 4), 200))})


def image(make, dictionary, data):
    return make.page(b"q 500 0 0 500 50 50 cm /Im0 Do Q\n",
                     {6: (b"/Type /XObject /Subtype /Image " + dictionary, data)},
                     resources=b"/XObject << /Im0 6 0 R >>")


def image_bombs(make):
    side = make.pick(40000, 60000)
    yield f"bomb-image-{side}", image(
        make, b"/Width %d /Height %d /BitsPerComponent 8 /ColorSpace /DeviceRGB "
        b"/Filter /FlateDecode" % (side, side), bomb(b"\x7f" * MIB, 600))
    yield "bomb-image-1bit", image(
        make, b"/Width 1000000 /Height 1000000 /BitsPerComponent 1 /ColorSpace /DeviceGray "
        b"/Filter /FlateDecode", bomb(b"\0" * MIB, 64))
    yield "bomb-rle-image", image(
        make, b"/Width 30000 /Height 30000 /BitsPerComponent 8 /ColorSpace /DeviceGray "
        b"/Filter /RunLengthDecode", b"\x81\x00" * 200000 + b"\x80")
    yield "jbig2-huge", image(
        make, b"/Width 65000 /Height 65000 /BitsPerComponent 1 /ColorSpace /DeviceGray "
        b"/Filter /JBIG2Decode",
        struct.pack(">IBBBIIIIIBH", 0, 0x30, 0, 1, 19, 0xFFFFFFF0, 0xFFFFFFF0, 0, 0, 0, 0))


def nesting(make):
    depth = make.pick(20000, 60000)
    yield "deep-arrays", make.page(HELLO, {6: b"[" * depth + b"]" * depth}, entries=b"/X 6 0 R")
    yield "deep-arrays-inline", make.page(b"[" * depth * 5 + b"]" * depth * 5 + b" TJ\n")
    yield "deep-dicts", make.page(
        HELLO, entries=b"/X " + b"<< /A " * depth + b"0" + b" >>" * depth)
    yield "deep-q", make.page(b"q " * depth * 10 + HELLO + b"Q " * depth * 10)
    good = make.good
    yield "xref-prev-loop", good.replace(b"/Root 1 0 R",
                                         b"/Root 1 0 R /Prev %d" % good.rfind(b"xref\n0"))
    yield "length-lie", good.replace(b"/Length ", b"/Length 99999999999")
    yield "length-self", make.pdf({
        1: CATALOG, 2: ONE_KID,
        3: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] /Contents 4 0 R >>",
        4: b"<< /Length 4 0 R >>\nstream\n" + HELLO + b"endstream"})
    many = b"/Contents [" + b"4 0 R " * make.pick(200000, 400000) + b"]"
    yield "contents-array-1e6", make.page(HELLO, entries=many).replace(b"/Contents 4 0 R ", b"", 1)


def page_trees(make):
    small = b"<< /Type /Page /Parent %d 0 R /MediaBox [0 0 100 100] >>"
    yield "tree-self", make.pdf({1: CATALOG, 2: b"<< /Type /Pages /Kids [2 0 R] /Count 1 >>"})
    yield "tree-cycle", make.pdf({
        1: CATALOG, 2: b"<< /Type /Pages /Kids [3 0 R 3 0 R] /Count 4 >>",
        3: b"<< /Type /Pages /Parent 2 0 R /Kids [2 0 R 4 0 R] /Count 2 >>", 4: small % 3})
    for name, count in (("lie", make.pick(2000000000, 300000)), ("neg", -5)):
        yield f"tree-count-{name}", make.pdf({
            1: CATALOG, 2: b"<< /Type /Pages /Kids [3 0 R] /Count %d >>" % count, 3: small % 2})
    depth = make.pick(3000, 30000)
    objects = {1: CATALOG, 2 + depth: small % (1 + depth)}
    for i in range(depth):
        parent = b"/Parent %d 0 R" % (1 + i) if i else b""
        objects[2 + i] = b"<< /Type /Pages /Kids [%d 0 R] /Count 1 %s >>" % (3 + i, parent)
    yield "tree-deep", make.pdf(objects)
    levels = 10  # ten identical children per level
    objects = {1: CATALOG, 2 + levels: b"<< /Type /Page /MediaBox [0 0 100 100] >>"}
    for i in range(2, 2 + levels):
        objects[i] = (b"<< /Type /Pages /Kids [" + b"%d 0 R " % (i + 1) * 10
                      + b"] /Count %d >>" % (10 ** (2 + levels - i)))
    yield "tree-exponential", make.pdf(objects)
    count = make.pick(20000, 50000)
    kids = b" ".join(b"%d 0 R" % (6 + i) for i in range(count))
    objects = {1: CATALOG, 2: b"<< /Type /Pages /Kids [" + kids + b"] /Count %d >>" % count,
               4: (b"", HELLO), 5: FONT}
    for i in range(count):
        objects[6 + i] = (b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R"
                          b"/Resources<</Font<</F1 5 0 R>>>>>>")
    yield f"pages-{count}", make.pdf(objects)


def page_boxes(make):
    boxes = {
        "huge": b"[0 0 1e9 1e9]", "14400": b"[0 0 14400 14400]", "negative": b"[500 700 -10 -20]",
        "zero": b"[0 0 0 0]", "nan": b"[0 0 nan inf]", "short": b"[0 0 612]",
        "overflow": b"[-99999999999999999999 0 99999999999999999999 1]",
        "tiny": b"[0 0 0.001 0.001]"}
    for name, box in boxes.items():
        yield f"box-{name}", make.page(HELLO + b"0 0 m 500 600 l S\n", box=box)
    yield "userunit", make.page(HELLO, entries=b"/UserUnit 75000")
    yield "rotate-odd", make.page(HELLO, entries=b"/Rotate %d" % make.pick(37, -2147483648))
    yield "crop-outside", make.page(HELLO, entries=b"/CropBox [5000 5000 6000 6000]")


FORM = b"/Type /XObject /Subtype /Form /BBox [0 0 600 600] "


def forms(make):
    yield "form-self", make.page(
        b"/X0 Do\n", {6: (FORM + b"/Resources << /XObject << /X0 6 0 R >> >>", b"/X0 Do\n")},
        resources=b"/XObject << /X0 6 0 R >>")
    levels = make.pick(7, 9)
    more = {6 + i: (FORM + b"/Resources << /Font << /F1 5 0 R >> /XObject << /X %d 0 R >> >>"
                    % (7 + i), b"/X Do " * 10) for i in range(levels)}
    more[6 + levels] = (FORM + b"/Resources << /Font << /F1 5 0 R >> >>", HELLO)
    yield "form-billion-laughs", make.page(b"/X Do\n", more, resources=b"/XObject << /X 6 0 R >>")
    yield "groups-nested", make.page(b"/X0 Do\n", {
        6 + i: (b"/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Group << /S /Transparency "
                b"/I true >> /Resources << /XObject << /X0 %d 0 R >> >>" % (7 + i),
                b"/X0 Do\n" if i < 99 else b"0 0 9 9 re f\n") for i in range(100)},
        resources=b"/XObject << /X0 6 0 R >>")
    yield "smask-self", make.page(
        b"/G0 gs 0 0 100 100 re f\n",
        {6: b"<< /Type /ExtGState /SMask << /S /Luminosity /G 7 0 R >> >>",
         7: (FORM + b"/Group << /S /Transparency /CS /DeviceGray >> "
             b"/Resources << /ExtGState << /G0 6 0 R >> >>", b"/G0 gs 0 0 100 100 re f\n")},
        resources=b"/ExtGState << /G0 6 0 R >>")


def patterns(make):
    fill = b"/Pattern cs /P0 scn 0 0 600 700 re f\n"
    tiling = b"/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 "
    pattern = {"resources": b"/Pattern << /P0 6 0 R >>"}
    yield "tiling-tiny-step", make.page(
        fill, {6: (tiling + b"/BBox [0 0 1 1] /XStep 0.0001 /YStep 0.0001 /Resources << >>",
                   b"0 0 1 1 re f\n")}, **pattern)
    yield "tiling-recursive", make.page(
        fill, {6: (tiling + b"/BBox [0 0 100 100] /XStep 100 /YStep 100 "
                   b"/Resources << /Pattern << /P0 6 0 R >> >>",
                   b"/Pattern cs /P0 scn 0 0 90 90 re f\n")}, **pattern)
    program = b"{ " + b"2 copy add sin 2 index mul exch pop " * 400 + b" pop pop 0 0 0 }"
    yield "shading-function", make.page(
        b"/S0 sh\n",
        {6: b"<< /ShadingType 1 /ColorSpace /DeviceRGB /Domain [0 1 0 1] "
            b"/Matrix [600 0 0 700 0 0] /Function 7 0 R >>",
         7: (b"/FunctionType 4 /Domain [0 1 0 1] /Range [0 1 0 1 0 1]", program)},
        resources=b"/Shading << /S0 6 0 R >>")


def dense_text(make):
    at = make.random.randint
    yield "text-million-glyphs", make.deflated(b"BT /F1 1 Tf " + b"".join(
        b"1 0 0 1 %d %d Tm (%s) Tj " % (at(0, 600), at(0, 780), b"abcdefghij" * 2)
        for _ in range(make.pick(20000, 50000))) + b"ET")
    yield "text-overprint", make.deflated(
        b"BT /F1 10 Tf 72 700 Td " + b"(Same place) Tj -50 0 Td " * make.pick(20000, 60000) + b"ET")
    yield "text-one-char-each", make.deflated(b"BT /F1 4 Tf " + b"".join(
        b"1 0 0 1 %d %d Tm (x) Tj " % (i % 150 * 4, i // 150 % 198 * 4)
        for i in range(make.pick(100000, 200000))) + b"ET")
    type3 = (b"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1000 1000] /FontMatrix [.001 0 0 .001 0 0] "
             b"/CharProcs << /a 7 0 R >> /Encoding << /Differences [97 /a] >> /FirstChar 97 "
             b"/LastChar 97 /Widths [1000] /Resources << /Font << /T3 6 0 R >> >> >>")
    yield "type3-self", make.page(
        b"BT /T3 10 Tf 72 700 Td (aaaa) Tj ET\n",
        {6: type3, 7: (b"", b"1000 0 d0 BT /T3 1 Tf (aaaaaaaa) Tj ET\n")},
        resources=b"/Font << /T3 6 0 R >>")
    ranges = (b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap 1 begincodespacerange "
              b"<00000000> <FFFFFFFF> endcodespacerange "
              + b"1 beginbfrange <00000000> <00FFFFFF> <0041> endbfrange " * 50 + b" endcmap end end")
    yield "cmap-huge-range", make.page(
        b"BT /F9 10 Tf 72 700 Td <00410042> Tj ET\n",
        {6: b"<< /Type /Font /Subtype /Type0 /BaseFont /Helvetica /Encoding /Identity-H "
            b"/DescendantFonts [8 0 R] /ToUnicode 7 0 R >>",
         7: (b"", ranges),
         8: b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Helvetica /CIDSystemInfo "
            b"<< /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> "
            b"/W [0 [1000] 1 16000000 500] >>"},
        resources=b"/Font << /F9 6 0 R >>")
    yield "owner-lang", make.page(
        b"BT /F1 12 Tf 72 700 Td (\\376\\377) Tj (" + b"\\000" * 100 + b") Tj ET\n")


def dense_paths(make):
    at = make.random.randint
    yield "paths-million", make.deflated(b"".join(
        b"%d %d m %d %d l S\n" % (at(0, 600), at(0, 780), at(0, 600), at(0, 780))
        for _ in range(make.pick(300000, 600000))), 6)
    lines = make.pick(1000, 2000)
    yield "rulings-grid", make.deflated(b"".join(
        b"0 %.2f m 612 %.2f l %.2f 0 m %.2f 792 l S\n"
        % (i * 792 / lines, i * 792 / lines, i * 612 / lines, i * 612 / lines)
        for i in range(lines)))
    yield "dash-tiny", make.page(b"[0.00001 0.00001] 0 d 0 0 m 600 700 l S\n")
    yield "clip-stack", make.page(b"0 0 600 700 re W n\n" * 100000)


def outside_fixture(make):
    """Documents that refer to a network, a program or a file."""
    link = (b"<< /Type /Annot /Subtype /Link /Rect [0 0 10 10] "
            b"/A << /S /URI /URI (http://127.0.0.1:9/) >> >>")
    yield "annots-1e5", make.page(HELLO, {6: link}, entries=b"/Annots [" + b"6 0 R "
                                  * make.pick(100000, 200000) + b"]")
    catalog = (b"<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /Launch /F (/bin/sh) >> "
               b"/Names << /JavaScript << /Names [(a) << /S /JavaScript /JS (while\\(1\\);) >>] >> "
               b">> >>")
    yield "launch-js", make.pdf({
        1: catalog, 2: ONE_KID,
        3: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
           b"/Resources << /Font << /F1 5 0 R >> >> >>",
        4: (b"", HELLO), 5: FONT})
    yield "external-stream", make.page(b"", filter=b"/F (/etc/passwd) /FFilter /None")


GROUPS = (damaged, deflate_bombs, nesting, page_trees, page_boxes, forms, patterns, dense_text,
          dense_paths, outside_fixture)


def files(variant=0):
    """(file name, bytes) of each."""
    make = Maker(variant)
    for group in GROUPS:
        for name, data in group(make):
            yield f"h{variant}-{name}.pdf", data


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for name, data in files(int(sys.argv[2]) if len(sys.argv) > 2 else 0):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)


if __name__ == "__main__":
    main()
