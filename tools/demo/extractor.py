"""The simulated model: reads an order's text, and takes examples in its prompt for what they show.

For each field it knows several ways of reading a cell. Left alone it draws one, by how much it likes each.
An example shows a text and the corrected result: a way that gives this result where the others do not
is the one that the example teaches, and the model follows it with the probability given when a run begins; a model
that never does reads no better with examples than without. It knows nothing of forms or customers; an
example that is wrong, or of another form, would mislead it.
"""
import json
import re

SLIPS = 0.06  # share of its documents with an error that no example explains
UNIT_NAMES = {"ST": "PCE", "KAR": "CTN", "LFM": "MTR"}
EXAMPLES_AT = "Corrected before:\n"  # start of the examples, as JSON, in the prompt
TEMPLATE = ("Extract the order below as JSON. Orders of the same layout that people corrected show how it is "
            "read.\n" + EXAMPLES_AT + "{{hint_examples}}\nOrder:\n{{document_text}}")
DOCUMENT_AT = "\nOrder:\n"


def numbers_of(cell):
    return re.findall(r"\d+", cell)


def date_of(cell, day_first):
    parts = numbers_of(cell)
    if len(parts) != 3:
        return ""
    if len(parts[0]) == 4:
        return "-".join(parts)
    day, month = (parts[0], parts[1]) if day_first else (parts[1], parts[0])
    if not 1 <= int(month) <= 12:  # the order of day and month is unambiguous
        day, month = month, day
    return f"{parts[2]}-{month}-{day}"


def price_of(cell, decimal_comma):
    plain = cell.replace(".", "").replace(",", ".") if decimal_comma else cell.replace(",", "")
    try:
        return f"{float(plain):.2f}"
    except ValueError:
        return ""


# Field -> [(how much it is liked, the reading of a cell)].
HEADER = {
    "po_number": ((0.55, lambda cell: (numbers_of(cell) or [""])[0]),
                  (0.45, lambda cell: (re.findall(r"Order no\. (\d+)", cell) or [""])[0])),
    "delivery_date": ((0.5, lambda cell: date_of(cell, False)), (0.5, lambda cell: date_of(cell, True))),
}
LINE = {
    "customer_sku": ((0.5, lambda cell: cell.split(" / ")[-1]), (0.5, lambda cell: cell.replace(" / ", "-"))),
    "qty": ((0.5, lambda cell: int((numbers_of(cell) or [0])[0])),
            (0.5, lambda cell: int((numbers_of(cell) or [0])[-1]))),
    "uom": ((0.55, lambda cell: cell if cell in UNIT_NAMES.values() else "PCE"),
            (0.45, lambda cell: UNIT_NAMES.get(cell, cell))),
    # Prices with a comma are read as if it was for thousands, or for decimals if there is no point.
    "price": ((0.5, lambda cell: price_of(cell, False)),
              (0.5, lambda cell: price_of(cell, "," in cell))),
}
COLUMNS = {"customer_sku": 0, "qty": 2, "uom": 3, "price": 4}


def cells(text):
    """Field -> the cells of a text that it is read from."""
    rows = text.split("\n")
    table = [row.split(" | ") for row in rows[4:] if row.count(" | ") == 4]
    found = {"po_number": rows[1:2], "delivery_date": rows[2:3]}
    for field, column in COLUMNS.items():
        found[field] = [row[column] for row in table]
    return found


def values(output, field):
    """The field's values in a result, in the order of its cells."""
    if field in HEADER:
        return [output[field]] if field in output else []
    return [line.get(field) for line in output.get("lines", [])]


def taught_by(examples, field, ways):
    """The way of reading that examples single out; None where they show none, or different ones."""
    taught = set()
    for example in examples:
        read, right = cells(example["input_snippet"])[field], values(example["output"], field)
        if not right or len(read) != len(right):
            continue
        fitting = {n for n, (_, way) in enumerate(ways) if [way(cell) for cell in read] == right}
        if 0 < len(fitting) < len(ways):
            taught |= fitting
    return taught.pop() if len(taught) == 1 else None


def extract(prompt, draw, follows_share):
    """Simulates the model: returns (the order, its confidence, the number of fields). It follows examples with
    probability follows_share."""
    head, text = prompt.split(DOCUMENT_AT, 1)
    shown = head.split(EXAMPLES_AT, 1)[1].strip()
    examples = json.loads(shown) if shown else []
    found, guesses = cells(text), 0
    result = {"lines": [{} for _ in found["qty"]]}
    for field, ways in {**HEADER, **LINE}.items():
        taught, follows = taught_by(examples, field, ways), draw.random() < follows_share
        liked = draw.choices(range(len(ways)), [weight for weight, _ in ways])[0]
        chosen = taught if taught is not None and follows else liked
        read = [ways[chosen][1](cell) for cell in found[field]]
        if field in HEADER:
            result[field] = read[0] if read else ""
        else:
            for line, value in zip(result["lines"], read):
                line[field] = value
        doubtful = len({str([way(cell) for cell in found[field]]) for _, way in ways}) > 1
        guesses += doubtful and not (taught is not None and follows)
    if draw.random() < SLIPS and result["lines"]:
        result["lines"][draw.randrange(len(result["lines"]))]["qty"] += 1
    confidence = min(max(0.94 - 0.14 * guesses + draw.gauss(0, 0.03), 0), 1)
    return result, round(confidence, 6), len(HEADER) + len(LINE) * len(result["lines"])
