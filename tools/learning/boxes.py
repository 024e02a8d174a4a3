"""Pages with text in boxes, as PDFs: how receipts that are known as images with transcribed boxes enter the server.

A page has the size of its image at 200 dots per inch. The text of each box is set in Helvetica, as high as the box
and stretched to its width, so that the server reads the same words at the same places as a scanner with text
recognition would store them. Nothing else is drawn.
"""
import struct

POINTS_PER_PIXEL = 72 / 200
MEAN_WIDTH = 0.5  # mean width of a Helvetica character, relative to its size


def image_size(content):
    """(width, height) of a JPEG; None if it has no frame header."""
    at = 2
    while at + 9 <= len(content) and content[at] == 0xFF:
        kind, length = content[at + 1], struct.unpack(">H", content[at + 2:at + 4])[0]
        if 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", content[at + 5:at + 9])
            return width, height
        at += 2 + length
    return None


def read_boxes(text):
    """[(left, top, right, bottom, text)] of lines x1,y1,x2,y2,x3,y3,x4,y4,text, in pixels from the top left."""
    found = []
    for line in text.splitlines():
        parts = line.split(",", 8)
        if len(parts) == 9 and parts[8].strip():
            numbers = [float(part) for part in parts[:8]]
            found.append((min(numbers[::2]), min(numbers[1::2]), max(numbers[::2]), max(numbers[1::2]), parts[8]))
    return found


def escaped(text):
    content = text.encode("cp1252", "replace")
    return content.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def page(boxes, size):
    """A PDF of one page; `size` in pixels, None: as large as its boxes."""
    width, height = size or (max(box[2] for box in boxes), max(box[3] for box in boxes))
    drawn = []
    for left, top, right, bottom, text in boxes:
        points = max((bottom - top) * POINTS_PER_PIXEL * 0.8, 1)
        stretch = 100 * (right - left) * POINTS_PER_PIXEL / (len(text) * MEAN_WIDTH * points)
        drawn.append(b"BT /F1 %.2f Tf %.2f Tz 1 0 0 1 %.2f %.2f Tm (%s) Tj ET" % (
            points, max(stretch, 1), left * POINTS_PER_PIXEL, (height - bottom) * POINTS_PER_PIXEL + points * 0.2,
            escaped(text)))
    stream = b"\n".join(drawn)
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 %.2f %.2f]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>" % (
            width * POINTS_PER_PIXEL, height * POINTS_PER_PIXEL),
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"]
    content, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(content))
        content += b"%d 0 obj%s endobj\n" % (number, body)
    start = len(content)
    content += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    content += b"".join(b"%010d 00000 n \n" % place for place in places)
    return content + b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
