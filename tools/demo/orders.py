"""The simulated company: customers, the forms that they order on, their articles, and the orders.

A form is text with habits: a pack size in front of the quantity, a decimal comma, a unit in the customer's
own code, an article number in two parts, a date the other way round, a customer number in front of the order's. Some
customers change their form on the way. All of it follows from a seed.
"""
import dataclasses
import datetime
import random

TOWNS = ("Aalen", "Bergen", "Celle", "Dachau", "Emden", "Fulda", "Gotha", "Hagen", "Idstein", "Jever", "Kehl",
         "Lahr", "Minden", "Neuss", "Olpe", "Peine", "Rheine", "Soest", "Trier", "Uelzen", "Velbert", "Wesel",
         "Xanten", "Zeitz")
TRADES = ("Bau", "Farben", "Haustechnik", "Holz", "Werkzeug", "Elektro", "Garten")
GOODS = ("hex bolt M8x40", "wood screw 5x60", "cable tie 200 mm", "wall plug 10 mm", "masking tape 50 m",
         "sanding disc 125 mm", "paint roller 25 cm", "silicone white 310 ml", "copper pipe 15 mm",
         "socket outlet flush", "LED lamp 9 W", "garden hose 25 m", "work gloves size 9", "drill bit 6 mm",
         "angle bracket 60 mm", "hinge 80 mm", "cut-off wheel 115 mm", "junction box IP54", "spray paint black",
         "PU foam 750 ml")
UNITS = ("PCE", "CTN", "MTR")
# A customer's own code for a unit; a model that does not know it takes pieces.
UNIT_CODES = {"PCE": "ST", "CTN": "KAR", "MTR": "LFM"}
HABITS = ("pack size", "decimal comma", "own unit codes", "split article number", "day and month",
          "two numbers on top")
HABIT_SHARE = 0.17  # share of the forms that have each habit
CHANGE_SHARE = 0.1  # share of the customers that change their form
ARTICLES = 22  # number of articles of a customer
LINES = (2, 5)  # number of lines of an order
AMBIGUOUS_SHARE = 0.04  # share of the orders whose customer a person must choose


@dataclasses.dataclass
class Form:
    """The form in which a customer writes its orders, for a period."""

    name: str
    habits: frozenset
    metadata: dict  # metadata of a measured page
    fingerprint: str = ""


@dataclasses.dataclass
class Article:
    customer_sku: str
    internal_sku: str
    goods: str
    unit: str
    price_cents: int


@dataclasses.dataclass
class Customer:
    id: str
    name: str
    forms: list  # (first day, Form) of each form, oldest first
    articles: list
    weight: float

    def form_at(self, day):
        return [form for first, form in self.forms if first <= day][-1]


@dataclasses.dataclass
class Order:
    number: int
    customer: Customer
    form: Form
    at: datetime.datetime
    truth: dict
    articles: list  # articles of the order's lines
    text: str
    held_out: bool
    ambiguous: bool
    document_id: str = ""

    @property
    def draft_id(self):
        return f"draft-{self.number}"


def make_form(draw, name, serial):
    habits = frozenset(habit for habit in HABITS if draw.random() < HABIT_SHARE)
    return Form(name, habits, {"page_count": 1, "page_dimensions": [[595.28, 841.89]],
                               "table_count": 1 + serial % 3,
                               "text_coverage_ratio": round(0.05 + serial / 500, 2)})


def make_article(draw, habits, number):
    sku = f"{draw.randrange(10, 99)}-{draw.randrange(10_000, 99_999)}"
    return Article(sku, f"INT-{number:05d}", draw.choice(GOODS), draw.choice(UNITS),
                   draw.randrange(150, 250_000))


class Company:
    """Customers and orders of some months."""

    def __init__(self, seed, customers, first_day, days, holdout_percent):
        self.seed, self.first_day, self.days = seed, first_day, days
        self.holdout_percent = holdout_percent
        draw = random.Random(f"{seed}/company")
        self.customers = [self.make_customer(draw, n) for n in range(customers)]

    def make_customer(self, draw, number):
        name = f"{TOWNS[number % len(TOWNS)]} {TRADES[number % len(TRADES)]}"
        forms = [(self.first_day, make_form(draw, name, 2 * number))]
        if draw.random() < CHANGE_SHARE:
            at = self.first_day + datetime.timedelta(days=int(self.days * draw.uniform(0.4, 0.7)))
            forms[0][1].name += ", old form"
            forms.append((at, make_form(draw, name + ", new form", 2 * number + 1)))
        articles = [make_article(draw, forms[0][1].habits, number * 100 + n) for n in range(ARTICLES)]
        return Customer(f"C-{1000 + number}", name, forms, articles, 1 / (number + 3))

    def orders(self, count):
        """All orders, oldest first."""
        draw = random.Random(f"{self.seed}/orders")
        weights = [customer.weight for customer in self.customers]
        seconds = sorted(draw.random() for _ in range(count))
        return [self.make_order(number, share, draw.choices(self.customers, weights)[0])
                for number, share in enumerate(seconds)]

    def make_order(self, number, share, customer):
        draw = random.Random(f"{self.seed}/order/{number}")
        day = self.first_day + datetime.timedelta(days=int(share * self.days))
        at = datetime.datetime.combine(day, datetime.time(7), datetime.timezone.utc) + \
            datetime.timedelta(seconds=int(share * self.days % 1 * 9 * 3600))
        # Few articles are most of what is ordered.
        places = list(range(ARTICLES))
        weights = [1 / (place + 2) for place in places]
        chosen = sorted({draw.choices(places, weights)[0] for _ in range(draw.randint(*LINES))})
        articles = [customer.articles[place] for place in chosen]
        truth = {
            "po_number": str(draw.randrange(400_000, 499_999)),
            "delivery_date": (day + datetime.timedelta(days=draw.randint(3, 20))).isoformat(),
            "lines": [{"customer_sku": article.customer_sku, "qty": draw.randint(2, 60),
                       "uom": article.unit, "price": f"{article.price_cents / 100:.2f}"}
                      for article in articles]}
        form = customer.form_at(day)
        return Order(number, customer, form, at, truth, articles, write(draw, form, customer, truth, articles),
                     draw.random() * 100 < self.holdout_percent, draw.random() < AMBIGUOUS_SHARE)


def write(draw, form, customer, truth, articles):
    """The order as its customer writes it."""
    year, month, day = truth["delivery_date"].split("-")
    date = f"{day}/{month}/{year}" if "day and month" in form.habits else f"{year}-{month}-{day}"
    numbers = [f"Order no. {truth['po_number']}", f"Customer no. {customer.id[2:]}"]
    if "two numbers on top" in form.habits:
        numbers.reverse()
    rows = [customer.name, "  ".join(numbers), f"Deliver by {date}", "Article | Goods | Quantity | Unit | Price"]
    for line, article in zip(truth["lines"], articles):
        sku, quantity, unit, price = line["customer_sku"], str(line["qty"]), line["uom"], line["price"]
        if "split article number" in form.habits:
            sku = sku.replace("-", " / ")
        if "pack size" in form.habits:
            quantity = f"{draw.choice((6, 12, 24, 100))} x {quantity}"
        if "own unit codes" in form.habits:
            unit = UNIT_CODES[unit]
        if "decimal comma" in form.habits:
            price = price.replace(".", ",")
        rows.append(f"{sku} | {article.goods} | {quantity} | {unit} | {price}")
    return "\n".join(rows)
