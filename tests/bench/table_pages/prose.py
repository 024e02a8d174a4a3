"""Text that is not a table: paragraphs in columns, lists and headings. Each function writes from `y` (the
baseline of its first line) down and returns the next free baseline."""


def wrap(paper, text, width, size=None):
    lines, line = [], ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if line and paper.font.width(longer, size or paper.size) > width:
            lines.append(line)
            longer = word
        line = longer
    return lines + [line]


def justified(paper, x, y, line, width):
    words = line.split()
    natural = sum(paper.font.width(word, paper.size) for word in words)
    space = (width - natural) / max(1, len(words) - 1)
    for word in words:
        x = paper.text(x, y, word) + space


def paragraph(paper, draw, x, y, width, *, sentences=None, justify=False, bottom=None, indent=0):
    text = " ".join(draw.sentence() for _ in range(sentences or draw.random.randint(2, 5)))
    lines = wrap(paper, text, width - indent)
    step = draw.leading * paper.size if draw.leading < 1.5 else 1.3 * paper.size
    for number, line in enumerate(lines):
        if bottom is not None and y > bottom:
            break
        left = x + (indent if number == 0 else 0)
        if justify and number + 1 < len(lines):
            justified(paper, left, y, line, width - (left - x))
        else:
            paper.text(left, y, line)
        y += step
    return y


def column(paper, draw, x, y, width, bottom, *, justify=False, headings=True):
    """Paragraphs down to `bottom`."""
    while y < bottom:
        if headings and draw.chance(0.2):
            paper.text(x, y, draw.name(2, 4), paper.size * 1.2)
            y += 1.8 * paper.size
        y = paragraph(paper, draw, x, y, width, justify=justify, bottom=bottom)
        y += draw.random.choice([0, 0.6, 1.0]) * paper.size
    return y


def bullets(paper, draw, x, y, width, count, mark=None, wordy=True):
    step = 1.3 * paper.size
    indent = draw.random.uniform(1.2, 3) * paper.size
    spaced = draw.random.choice([0, 0.5, 1]) * paper.size
    for number in range(1, count + 1):
        label = {"dash": "-", "number": f"{number}.", "letter": f"({chr(96 + number % 26 + (number % 26 == 0))})",
                 None: "\x95"}[mark]
        paper.text(x, y, label)
        text = " ".join(draw.sentence() for _ in range(draw.random.randint(1, 2))) if wordy else draw.phrase(1, 5)
        for line in wrap(paper, text, width - indent):
            paper.text(x + indent, y, line)
            y += step
        y += spaced
    return y
