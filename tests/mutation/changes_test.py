#!/usr/bin/python3
"""Tests of the changes made by tools/mutate, without a build.

Goal: each kind of change is found in the right places only, keeps the lines of the file, and is drawn only by the code
at its place.
Method: a small source with one of each; the same with other code before it.
"""
import os
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tools"))

from mutation import changes, trial  # noqa: E402

SOURCE = """\
/* if (a < b) { return 1; } */
#define TWICE(x) \\
    ((x) * 2)
static const int table[] = {1, 2, 3};

struct pair {
    int a;
};

enum err take(struct pair *pair, int count)
{
    const char *text = "a < b && 3"; /* 7 */

    ASSERT(count < 4);
    logger_printf(LOGGER_INFO, "%d", count + 1);
    if (count >= ROOM_MAX || !is_open(pair)) {
        return ERR_INVALID;
    }
    for (int i = 0; i < count; i++) {
        put(pair,
            text);
        if (pair->a == 5) {
            break;
        }
    }
    pair->a = count - 1;
    pair->done = true;
    return OK;
}
"""
BEFORE = """\
static int other(int a)
{
    return a + 1;
}

"""


def changed(source):
    """Each possible change of a source, as (kind, what it is, what it becomes)."""
    found = set()
    for _, body in changes.functions_of(source, changes.tokens_of(source)):
        for site in changes.sites_of(source, body):
            found.update((c.kind, " ".join(source[c.start:c.end].split()), " ".join(c.text.split())) for c in site)
    return found


class Changes(unittest.TestCase):
    def test_each_kind_of_change_is_made(self):
        self.assertEqual({c for c in changed(SOURCE) if c[0] != "result"}, {
            ("relation", ">=", ">"), ("relation", "<", "<="), ("relation", "==", "!="),
            ("logic", "||", "&&"), ("negation", "!", ""), ("arithmetic", "-", "+"), ("truth", "true", "false"),
            ("bound", "ROOM_MAX", "(ROOM_MAX + 1)"), ("bound", "ROOM_MAX", "(ROOM_MAX - 1)"),
            ("constant", "0", "1"), ("constant", "1", "2"), ("constant", "1", "0"),
            ("constant", "5", "6"), ("constant", "5", "4"),
            ("arguments", "pair, text", "text, pair"), ("statement", "put(pair, text)", ""), ("jump", "break", ""),
            ("statement", "pair->a = count - 1", ""), ("statement", "pair->done = true", "")})
        results = {c[1:] for c in changed(SOURCE) if c[0] == "result"}
        self.assertIn(("ERR_INVALID", "OK"), results)
        self.assertIn(("OK", "ERR_INTERNAL"), results)

    def test_changes_keep_the_number_of_lines(self):
        for mutant in changes.mutants_of(1, "a.c", SOURCE):
            self.assertEqual(mutant.source.count("\n"), SOURCE.count("\n"))
            self.assertIn(mutant.after, mutant.source)
            self.assertIn(mutant.before, SOURCE)
            self.assertNotEqual(mutant.source, SOURCE)

    def test_changes_are_drawn_by_the_content(self):
        def drawn(seed, source):
            return {(m.key, m.before, m.after) for m in changes.mutants_of(seed, "a.c", source)}

        self.assertEqual(drawn(1, SOURCE), drawn(1, SOURCE))
        self.assertLess(drawn(1, SOURCE), drawn(1, BEFORE + SOURCE))
        self.assertTrue(drawn(1, SOURCE).isdisjoint(drawn(2, SOURCE)))

    def test_keys_are_unique(self):
        twice = SOURCE.replace("    pair->done = true;\n", "    pair->done = true;\n" * 2)
        keys = [m.key for m in changes.mutants_of(1, "a.c", twice)]
        self.assertEqual(len(keys), len(set(keys)))


class Constants(unittest.TestCase):
    HEADER = """\
#define ROOM_MAX 50
#define SHARE_MIN 0.55
#define BYTES_MAX (1u << 20)
#define TWICE(x) ((x) * 2)
enum level {
    LEVEL_LOW = 3,
    LEVEL_HIGH = 5
};
static const int table[] = {7, -1};
int take(int count)
{
    return count < 2 ? 0 : 25 * count;
}
"""

    def test_each_constant_is_changed_by_its_steps(self):
        found = [(name, self.HEADER[c.start:c.end], c.text) for name, c in changes.constant_changes(self.HEADER)]
        self.assertEqual(found, [
            ("ROOM_MAX", "50", "51"), ("ROOM_MAX", "50", "49"), ("SHARE_MIN", "0.55", "0.56"), ("SHARE_MIN", "0.55", "0.54"),
            ("BYTES_MAX", "(1u << 20)", "(((1u << 20)) + 1)"), ("BYTES_MAX", "(1u << 20)", "(((1u << 20)) - 1)"),
            ("LEVEL_LOW", "3", "4"), ("LEVEL_LOW", "3", "2"), ("LEVEL_HIGH", "5", "6"), ("LEVEL_HIGH", "5", "4"),
            ("", "7", "8"), ("", "7", "6"), ("", "1", "2"), ("", "1", "0"), ("", "25", "26"), ("", "25", "24")])

    def test_constants_have_keys_of_their_own(self):
        mutants = list(changes.constants_of("a.h", self.HEADER))
        self.assertEqual(len(mutants), 16)
        self.assertEqual(len({m.key for m in mutants}), 16)
        self.assertTrue(all(m.source.count("\n") == self.HEADER.count("\n") for m in mutants))


    def test_explanation_of_any_step_applies_to_each(self):
        known = {("a.h", "ROOM_MAX", "#define ROOM_MAX 50", "*"): "why"}
        reasons = [trial.reason_of(known, m) for m in changes.constants_of("a.h", self.HEADER)]
        self.assertEqual(reasons, ["why", "why"] + [None] * 14)


class Reports(unittest.TestCase):
    def test_interval_contains_the_share(self):
        low, high = trial.interval(90, 100)
        self.assertAlmostEqual(low, 0.8256, 3)
        self.assertAlmostEqual(high, 0.9448, 3)
        self.assertEqual(trial.interval(0, 0), (0.0, 1.0))

    def test_explained_ones_are_read(self):
        for (path, _, before, after), reason in trial.read_explained(os.path.join(ROOT, trial.EXPLAINED)).items():
            self.assertTrue(path.endswith((".c", ".h")))
            self.assertEqual((before, after), (trial.squeezed(before), trial.squeezed(after)))
            self.assertNotEqual(before, after)
            self.assertTrue(reason)

    def test_explanations_of_missing_code_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "a.c"), "w", encoding="utf-8") as f:
                f.write(SOURCE)
            known = {("a.c", "take", before, ";"): "why" for before in ("pair->done = true;", "gone();")}
            self.assertEqual(trial.gone(known, folder), [("a.c", "gone();")])

    def test_detected_changes_stay_detected(self):
        mutant = next(changes.mutants_of(1, "a.c", SOURCE))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "seed.jsonl")
            results = trial.Results(path, "tree 1", False)
            self.assertIsNone(results.get(mutant))
            results.add(mutant, trial.SURVIVED, "", 1)
            self.assertEqual(trial.Results(path, "tree 1", False).get(mutant)["outcome"], trial.SURVIVED)
            self.assertIsNone(trial.Results(path, "tree 2", False).get(mutant))
            results.add(mutant, trial.NOTICED, "some_tests", 1)
            self.assertEqual(trial.Results(path, "tree 2", False).get(mutant)["test"], "some_tests")
            self.assertIsNone(trial.Results(path, "tree 2", True).get(mutant))


if __name__ == "__main__":
    unittest.main()
