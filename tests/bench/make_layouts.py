"""Writes invoices of made-up suppliers, for measurements on layouts for which no rule was tuned.

usage: make_layouts.py FOLDER [--kind plain|flow|languages|cousins|siblings] [--suppliers N] [--documents N] [--seed N]

Writes PDFs and a manifest.tsv that tests/bench/layout_families.c reads. Each supplier is one layout.
plain      blocks have fixed places; items, customers, numbers and dates differ; some have a second page
flow       blocks follow each other, so that a longer address or an optional block moves the rest
languages  as plain, and each supplier writes half of its invoices in a second language
cousins    as plain, but groups of four suppliers share language, fonts, margins, table and footer, as by one
program with settings: the blocks above the table have other places
siblings   as plain, but groups of four suppliers use one template: only name, logo, colour and footer differ
The same seed gives the same bytes.
"""
import argparse
import copy
import pathlib
import random

WIDTH, HEIGHT = 595.28, 841.89
BOTTOM = 120
FONTS = ("Helvetica", "Times-Roman", "Courier", "Helvetica-Bold", "Times-Bold", "Helvetica-Oblique")
LABELS = {
    "en": ("Invoice", "Bill to", "Ship to", "Invoice number", "Invoice date", "Due date", "Customer number", "Order reference",
           "Item", "Description", "Quantity", "Unit price", "Amount", "Subtotal", "Sales tax", "Total due",
           "Please pay within the agreed term", "Bank details", "Registered office", "Note", "Continued on next page"),
    "de": ("Rechnung", "Rechnungsempfänger", "Lieferanschrift", "Rechnungsnummer", "Rechnungsdatum", "Fällig am", "Kundennummer",
           "Bestellung", "Pos", "Bezeichnung", "Menge", "Einzelpreis", "Betrag", "Zwischensumme", "Umsatzsteuer", "Gesamtbetrag",
           "Zahlbar ohne Abzug nach Erhalt", "Bankverbindung", "Geschäftsführer", "Hinweis", "Fortsetzung auf der nächsten Seite"),
    "fr": ("Facture", "Facturé à", "Livré à", "Numéro de facture", "Date de facture", "Échéance", "Numéro client",
           "Référence commande", "Réf", "Désignation", "Quantité", "Prix unitaire", "Montant", "Sous-total", "TVA",
           "Total à payer", "Paiement à réception de la facture", "Coordonnées bancaires", "Siège social", "Remarque",
           "Suite à la page suivante"),
    "es": ("Factura", "Cliente", "Enviar a", "Número de factura", "Fecha de factura", "Vencimiento", "Número de cliente",
           "Pedido", "Art", "Descripción", "Cantidad", "Precio unidad", "Importe", "Base imponible", "IVA", "Total factura",
           "Forma de pago transferencia bancaria", "Datos bancarios", "Domicilio social", "Observaciones", "Continúa en la página siguiente"),
    "nl": ("Factuur", "Factuuradres", "Afleveradres", "Factuurnummer", "Factuurdatum", "Vervaldatum", "Klantnummer",
           "Uw referentie", "Nr", "Omschrijving", "Aantal", "Stukprijs", "Bedrag", "Subtotaal", "Btw", "Te betalen",
           "Gelieve te betalen onder vermelding", "Bankgegevens", "Handelsregister", "Opmerking", "Vervolg op volgende pagina"),
}
WORDS = ("north river steel bright oak harbour silver green central union alpha delta prime royal modern quick solid blue "
         "mountain coast valley stone copper maple cedar falcon eagle crown anchor bridge meadow forest lake summit").split()
FORMS = ("GmbH", "Ltd", "Inc", "SA", "BV", "AG", "LLC", "SARL")
GOODS = ("valve bracket hose filter gasket bearing cable switch sensor panel hinge bolt washer pump motor belt clamp nozzle "
         "relay fuse lamp socket pipe elbow adapter coupling spring lever handle gear").split()
STREETS = ("Market Street", "Hauptstrasse", "Rue de la Gare", "Calle Mayor", "Kerkstraat", "Mill Lane", "Bahnhofstrasse")
TOWNS = ("Springfield", "Hamburg", "Lyon", "Sevilla", "Utrecht", "Bristol", "Dresden", "Nantes", "Toledo", "Leiden")


class Page:
    """The content of one page; y counts from the top."""

    def __init__(self):
        self.content = []

    def text(self, x, y, font, size, text):
        escaped = text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
        self.content.append(b"BT /F%d %.1f Tf %.2f %.2f Td (" % (font, size, x, HEIGHT - y) + escaped + b") Tj ET")

    def line(self, x1, y1, x2, y2):
        self.content.append(b"%.2f %.2f m %.2f %.2f l S" % (x1, HEIGHT - y1, x2, HEIGHT - y2))

    def box(self, x1, y1, x2, y2, grey):
        self.content.append(b"q %.2f g %.2f %.2f %.2f %.2f re f Q" % (grey, x1, HEIGHT - y2, x2 - x1, y2 - y1))


def pdf_bytes(pages):
    count = len(pages)
    objects = [b"<</Type/Catalog/Pages 2 0 R>>",
               b"<</Type/Pages/Count %d/Kids[%s]>>" % (count, b" ".join(b"%d 0 R" % (3 + 2 * i) for i in range(count)))]
    fonts = b"".join(b"/F%d<</Type/Font/Subtype/Type1/BaseFont/%s/Encoding/WinAnsiEncoding>>" % (i, name.encode())
                     for i, name in enumerate(FONTS))
    for i, page in enumerate(pages):
        content = b"\n".join(page.content)
        objects.append(b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 %.2f %.2f]/Contents %d 0 R/Resources<</Font<<%s>>>>>>" % (
            WIDTH, HEIGHT, 4 + 2 * i, fonts))
        objects.append(b"<</Length %d>>stream\n" % len(content) + content + b"\nendstream")
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + b"".join(b"%010d 00000 n \n" % p for p in places)
    out += b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(out)


def company(rng):
    return " ".join(rng.sample(WORDS, 2)).title() + " " + rng.choice(FORMS)


def address(rng):
    lines = [company(rng)] + ([" ".join(rng.sample(WORDS, 1)).title() + " Department"] if rng.random() < 0.4 else [])
    lines.append("%s %d" % (rng.choice(STREETS), rng.randint(1, 199)))
    lines.append("%05d %s" % (rng.randint(10000, 99999), rng.choice(TOWNS)))
    return lines + ([rng.choice(("Germany", "France", "Spain", "Netherlands"))] if rng.random() < 0.4 else [])


class Template:
    """Positions of the blocks of an invoice."""

    def __init__(self, rng):
        pick = rng.choice
        self.margin = rng.randint(36, 72)
        self.font, self.bold = pick(((0, 3), (1, 4), (2, 3), (0, 5)))
        self.size = pick((8.0, 8.5, 9.0, 9.5, 10.0, 11.0))
        self.arrange(rng)
        self.table_y = rng.randint(270, 360)
        self.row = self.size * rng.uniform(1.4, 2.2)
        self.style = pick(("grid", "rules", "zebra", "bare"))
        widths = [rng.uniform(0.6, 1.0), rng.uniform(2.5, 4.0)] + [rng.uniform(0.9, 1.3) for _ in range(3)]
        step = (WIDTH - 2 * self.margin) / sum(widths)
        self.columns = [self.margin]
        for width in widths:
            self.columns.append(self.columns[-1] + width * step)
        self.colon = pick((":", "", " :"))
        self.footer_y = rng.randint(765, 800)
        self.footer_columns = rng.randint(1, 3)

    def arrange(self, rng):
        """Places the blocks above the table."""
        pick = rng.choice
        self.title_x = pick((self.margin, 230, 330, 400))
        self.title_y = rng.randint(60, 190)
        self.title_size = pick((14.0, 16.0, 18.0, 20.0, 24.0))
        self.to_x, self.to_y = pick((self.margin, self.margin, 320)), rng.randint(130, 190)
        self.numbers_x = 320 if self.to_x < 300 else self.margin
        self.numbers_y = rng.randint(130, 200)
        self.number_gap = rng.randint(85, 130)
        self.number_labels = rng.sample(range(3, 8), rng.randint(3, 5))
        self.ship = rng.random() < 0.5


class Supplier:
    """Differences between suppliers that use the same template."""

    def __init__(self, rng, template, languages):
        self.template = template
        self.languages = languages
        self.name = company(rng)
        self.name_x = rng.choice((template.margin, 340))
        self.name_y = rng.randint(40, 58)
        self.name_size = rng.choice((12.0, 14.0, 17.0))
        self.logo = rng.choice(("none", "bar", "block"))
        self.address = address(rng)[1:]


def add_head(page, rng, supplier, labels, flow):
    t = supplier.template
    to = address(rng)
    shift = 0
    page.text(supplier.name_x, supplier.name_y, t.bold, supplier.name_size, supplier.name)
    page.text(supplier.name_x, supplier.name_y + 12, t.font, 8.0, ", ".join(supplier.address))
    if supplier.logo == "bar":
        page.box(t.margin, 24, WIDTH - t.margin, 28, 0.3)
    elif supplier.logo == "block":
        page.box(WIDTH - t.margin - 60, 24, WIDTH - t.margin, 54, 0.5)
    page.text(t.title_x, t.title_y, t.bold, t.title_size, labels[0])
    page.text(t.to_x, t.to_y, t.bold, t.size, labels[1] + t.colon)
    for i, line in enumerate(to):
        page.text(t.to_x, t.to_y + (i + 1) * t.size * 1.25, t.font, t.size, line)
    if flow:
        shift = (len(to) - 3) * t.size * 1.25
        if rng.random() < 0.4:
            page.text(t.numbers_x, t.numbers_y, t.font, t.size, labels[19] + t.colon)
            shift += t.size * 1.5
    for i, label in enumerate(t.number_labels):
        y = t.numbers_y + i * t.size * 1.4 + shift
        page.text(t.numbers_x, y, t.font, t.size, labels[label] + t.colon)
        page.text(t.numbers_x + t.number_gap, y, t.font, t.size,
                  "%02d.%02d.2026" % (rng.randint(1, 28), rng.randint(1, 12)) if label in (4, 5) else str(rng.randint(10000, 999999)))
    if t.ship and rng.random() < 0.5:
        y = t.numbers_y + 8 * t.size * 1.4 + shift
        page.text(t.numbers_x, y, t.font, t.size, labels[2] + t.colon)
        page.text(t.numbers_x, y + t.size * 1.25, t.font, t.size, address(rng)[0])
    return shift


def add_rows(page, rng, t, labels, y, count):
    """Adds a table of `count` rows, or as many as fit; returns their number and the end of the
    table."""
    fit = min(count, int((HEIGHT - BOTTOM - 60 - y) / t.row))
    start = y
    for row in range(fit + 1):
        if t.style == "zebra" and row % 2 == 0:
            page.box(t.margin, y - t.row * 0.7, WIDTH - t.margin, y + t.row * 0.3, 0.9)
        cells = labels[8:13] if row == 0 else (
            str(row), " ".join(rng.sample(GOODS, rng.randint(1, 3))), str(rng.randint(1, 50)),
            "%.2f" % rng.uniform(1, 900), "%.2f" % rng.uniform(1, 9000))
        for x, cell in zip(t.columns, cells):
            page.text(x + 2, y, t.bold if row == 0 else t.font, t.size, cell)
        if t.style == "grid" or (t.style == "rules" and row in (0, fit)):
            page.line(t.margin, y + t.row * 0.3, WIDTH - t.margin, y + t.row * 0.3)
        y += t.row
    if t.style == "grid":
        for x in t.columns:
            page.line(x, start - t.row * 0.7, x, y - t.row * 0.7)
    return fit, y


def add_foot(page, supplier, labels):
    t = supplier.template
    page.line(t.margin, t.footer_y - 12, WIDTH - t.margin, t.footer_y - 12)
    texts = (labels[17] + " " + supplier.name, labels[18] + " " + supplier.address[-1], labels[16])
    for i in range(t.footer_columns):
        page.text(t.margin + i * 170, t.footer_y, t.font, 7.5, texts[i])


def invoice(rng, supplier, flow):
    labels = LABELS[rng.choice(supplier.languages)]
    t = supplier.template
    items = rng.choice((1, 2, 3, 5, 8, 12, 20, 45))
    pages = [Page()]
    y = t.table_y + add_head(pages[0], rng, supplier, labels, flow)
    while True:
        done, y = add_rows(pages[-1], rng, t, labels, y, items)
        items -= done
        add_foot(pages[-1], supplier, labels)
        if items == 0:
            break
        pages[-1].text(t.columns[3], y, t.font, t.size, labels[20])
        pages.append(Page())
        y = 90
    for label in labels[13:16]:
        pages[-1].text(t.columns[3] + 2, y + 6, t.bold, t.size, label)
        pages[-1].text(t.columns[4] + 2, y + 6, t.font, t.size, "%.2f" % rng.uniform(10, 9999))
        y += t.row
    return pdf_bytes(pages)


def make_suppliers(rng, kind, count):
    suppliers = []
    for i in range(count):
        languages = rng.sample(sorted(LABELS), 2 if kind == "languages" else 1)
        if kind not in ("cousins", "siblings") or i % 4 == 0:
            template = Template(rng)
        else:
            languages = suppliers[-1].languages
        if kind == "cousins" and i % 4 > 0:
            template = copy.copy(template)
            template.arrange(rng)
        suppliers.append(Supplier(rng, template, languages))
    return suppliers


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--kind", choices=("plain", "flow", "languages", "cousins", "siblings"), default="plain")
    parser.add_argument("--suppliers", type=int, default=40)
    parser.add_argument("--documents", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    rows = ["path\tsource\tlicence\tkind\tlayout_group"]
    for i, supplier in enumerate(make_suppliers(rng, arguments.kind, arguments.suppliers)):
        for j in range(arguments.documents):
            name = "%s-%03d-%02d.pdf" % (arguments.kind, i, j)
            (arguments.folder / name).write_bytes(invoice(rng, supplier, arguments.kind == "flow"))
            rows.append("%s\town\tApache-2.0\tlayout\t%s-%03d" % (name, arguments.kind, i))
    (arguments.folder / "manifest.tsv").write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
