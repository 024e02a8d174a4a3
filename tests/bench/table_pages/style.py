"""Parameters from which a page is drawn at random: fonts, sizes, distances and words, in two parts. Rules are developed
with `development`. `held_out` has other fonts, words, distances and kinds of page; it is only measured, never used to
change rules.
"""
ENGLISH = """the of and to in for that with as was by on from were are this which at be have it or is an not their
but more than other its has these also during such may between under used most two some over after new when into all one
first time year report data program state federal county health water energy cost public average rate number change
increase estimate study analysis percent population income level results area production region system services local
development national office total research management plan project review areas quality policy information economic
employment school students workers housing transport budget agency committee members provided reported included
according however therefore although approximately significant additional several available current previous annual
monthly compared expected observed described required considered established reduced improved measured following""".split()
GERMAN = """der die das und in zu den mit von ist des sich auf eine im dem nicht ein als auch es an werden aus er hat
dass sie nach wird bei einer um am sind noch wie einem einen so zum war haben nur oder aber vor zur bis mehr durch man
sein wurde prozent hatte kann gegen vom schon wenn habe seine mark ihre dann unter wir soll ich eines jahr zwei jahren
diese dieser wieder keine uhr seiner worden will zwischen immer millionen was sagte gibt alle deutschen diesem seit
muss wurden beim doch jetzt waren drei jahre neue neuen damit bereits da ihr seinen regierung landwirtschaft verwaltung
energieversorgung bundesrepublik wirtschaft beschreibung verordnung gemeinde gesundheit bevoelkerung durchschnitt""".split()


class Style:
    def __init__(self, fonts, sizes, gaps, leadings, blanks, words, papers):
        self.fonts, self.sizes, self.gaps, self.leadings = fonts, sizes, gaps, leadings
        self.blanks, self.words, self.papers = blanks, words, papers


STYLES = {
    # gaps: points between columns; leadings: from row to row, in sizes; blanks: more in a blank row
    "development": Style(["Helvetica", "Times-Roman", "Courier", "Narrow"], [8, 9, 10, 11], (9, 45), (1.15, 1.7),
                         (0.5, 1.6), ENGLISH, [(595, 842), (612, 792)]),
    "held_out": Style(["Verdant", "Palace", "Typed"], [7, 8.5, 9.5, 12], (7, 60), (1.08, 1.95), (0.4, 2.0), GERMAN,
                      [(595, 842), (612, 792), (420, 595), (792, 612)]),
}


class Draw:
    """Random choices of one page."""

    def __init__(self, random, style):
        self.random, self.style = random, style
        self.leading = random.uniform(*style.leadings)

    def word(self):
        return self.random.choice(self.style.words)

    def phrase(self, least, most):
        words = [self.word() for _ in range(self.random.randint(least, most))]
        return " ".join([words[0].capitalize()] + words[1:])

    def name(self, least=1, most=2):
        return " ".join(self.word().capitalize() for _ in range(self.random.randint(least, most)))

    def sentence(self):
        words = [self.word() for _ in range(self.random.randint(6, 22))]
        if self.random.random() < 0.3:
            words[self.random.randrange(len(words))] = str(self.random.randint(2, 2020))
        if len(words) > 9:
            words[4] += ","
        return " ".join([words[0].capitalize()] + words[1:]) + "."

    def number(self):
        kind = self.random.randrange(6)
        value = self.random.randint(1, 99999)
        if kind == 0:
            return f"{value % 1000 / 10:.1f}"
        if kind == 1:
            return f"{value % 100}%"
        if kind == 2:
            return f"({value % 1000})"
        return f"{value:,}" if kind < 5 else f"{value % 1000}"

    def money(self):
        return f"${self.random.randint(1, 9999):,}.{self.random.randint(0, 99):02d}"

    def date(self):
        return f"{self.random.randint(1, 28):02d}/{self.random.randint(1, 12):02d}/{self.random.randint(1990, 2020)}"

    def chance(self, share):
        return self.random.random() < share
