"""A page as text, lines and boxes, written as a PDF with one page.

Places are in points from the upper left. Fonts are not embedded: each has its widths in the file, so that
the places of text do not depend on installed fonts. The file has the same bytes for the same calls.
"""

HELVETICA = (
    "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 "
    "278 278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 "
    "611 722 667 944 667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 "
    "556 556 556 556 333 500 278 556 500 722 500 500 500 334 260 334 584")
TIMES = (
    "250 333 408 500 500 833 778 180 333 333 500 564 250 333 250 278 500 500 500 500 500 500 500 500 500 500 "
    "278 278 564 564 564 444 921 722 667 667 722 611 556 722 722 333 389 722 611 889 722 722 556 722 667 556 "
    "611 722 722 944 722 722 611 333 278 333 469 500 333 444 500 444 500 500 333 500 500 278 278 500 278 778 "
    "500 500 500 500 333 389 278 500 500 722 500 500 444 480 200 480 541")
FIRST, LAST = 32, 126
BULLET = "\x95"  # bullet in WinAnsiEncoding


class Font:
    """Widths in thousandths of the size, and how far glyphs reach above and below the baseline."""

    def __init__(self, name, widths, stretch=1.0, ascent=720, descent=-210):
        self.name = name
        self.widths = [round(int(width) * stretch) for width in widths.split()]
        self.ascent, self.descent = ascent, descent

    def width(self, text, size):
        return sum(350 if char == BULLET else self.widths[ord(char) - FIRST] for char in text) * size / 1000


FONTS = {font.name: font for font in (
    Font("Helvetica", HELVETICA), Font("Times-Roman", TIMES, ascent=683, descent=-217),
    Font("Courier", " ".join(["600"] * 95), ascent=629, descent=-157),
    Font("Narrow", HELVETICA, 0.82, ascent=760, descent=-240),
    Font("Verdant", HELVETICA, 1.14, ascent=900, descent=-260), Font("Palace", TIMES, 1.09, ascent=800, descent=-280),
    Font("Typed", " ".join(["550"] * 95), ascent=700, descent=-200))}


def escape(text):
    return "".join("\\" + char if char in "()\\" else char for char in text)


class Paper:
    """A page; `truth` contains the boxes of its tables."""

    def __init__(self, font, size, width=595, height=842):
        self.font, self.size, self.width, self.height = FONTS[font], size, width, height
        self.operations, self.truth = [], []

    def text(self, x, baseline, text, size=None):
        """Writes text from x on; returns its end."""
        size = size or self.size
        if text.strip():
            self.operations.append(
                f"BT /F {size:g} Tf {x:.2f} {self.height - baseline:.2f} Td ({escape(text)}) Tj ET")
        return x + self.font.width(text, size)

    def aligned(self, x1, x2, baseline, text, side, size=None):
        """Writes text at the left, right or middle of a column; returns its box."""
        size = size or self.size
        width = self.font.width(text, size)
        x = {"l": x1, "r": x2 - width, "c": (x1 + x2 - width) / 2}[side]
        self.text(x, baseline, text, size)
        return self.box_of(x, baseline, width, size)

    def box_of(self, x, baseline, width, size=None):
        size = size or self.size
        return (x, baseline - 0.72 * size, x + width, baseline + 0.21 * size)

    def line(self, x1, y1, x2, y2, thickness=0.6):
        self.operations.append(f"{thickness:g} w {x1:.2f} {self.height - y1:.2f} m "
                               f"{x2:.2f} {self.height - y2:.2f} l S")

    def fill(self, x1, y1, x2, y2, gray):
        self.operations.append(f"{gray:g} g {x1:.2f} {self.height - y2:.2f} {x2 - x1:.2f} {y2 - y1:.2f} re f 0 g")

    def frame(self, x1, y1, x2, y2):
        self.operations.append(f"0.6 w {x1:.2f} {self.height - y2:.2f} {x2 - x1:.2f} {y2 - y1:.2f} re S")

    def add_truth(self, boxes):
        """A table is the box around the boxes of its cells."""
        self.truth.append((min(box[0] for box in boxes), min(box[1] for box in boxes),
                           max(box[2] for box in boxes), max(box[3] for box in boxes)))

    def pdf(self):
        font = self.font
        content = "\n".join(self.operations).encode("latin-1")
        widths = " ".join(map(str, font.widths))
        bodies = [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {self.width:g} {self.height:g}] /Contents 4 0 R "
            f"/Resources << /Font << /F 5 0 R >> >> >>".encode(),
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
            f"<< /Type /Font /Subtype /Type1 /BaseFont /{font.name} /Encoding /WinAnsiEncoding "
            f"/FirstChar {FIRST} /LastChar {LAST} /Widths [{widths}] /FontDescriptor 6 0 R >>".encode(),
            f"<< /Type /FontDescriptor /FontName /{font.name} /Flags 32 /FontBBox [-200 {font.descent} 1100 "
            f"{font.ascent}] /ItalicAngle 0 /Ascent {font.ascent} /Descent {font.descent} /CapHeight 700 "
            f"/StemV 80 /MissingWidth 350 >>".encode()]
        pieces, places, size = [b"%PDF-1.4\n"], [], 9
        for number, body in enumerate(bodies, 1):
            piece = b"%d 0 obj\n%s\nendobj\n" % (number, body)
            places.append(size)
            size += len(piece)
            pieces.append(piece)
        pieces.append(b"xref\n0 %d\n0000000000 65535 f \n" % (len(bodies) + 1))
        pieces += [b"%010d 00000 n \n" % place for place in places]
        pieces.append(b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(bodies) + 1, size))
        return b"".join(pieces)
