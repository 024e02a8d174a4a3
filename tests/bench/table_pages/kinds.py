"""The kinds of page. A kind is a function of a page, its random choices and the box of its text; `DEVELOPMENT`
and `HELD_OUT` state which part of the pages each occurs in."""
from .prose import bullets, column, paragraph, wrap
from .tables import Shape, notes, table


class Frame:
    """The page's margins; `y` is the next free baseline."""

    def __init__(self, paper, draw):
        self.left = draw.random.uniform(45, 80)
        self.right = paper.width - draw.random.uniform(45, 80)
        self.y = draw.random.uniform(60, 90)
        self.bottom = paper.height - draw.random.uniform(55, 80)

    @property
    def width(self):
        return self.right - self.left


def between(paper, draw, frame, sentences=None):
    """Writes a heading or a paragraph between other parts."""
    frame.y += 1.5 * paper.size
    if draw.chance(0.4):
        paper.text(frame.left, frame.y, draw.name(2, 5), paper.size * 1.25)
        frame.y += 2.2 * paper.size
    if sentences or draw.chance(0.6):
        frame.y = paragraph(paper, draw, frame.left, frame.y, frame.width, sentences=sentences or 2,
                            justify=draw.chance(0.5))
        frame.y += 1.5 * paper.size


def titled(paper, draw, frame, shape, after=True):
    """Prose, a title, a table, and prose or nothing."""
    if draw.chance(0.7):
        between(paper, draw, frame)
    if draw.chance(0.7):
        title = f"Table {draw.random.randint(1, 30)}. {draw.phrase(3, 9)}"
        paper.aligned(frame.left, frame.right, frame.y, title, draw.random.choice("lc"))
        frame.y += draw.random.uniform(1.5, 2.6) * paper.size
    x = frame.left + (draw.random.uniform(0, 40) if draw.chance(0.3) else 0)
    frame.y = table(paper, draw, x, frame.y, frame.right - x, shape)
    if after and draw.chance(0.6) and frame.y + 8 * paper.size < frame.bottom:
        between(paper, draw, frame, 3)


def plain(paper, draw, frame):
    titled(paper, draw, frame, Shape(header=draw.random.randint(1, 2), indented=draw.chance(0.3)))


def blank_rows(paper, draw, frame):
    titled(paper, draw, frame, Shape(blank_every=draw.random.randint(2, 6), rows=draw.random.randint(9, 24)))


def groups(paper, draw, frame):
    titled(paper, draw, frame, Shape(
        group_every=draw.random.randint(2, 6), group_side=draw.random.choice("lc"), indented=draw.chance(0.5),
        group_before=draw.random.choice([0, 0.4, 1]), rows=draw.random.randint(9, 22)))


def wrapped(paper, draw, frame):
    titled(paper, draw, frame, Shape(wrapped=0.5, columns=draw.random.randint(3, 5), rows=draw.random.randint(5, 14),
                                     group_side=draw.random.choice("lc")))


def footnotes(paper, draw, frame):
    titled(paper, draw, frame, Shape(), after=False)
    notes(paper, draw, frame.left, frame.y, frame.width, draw.random.randint(1, 5))


def totals(paper, draw, frame):
    titled(paper, draw, frame, Shape(totals=True, rows=draw.random.choice([10, 15, 20])))


def sparse(paper, draw, frame):
    titled(paper, draw, frame, Shape(empty=draw.random.uniform(0.25, 0.5), columns=draw.random.randint(4, 7)))


def ragged(paper, draw, frame):
    titled(paper, draw, frame, Shape(texts=draw.random.randint(1, 3), columns=draw.random.randint(3, 5)))


def narrow(paper, draw, frame):
    least = draw.style.gaps[0]
    titled(paper, draw, frame, Shape(gap=draw.random.uniform(least, least + 4), spread=False, columns=6))


def two_columns(paper, draw, frame):
    titled(paper, draw, frame, Shape(columns=2, spread=draw.chance(0.3), rows=draw.random.randint(6, 20)))


def wordy(paper, draw, frame):
    titled(paper, draw, frame, Shape(texts=2, columns=3, wordy=draw.random.randint(6, 14),
                                     rows=draw.random.randint(5, 9), first=draw.random.choice(["date", "text"])))


def several(paper, draw, frame):
    for _ in range(draw.random.randint(2, 3)):
        if frame.y > frame.bottom - 14 * paper.size * draw.leading:
            break
        between(paper, draw, frame, 3)
        frame.y = table(paper, draw, frame.left, frame.y, frame.width, Shape(rows=draw.random.randint(5, 9)))
        frame.y += paper.size


def in_column(paper, draw, frame):
    """Two columns of prose, one of them with a table."""
    gutter = draw.random.uniform(15, 30)
    width = (frame.width - gutter) / 2
    place = draw.random.randrange(2)
    for side in range(2):
        x = frame.left + side * (width + gutter)
        if side != place:
            column(paper, draw, x, frame.y, width, frame.bottom, justify=draw.chance(0.5))
            continue
        y = paragraph(paper, draw, x, frame.y, width, sentences=draw.random.randint(2, 6)) + 2 * paper.size
        y = table(paper, draw, x, y, width, Shape(columns=3, rows=draw.random.randint(6, 14), gap=10, spread=True))
        column(paper, draw, x, y + 2 * paper.size, width, frame.bottom)


def side_by_side(paper, draw, frame):
    gutter = draw.random.uniform(45, 70)
    width = (frame.width - gutter) / 2
    for side in range(2):
        table(paper, draw, frame.left + side * (width + gutter), frame.y, width,
              Shape(columns=3, rows=draw.random.randint(6, 14), gap=10, spread=True))


def ruled(paper, draw, frame):
    titled(paper, draw, frame, Shape(
        rules=draw.random.choice(["header ends", "rows", "rows columns", "header ends columns", "zebra header"]),
        group_every=draw.random.choice([0, 0, 4]), texts=draw.random.randint(0, 2)))


def half_ruled(paper, draw, frame):
    titled(paper, draw, frame, Shape(
        rules=draw.random.choice(["header", "ends", "short"]), header=draw.random.randint(1, 2),
        spanning=draw.chance(0.5), blank_every=draw.random.choice([0, 4]), totals=draw.chance(0.3)))


def leaders(paper, draw, frame):
    titled(paper, draw, frame, Shape(leaders=True, spread=True, columns=draw.random.randint(4, 6),
                                     indented=draw.chance(0.5), group_every=draw.random.choice([0, 5])))


def signs(paper, draw, frame):
    titled(paper, draw, frame, Shape(signs=True, gap=draw.random.uniform(18, 40), totals=draw.chance(0.5),
                                     group_every=draw.random.choice([0, 4]), indented=True))


def loose(paper, draw, frame):
    draw.leading = draw.random.uniform(1.9, 3.2)
    titled(paper, draw, frame, Shape(rows=draw.random.randint(6, 14), wrapped=draw.random.choice([0, 0.5])))


def long_headings(paper, draw, frame):
    """Groups of rows under headings nearly as wide as the table."""
    titled(paper, draw, frame, Shape(
        spread=True, group_every=draw.random.randint(2, 5), group_words=(6, 16), rows=draw.random.randint(8, 16),
        group_side=draw.random.choice("lc"), group_before=draw.random.choice([0, 0.5, 1])))


def panels(paper, draw, frame):
    """Draws a table with blank rows, headings and wrapped cells between its parts."""
    titled(paper, draw, frame, Shape(
        header=2, spanning=True, spread=True, columns=draw.random.randint(4, 7), wrapped=draw.random.choice([0, 0.4]),
        group_every=draw.random.randint(3, 7), group_before=draw.random.uniform(0.8, 1.8), empty=0.15,
        rows=draw.random.randint(12, 24), group_side=draw.random.choice("lc")))


def stacked(paper, draw, frame):
    """Tables with only titles between them."""
    for number in range(draw.random.randint(2, 4)):
        if number and frame.y > frame.bottom - 12 * paper.size * draw.leading:
            break
        paper.text(frame.left, frame.y, f"Table {number + 1}. {draw.phrase(3, 7)}")
        frame.y += 2 * paper.size
        frame.y = table(paper, draw, frame.left, frame.y, frame.width,
                        Shape(rows=draw.random.randint(5, 9), columns=draw.random.randint(3, 6), spread=True))
        frame.y += draw.random.uniform(2, 4) * paper.size


def short(paper, draw, frame):
    """A header and two or three rows, between paragraphs."""
    between(paper, draw, frame, 5)
    titled(paper, draw, frame, Shape(rows=draw.random.randint(2, 3), columns=draw.random.randint(4, 6), spread=True))
    between(paper, draw, frame, 4)


def mixed(paper, draw, frame):
    """Draws a table with rulings and one without."""
    shapes = [Shape(rows=draw.random.randint(5, 8), rules=draw.random.choice(["rows", "rows columns"])),
              Shape(rows=draw.random.randint(6, 12), columns=draw.random.randint(3, 6), spread=True)]
    draw.random.shuffle(shapes)
    for shape in shapes:
        between(paper, draw, frame, 3)
        frame.y = table(paper, draw, frame.left, frame.y, frame.width, shape) + paper.size


def list_and_table(paper, draw, frame):
    frame.y = bullets(paper, draw, frame.left, frame.y, frame.width, 4, draw.random.choice([None, "dash", "number"]))
    titled(paper, draw, frame, Shape(rows=8))


# ---- without tables ----

def columns_of_prose(count):
    def kind(paper, draw, frame):
        gutter = draw.random.uniform(12, 32)
        width = (frame.width - gutter * (count - 1)) / count
        justify = draw.chance(0.5)
        for i in range(count):
            column(paper, draw, frame.left + i * (width + gutter), frame.y, width, frame.bottom, justify=justify)
    return kind


def lists(mark):
    def kind(paper, draw, frame):
        long_items = draw.chance(0.5)
        while frame.y < frame.bottom - 12 * paper.size:
            frame.y = paragraph(paper, draw, frame.left, frame.y, frame.width, sentences=2) + paper.size
            room = int((frame.bottom - frame.y) / (6 * paper.size))
            frame.y = bullets(paper, draw, frame.left + 15, frame.y, frame.width - 15,
                              max(1, min(room, draw.random.randint(4, 9))), mark, long_items) + paper.size
    return kind


def form(paper, draw, frame):
    """Labels with lines or boxes to fill in, one or two beside each other, some filled in."""
    step = draw.random.uniform(1.8, 2.6) * paper.size
    beside = draw.random.randint(1, 3)
    style = draw.random.choice(["line", "underscores", "box", "none"])
    width = frame.width / beside
    aligned = draw.chance(0.5)
    while frame.y < frame.bottom - 100:
        if draw.chance(0.15):
            paper.text(frame.left, frame.y, draw.name(2, 4))
            frame.y += step
        for i in range(beside):
            x = frame.left + i * width
            end = paper.text(x, frame.y, draw.name(1, 2) + ":")
            field = x + 0.5 * width if aligned else end + 4
            field = max(field, end + 4)
            fill_field(paper, draw, field, x + width - 12, frame.y, style)
        frame.y += step
    paragraph(paper, draw, frame.left, frame.y, frame.width, sentences=2)


def fill_field(paper, draw, left, right, y, style):
    if right - left < 15:
        return
    if style == "line":
        paper.line(left, y + 2, right, y + 2)
    elif style == "box":
        paper.frame(left, y - paper.size, right, y + 3)
    elif style == "underscores":
        paper.text(left, y, "_" * int((right - left) / paper.font.width("_", paper.size)))
    text = draw.random.choice([draw.name(1, 2), draw.date(), str(draw.random.randint(1, 9999))])
    if draw.chance(0.4) and paper.font.width(text, paper.size) < right - left:
        paper.text(left + 3, y, text)


def letter(paper, draw, frame):
    """A letterhead, an address beside numbers, and prose."""
    step = 1.25 * paper.size
    paper.aligned(frame.left, frame.right, frame.y, draw.name(2, 4), "c", paper.size * 1.6)
    frame.y += 4 * paper.size
    for i in range(draw.random.randint(4, 6)):
        paper.text(frame.left, frame.y, draw.name(1, 3) if i % 2 else f"{draw.random.randint(1, 200)} {draw.name()}")
        if i < 4:
            paper.text(frame.right - 150, frame.y, draw.name(1, 1) + ":")
            paper.aligned(frame.right - 80, frame.right, frame.y,
                          draw.random.choice([draw.date(), str(draw.random.randint(1000, 999999))]), "l")
        frame.y += step
    frame.y += 2 * step
    for _ in range(draw.random.randint(2, 4)):
        frame.y = paragraph(paper, draw, frame.left, frame.y, frame.width, justify=draw.chance(0.3)) + step


def contents(paper, draw, frame):
    """Titles, optional dots, and the numbers of pages."""
    numbered, dots = draw.chance(0.6), draw.chance(0.7)
    page, step = 1, draw.random.uniform(1.3, 2) * paper.size
    paper.text(frame.left, frame.y, draw.name(1, 2), paper.size * 1.5)
    frame.y += 3 * paper.size
    for i in range(draw.random.randint(12, 30)):
        if frame.y > frame.bottom:
            break
        level = draw.random.randrange(3) if i else 0
        left = frame.left + 12 * level
        x = left
        if numbered:
            paper.text(x, frame.y, ".".join(["1", "2", "3"][:level + 1]) + ".")
            x += draw.random.choice([24, 30])
        end = paper.text(x, frame.y, draw.phrase(2, 7))
        page += draw.random.randrange(5)
        label = str(page)
        start = frame.right - paper.font.width(label, paper.size)
        if dots:
            dot = paper.font.width(".", paper.size)
            count = int((start - end - 6) / dot)
            paper.text(start - 3 - count * dot, frame.y, "." * max(0, count))
        paper.text(start, frame.y, label)
        frame.y += step


def references(paper, draw, frame):
    hanging = draw.random.uniform(12, 30)
    label = draw.random.choice(["[{}]", "{}.", ""])
    number = 0
    while frame.y < frame.bottom:
        number += 1
        text = (f"{draw.name(1, 1)}, {draw.name(1, 1)[0]}. ({draw.random.randint(1960, 2020)}) {draw.phrase(5, 14)}. "
                f"{draw.name(2, 3)} {draw.random.randint(1, 99)}({draw.random.randint(1, 12)}), "
                f"{draw.random.randint(1, 400)}-{draw.random.randint(400, 900)}.")
        paper.text(frame.left, frame.y, label.format(number))
        for i, line in enumerate(wrap(paper, text, frame.width - hanging)):
            paper.text(frame.left + (hanging if label or i else 0), frame.y, line)
            frame.y += 1.25 * paper.size
        frame.y += 0.5 * paper.size


def equations(paper, draw, frame):
    number = 0
    while frame.y < frame.bottom - 40:
        frame.y = paragraph(paper, draw, frame.left, frame.y, frame.width, sentences=2) + 0.8 * paper.size
        for _ in range(draw.random.randint(1, 4)):
            number += 1
            term = " + ".join(f"{draw.random.choice('abcxyz')}{draw.random.randint(1, 9)}"
                              for _ in range(draw.random.randint(2, 6)))
            side = draw.random.choice("cl")
            paper.aligned(frame.left + 40, frame.right - 60, frame.y, f"{draw.random.choice('FGHS')} = {term}", side)
            paper.aligned(frame.left, frame.right, frame.y, f"({number})", "r")
            frame.y += 1.9 * paper.size
        frame.y += 0.5 * paper.size


def chart(paper, draw, frame):
    """Draws one or two charts with axes, ticks, labels, and optionally grid lines and a legend; prose follows."""
    for _ in range(draw.random.randint(1, 2)):
        height = draw.random.uniform(130, 220)
        if frame.y + height > frame.bottom - 60:
            break
        paper.aligned(frame.left, frame.right, frame.y, f"Figure {draw.random.randint(1, 9)}. {draw.phrase(3, 8)}", "l")
        axes(paper, draw, frame.left + 40, frame.y + 15, frame.width * draw.random.uniform(0.6, 0.85), height)
        frame.y += height + 4 * paper.size
        frame.y = paragraph(paper, draw, frame.left, frame.y + 2 * paper.size, frame.width) + paper.size


def axes(paper, draw, x, y, width, height):
    ticks, groups_count = draw.random.randint(4, 9), draw.random.randint(4, 10)
    grid, bars, labelled = draw.chance(0.6), draw.chance(0.6), draw.chance(0.4)
    paper.line(x, y, x, y + height)
    paper.line(x, y + height, x + width, y + height)
    if draw.chance(0.4):
        paper.frame(x, y, x + width, y + height)
    for i in range(ticks + 1):
        level = y + height * (1 - i / ticks)
        paper.line(x - 3 if not grid else x, level, x if not grid else x + width, level, 0.3)
        paper.aligned(x - 40, x - 6, level + 0.3 * paper.size, f"{i * 10}", "r")
    upright = draw.chance(0.3)
    for i in range(groups_count):
        middle = x + width * (i + 0.5) / groups_count
        top = y + height * draw.random.uniform(0.15, 0.95)
        if upright:
            paper.line(x + width * i / groups_count, y, x + width * i / groups_count, y + height, 0.3)
        if bars:
            paper.fill(middle - 7, top, middle + 7, y + height, draw.random.choice([0.3, 0.5, 0.7]))
        if labelled:
            paper.aligned(middle - 15, middle + 15, top - 2, str(draw.random.randint(1, 99)), "c", paper.size * 0.9)
        paper.aligned(middle - 15, middle + 15, y + height + 1.2 * paper.size, str(1990 + i), "c", paper.size * 0.9)
    for i in range(draw.random.randint(0, 4)):
        top = y + 20 + i * 1.6 * paper.size
        paper.fill(x + width + 10, top - 6, x + width + 16, top, 0.4)
        paper.text(x + width + 20, top, draw.name(1, 1))


def headings(paper, draw, frame):
    """A slide: large lines, short points."""
    paper.aligned(frame.left, frame.right, frame.y, draw.name(2, 4), "c", paper.size * 2.2)
    frame.y += 4 * paper.size
    while frame.y < frame.bottom - 40:
        paper.text(frame.left, frame.y, draw.phrase(2, 6), paper.size * 1.5)
        frame.y += 2.2 * paper.size
        for _ in range(draw.random.randint(1, 4)):
            paper.text(frame.left + 20, frame.y, "- " + draw.phrase(2, 9), paper.size * 1.2)
            frame.y += 1.9 * paper.size


def grid_chart(paper, draw, frame):
    """A chart with lines in both directions and a box around it, and prose."""
    frame.y = paragraph(paper, draw, frame.left, frame.y, frame.width) + paper.size
    x, y = frame.left + 40, frame.y + 10
    width, height = frame.width * draw.random.uniform(0.6, 0.9), draw.random.uniform(140, 240)
    across, down = draw.random.randint(4, 9), draw.random.randint(3, 10)
    inside = draw.chance(0.4)
    for i in range(across + 1):
        level = y + height * i / across
        paper.line(x, level, x + width, level, 0.3)
        paper.aligned(x - 40, x - 5, level + 0.3 * paper.size, str((across - i) * 20), "r")
    for i in range(down + 1):
        place = x + width * i / down
        paper.line(place, y, place, y + height, 0.3)
        paper.aligned(place - 15, place + 15, y + height + 1.3 * paper.size, str(2000 + i), "c")
        if inside:
            paper.aligned(place - 15, place + 15, y + height * draw.random.uniform(0.1, 0.9), draw.number(), "c")
    for _ in range(draw.random.randint(0, 3)):
        paper.text(x + width * draw.random.uniform(0.1, 0.6), y + height * draw.random.uniform(0.1, 0.9),
                   draw.name(1, 2))
    frame.y = y + height + 4 * paper.size
    column(paper, draw, frame.left, frame.y, frame.width, frame.bottom)


def diagram(paper, draw, frame):
    """Boxes with words, and lines between them."""
    paper.text(frame.left, frame.y, draw.name(2, 4))
    across, down = draw.random.randint(2, 4), draw.random.randint(3, 6)
    width, height = frame.width / across, draw.random.uniform(60, 90)
    for i in range(across * down):
        if draw.chance(0.25):
            continue
        x = frame.left + width * (i % across)
        y = frame.y + 30 + height * (i // across)
        paper.frame(x, y, x + width - 25, y + height - 25)
        for number, line in enumerate(wrap(paper, draw.phrase(2, 6), width - 35)[:3]):
            paper.aligned(x, x + width - 25, y + 1.4 * paper.size + 1.2 * paper.size * number, line, "c")
        if i % across < across - 1:
            paper.line(x + width - 25, y + height / 3, x + width, y + height / 3)
    frame.y += 40 + height * down
    column(paper, draw, frame.left, frame.y, frame.width, frame.bottom)


def directory(paper, draw, frame):
    """Addresses beside each other."""
    across = draw.random.randint(2, 3)
    width = frame.width / across
    while frame.y < frame.bottom - 60:
        for i in range(across):
            lines = [draw.name(2, 3), draw.name(1, 2), f"{draw.random.randint(1, 300)} {draw.name(1, 1)}",
                     f"{draw.random.randint(10000, 99999)} {draw.name(1, 1)}"]
            for number, line in enumerate(lines[:draw.random.randint(3, 4)]):
                paper.text(frame.left + i * width, frame.y + 1.2 * paper.size * number, line)
        frame.y += draw.random.uniform(5.6, 7) * paper.size


def report(paper, draw, frame):
    """A page of a report: running head, headings, prose, a list, a footnote, the number of the page."""
    paper.text(frame.left, 35, draw.name(2, 4))
    paper.aligned(frame.left, frame.right, 35, str(draw.random.randint(1, 300)), "r")
    if draw.chance(0.5):
        paper.line(frame.left, 40, frame.right, 40)
    while frame.y < frame.bottom - 150:
        between(paper, draw, frame, 4)
        if draw.chance(0.5):
            frame.y = bullets(paper, draw, frame.left, frame.y, frame.width, 3,
                              draw.random.choice([None, "dash", "number", "letter"]), draw.chance(0.6))
    paper.line(frame.left, frame.bottom - 60, frame.left + 120, frame.bottom - 60)
    notes(paper, draw, frame.left, frame.bottom - 45, frame.width, 3)


# ---- only held out ----

def timetable(paper, draw, frame):
    shape = Shape(columns=7, rows=draw.random.randint(10, 20), gap=draw.random.uniform(8, 20), empty=0.2,
                  blank_every=5)
    titled(paper, draw, frame, shape)


def price_list(paper, draw, frame):
    titled(paper, draw, frame, Shape(columns=3, leaders=True, rows=draw.random.randint(8, 20), group_every=5))


def survey(paper, draw, frame):
    titled(paper, draw, frame, Shape(wrapped=0.6, spanning=True, header=2, columns=6, group_every=4, group_before=0.5,
                                     rules=draw.random.choice(["", "header", "short"]), rows=12))
    notes(paper, draw, frame.left, frame.y, frame.width, 3)


def glossary(paper, draw, frame):
    """Terms on the left, explanations on the right."""
    edge = frame.left + draw.random.uniform(80, 120)
    while frame.y < frame.bottom - 20:
        paper.text(frame.left, frame.y, draw.name(1, 1)[:14])
        frame.y = paragraph(paper, draw, edge, frame.y, frame.right - edge, sentences=2) + 0.6 * paper.size


def book_index(paper, draw, frame):
    """Words with page numbers, in three columns."""
    width = frame.width / 3
    for i in range(3):
        y = frame.y
        while y < frame.bottom:
            paper.text(frame.left + i * width, y,
                       f"{draw.word()}, {', '.join(str(draw.random.randint(1, 400)) for _ in range(2))}")
            y += 1.3 * paper.size


def code(paper, draw, frame):
    depth = 0
    while frame.y < frame.bottom:
        depth = max(0, min(4, depth + draw.random.randint(-1, 1)))
        line = f"{draw.word()}({draw.word()}, {draw.random.randint(0, 99)});" if draw.chance(0.6) else f"{draw.word()} = 0;"
        end = paper.text(frame.left + 20 * depth, frame.y, line)
        if draw.chance(0.3):
            paper.text(max(end + 15, frame.left + 220), frame.y, "/* " + draw.phrase(2, 4) + " */")
        frame.y += 1.3 * paper.size


def programme(paper, draw, frame):
    """Times and events, with prose."""
    paper.text(frame.left, frame.y, draw.name(2, 3), paper.size * 1.6)
    frame.y += 3 * paper.size
    while frame.y < frame.bottom - 30:
        frame.y = paragraph(paper, draw, frame.left, frame.y, frame.width, sentences=3) + paper.size
        for _ in range(3):
            paper.text(frame.left, frame.y, f"{draw.random.randint(8, 18)}:{draw.random.choice(['00', '15', '30'])}")
            paper.text(frame.left + 60, frame.y, draw.phrase(3, 9))
            frame.y += 1.5 * paper.size
        frame.y += paper.size


DEVELOPMENT = {
    "plain": plain, "blank rows": blank_rows, "groups": groups, "wrapped": wrapped, "footnotes": footnotes,
    "totals": totals, "sparse": sparse, "ragged": ragged, "narrow": narrow, "two columns": two_columns,
    "wordy": wordy, "several": several, "in column": in_column, "side by side": side_by_side, "ruled": ruled,
    "half ruled": half_ruled, "list and table": list_and_table, "leaders": leaders, "signs": signs, "loose": loose,
    "short": short, "mixed": mixed, "long headings": long_headings, "panels": panels, "stacked": stacked,
    "prose": columns_of_prose(1), "prose 2": columns_of_prose(2), "prose 3": columns_of_prose(3),
    "bullets": lists(None), "dashes": lists("dash"), "numbered": lists("number"), "lettered": lists("letter"),
    "form": form, "letter": letter, "contents": contents, "references": references, "equations": equations,
    "chart": chart, "grid chart": grid_chart, "diagram": diagram, "directory": directory, "headings": headings,
    "report": report,
}
HELD_OUT = {"timetable": timetable, "price list": price_list, "survey": survey, "glossary": glossary,
            "index": book_index, "code": code, "programme": programme}
