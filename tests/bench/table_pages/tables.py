"""Tables. `table` writes one and adds its box to the page's truth: header and body, without title and notes."""
from .prose import wrap


class Shape:
    """Properties of a table; None: drawn at random."""

    def __init__(self, **fields):
        self.rows = self.columns = None
        self.header = 1  # number of header lines
        self.spanning = False  # the header's first line has cells over several columns
        self.blank_every = 0  # number of rows between blank rows; 0: none
        self.group_every = 0  # number of rows between headings that span the whole width; 0: none
        self.group_side = "l"
        self.group_before = 0.0  # space above a group's heading, in rows
        self.wrapped = 0.0  # share of rows whose first cell has several lines
        self.empty = 0.0  # share of cells without text
        self.totals = False
        self.indented = False
        self.texts = 0  # number of text columns in addition to the first
        self.wordy = 0  # number of words of a wrapped text cell; 0: short
        self.first = "text"  # content of the first column: "text", "number" or "date"
        self.leaders = False  # dots after the first cell
        self.signs = False  # a currency sign apart from the numbers of the first and last row
        self.group_words = (2, 4)
        self.rules = ""  # any of: header, ends, rows, columns, zebra, short
        self.gap = None
        self.spread = None  # None: the columns fill the width
        self.__dict__.update(fields)


def make_columns(draw, shape, count):
    columns = ["first"]
    kinds = ["number", "number", "money", "date"]
    for i in range(1, count):
        columns.append("text" if i <= shape.texts else draw.random.choice(kinds[:3 if i > 1 else 4]))
    return columns


def side_of(kind):
    return "r" if kind in ("number", "money") else "l"


def make_cell(draw, shape, kind, row):
    if kind == "first":
        if shape.first == "number":
            return str(row + 1)
        if shape.first == "date":
            return draw.date()
        return draw.phrase(1, 4)
    if draw.chance(shape.empty):
        return draw.random.choice(["", "", "-"])
    if kind == "text":
        return draw.phrase(shape.wordy // 2, shape.wordy) if shape.wordy else draw.name(1, 2)
    return {"number": draw.number, "money": draw.money, "date": draw.date}[kind]()


class Grid:
    """The places of columns, and the cells' lines."""

    def __init__(self, paper, draw, shape, x, width):
        count = shape.columns or draw.random.randint(3, 6)
        rows = shape.rows or draw.random.randint(6, 22)
        self.kinds = make_columns(draw, shape, count)
        self.cells = [[make_cell(draw, shape, kind, row) for kind in self.kinds] for row in range(rows)]
        self.heads = [draw.name(1, 2) for _ in self.kinds]
        gap = shape.gap or draw.random.uniform(*draw.style.gaps)
        self.fit(paper, draw, shape, width, gap)
        room = width - sum(self.widths)
        spread = draw.chance(0.6) if shape.spread is None else shape.spread
        self.gap = max(gap, room / max(1, len(self.kinds) - 1)) if spread else gap
        self.lefts = [x + sum(self.widths[:i]) + self.gap * i for i in range(len(self.kinds))]
        self.rights = [left + wide for left, wide in zip(self.lefts, self.widths)]

    def fit(self, paper, draw, shape, width, gap):
        """Drops columns until the rest fits; texts that are wrapped share what is left."""
        def natural(column):
            texts = [row[column] for row in self.cells] + [self.heads[column]]
            return max(paper.font.width(text, paper.size) for text in texts)
        narrow = {}
        if shape.wrapped:
            narrow[0] = draw.random.uniform(70, 110)
        if shape.wordy:
            narrow.update({i: width / len(self.kinds) - gap for i, kind in enumerate(self.kinds) if kind == "text"})
        while True:
            self.widths = [max(min(natural(i), narrow.get(i, 1e9)), 20) for i in range(len(self.kinds))]
            if sum(self.widths) + gap * (len(self.kinds) - 1) <= width or len(self.kinds) == 2:
                break
            self.kinds.pop()
            self.heads.pop()
            self.cells = [row[:-1] for row in self.cells]

    def lines(self, paper, column, text):
        if paper.font.width(text, paper.size) <= self.widths[column] + 0.01:
            return [text]
        return wrap(paper, text, self.widths[column])


class Writer:
    def __init__(self, paper, draw, shape, grid, y):
        self.paper, self.draw, self.shape, self.grid, self.y = paper, draw, shape, grid, y
        self.step = draw.leading * paper.size
        self.boxes = []
        self.borders = []  # baselines at the end of each row

    def write(self, column, baseline, text, side, right=None):
        if text:
            self.boxes.append(self.paper.aligned(self.grid.lefts[column], right or self.grid.rights[column],
                                                 baseline, text, side))

    def header(self):
        shape, grid = self.shape, self.grid
        if shape.spanning and len(grid.kinds) >= 4:
            middle = len(grid.kinds) // 2 + 1
            self.write(1, self.y, self.draw.name(1, 2), "c", grid.rights[middle - 1])
            self.write(middle, self.y, self.draw.name(1, 2), "c", grid.rights[-1])
            self.y += self.step
        for line in range(shape.header):
            for column, kind in enumerate(grid.kinds):
                words = [self.heads_line(column, line)]
                self.write(column, self.y, words[0], side_of(kind) if kind != "text" else "l")
            self.y += self.step if line + 1 == shape.header else min(self.step, 1.2 * self.paper.size)
        if shape.header and self.draw.chance(0.4):
            self.y += 0.3 * self.step
        self.borders.append(self.y - self.step)

    def heads_line(self, column, line):
        if self.shape.header == 1:
            return self.grid.heads[column]
        words = self.grid.heads[column].split()
        return words[line] if line < len(words) else ""

    def group(self):
        self.y += self.shape.group_before * self.step
        text = self.draw.name(*self.shape.group_words)
        room = self.grid.rights[-1] - self.grid.lefts[0]
        while self.paper.font.width(text, self.paper.size) > room:
            text = text.rsplit(" ", 1)[0]
        self.write(0, self.y, text, self.shape.group_side,
                   self.grid.rights[-1] if self.shape.group_side == "c" else None)
        self.y += self.step
        self.borders.append(self.y - self.step)

    def row(self, number, cells):
        shape, paper, grid = self.shape, self.paper, self.grid
        lines = [grid.lines(paper, column, text) for column, text in enumerate(cells)]
        count = max(len(cell) for cell in lines)
        tight = 1.15 * paper.size
        indent = 8 if shape.indented and number % 4 else 0
        for column, cell in enumerate(lines):
            late = count - 1 if column > 0 and len(cell) == 1 and shape.group_side == "c" and not shape.wordy else 0
            for place, text in enumerate(cell):
                baseline = self.y + tight * (place + late)
                if column == 0 and indent:
                    box = paper.aligned(grid.lefts[0] + indent, 0, baseline, text, "l")
                    self.boxes.append(box)
                else:
                    self.write(column, baseline, text, side_of(grid.kinds[column]))
        if shape.leaders:
            self.leaders(cells[0])
        if shape.signs and number in (0, len(grid.cells) - 1):
            for column, kind in enumerate(grid.kinds):
                if side_of(kind) == "r":
                    paper.text(grid.lefts[column] - 1.2 * paper.size, self.y, "$")
        self.y += tight * (count - 1)
        self.borders.append(self.y)
        self.y += self.step

    def leaders(self, text):
        paper, grid = self.paper, self.grid
        start = grid.lefts[0] + paper.font.width(text, paper.size) + 2
        dot = paper.font.width(".", paper.size)
        dots = int((grid.lefts[1] - 4 - start) / dot)
        if dots > 0:
            paper.text(start, self.y, "." * dots)

    def body(self):
        shape, grid = self.shape, self.grid
        for number, cells in enumerate(grid.cells):
            if self.y > self.paper.height - 60:
                break
            if shape.group_every and number % shape.group_every == 0:
                self.group()
            elif shape.blank_every and number and number % shape.blank_every == 0:
                self.y += self.step * self.draw.random.uniform(*self.draw.style.blanks)
            self.row(number, cells)
            if shape.totals and number % 5 == 4:
                self.total()

    def total(self):
        paper, grid = self.paper, self.grid
        for column in range(1, len(grid.kinds)):
            if side_of(grid.kinds[column]) == "r":
                top = self.y - 0.95 * paper.size
                paper.line(grid.lefts[column], top, grid.rights[column], top)
                self.write(column, self.y, self.draw.number(), "r")
        self.write(0, self.y, "Total" if self.draw.chance(0.5) else "", "l")
        self.borders.append(self.y)
        self.y += self.step * 1.4

    def rule(self, top):
        """Lines and shades; `top` is the first baseline."""
        shape, grid, paper = self.shape, self.grid, self.paper
        x1, x2 = grid.lefts[0] - 3, grid.rights[-1] + 3
        above = top - self.step * 0.5 - 0.4 * paper.size
        below = [border + 0.32 * self.step for border in self.borders]
        if "ends" in shape.rules:
            paper.line(x1, above, x2, above)
            paper.line(x1, below[-1], x2, below[-1])
        if "header" in shape.rules and shape.header:
            paper.line(x1, below[0], x2, below[0])
        if "rows" in shape.rules:
            for border in below:
                paper.line(x1, border, x2, border)
            paper.line(x1, above, x2, above)
        if "columns" in shape.rules:
            places = [x1] + [(right + left) / 2 for right, left in zip(grid.rights, grid.lefts[1:])] + [x2]
            for place in places:
                paper.line(place, above, place, below[-1])
        if "short" in shape.rules:
            for left, right in zip(grid.lefts, grid.rights):
                paper.line(left, below[0], right, below[0])

    def zebra(self, top):
        shades = []
        grid = self.grid
        bottoms = [border + 0.3 * self.step for border in self.borders]
        for number in range(1, len(bottoms), 2):
            y = bottoms[number - 1]
            shades.append((grid.lefts[0] - 3, y, grid.rights[-1] + 3, bottoms[number]))
        before, self.paper.operations = self.paper.operations, []
        for shade in shades:
            self.paper.fill(*shade, 0.9)
        self.paper.operations += before


def table(paper, draw, x, y, width, shape):
    """Writes a table whose first baseline is `y`; returns the next free baseline."""
    writer = Writer(paper, draw, shape, Grid(paper, draw, shape, x, width), y)
    writer.header()
    writer.body()
    writer.rule(y)
    if "zebra" in shape.rules:
        writer.zebra(y)
    paper.add_truth(writer.boxes)
    return writer.y


def notes(paper, draw, x, y, width, count):
    size = paper.size * 0.85
    for number in range(count):
        text = f"{number + 1} {draw.sentence()}" if number else f"Source: {draw.sentence()}"
        for line in wrap(paper, text, width, size):
            paper.text(x, y, line, size)
            y += 1.2 * size
    return y
