#!/usr/bin/python3
"""The verdict of a soak, without a soak.

Goal: constant samples pass, and each growth, lag or error fails on its own. Method: an hour of
generated samples, noisy but constant; then one fault at a time.
"""
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))

from soak import picture, verdict  # noqa: E402

SAMPLES, WARM_UP_S = 360, 600
EVENTS_A_SAMPLE, BYTES_AN_EVENT = 5000, 7000


def flat_samples():
    """Ten seconds apart: memory settles in the warm-up, the file grows by what events take."""
    noise = random.Random(1)
    samples = []
    for number in range(SAMPLES):
        events = 200_000 + EVENTS_A_SAMPLE * number
        samples.append({
            "at": 10.0 * number, "rss_anon_kb": min(10_000 + 100 * number, 16_000) + noise.randrange(300),
            "heap_kb": min(9_000 + 100 * number, 15_000) + noise.randrange(4000),
            "pdf_rss_anon_kb": 23_000, "events": events, "commits": 2000 * number,
            "map_used_bytes": 10**9 + BYTES_AN_EVENT * events + noise.randrange(10**7),
            "reader_lag_commits": noise.randrange(4), "readers": 3,
            "descriptors": 50 + noise.randrange(5), "threads": 6})
    return samples


def minutes(wrong=None, answered=60_000):
    return [{"at": 60.0 * n, "due": 60_000, "answered": answered, "wrong": dict(wrong or {}),
             "p99_us": {"all": 900.0}} for n in range(1, 61)]


class Verdict(unittest.TestCase):
    def failures(self, samples=None, runs=None, tallies=None, end=()):
        tallies = tallies or {("connect", "OK"): (10, True)}
        return [sentence for passed, sentence in verdict.judge(
            samples or flat_samples(), runs or minutes(), tallies, list(end), WARM_UP_S) if not passed]

    def expect(self, beginning, **what):
        failures = self.failures(**what)
        self.assertEqual(len(failures), 1, failures)
        self.assertTrue(failures[0].startswith(beginning), failures)

    def test_flat_figures_pass(self):
        self.assertEqual(self.failures(), [])

    def test_growing_memory_fails(self):
        samples = flat_samples()
        for number, sample in enumerate(samples):
            sample["rss_anon_kb"] += 4 * number  # 1.4 MB per hour
        self.expect("memory of erratad", samples=samples)

    def test_growing_heap_fails(self):
        samples = flat_samples()
        for number, sample in enumerate(samples):
            sample["heap_kb"] += 4 * number
        self.expect("memory in use", samples=samples)

    def test_file_that_grows_more_than_its_events_fails(self):
        samples = flat_samples()
        for number, sample in enumerate(samples[200:]):
            sample["map_used_bytes"] += number * EVENTS_A_SAMPLE * BYTES_AN_EVENT // 2
        self.expect("file", samples=samples)

    def test_lagging_reader_fails(self):
        samples = flat_samples()
        for number, sample in enumerate(samples[100:]):
            sample["reader_lag_commits"] = 2000 * number
        self.expect("readers", samples=samples)

    def test_growing_descriptors_and_threads_fail(self):
        for key in ("descriptors", "threads"):
            samples = flat_samples()
            for number, sample in enumerate(samples):
                sample[key] += number // 10
            self.expect(key, samples=samples)

    def test_wrong_answers_fail(self):
        self.expect("answers", runs=minutes({"INTERNAL": 1}))
        self.expect("answers", runs=minutes({"UNAVAILABLE": 1000}))
        self.assertEqual(self.failures(runs=minutes({"UNAVAILABLE": 1})), [])
        self.expect("load", runs=minutes(answered=30_000))

    def test_abnormal_end_fails(self):
        self.expect("company", tallies={("repeat", "AssertionError"): (1, False)})
        self.expect("end", end=["ended with -11"])

    def test_short_run_is_not_judged(self):
        self.expect("only 3 samples", samples=flat_samples()[:63])

    def test_plot_has_every_figure(self):
        text = picture.draw(flat_samples(), minutes())
        self.assertTrue(text.startswith("<svg") and text.count("<polyline") == 5)


if __name__ == "__main__":
    unittest.main(verbosity=2)
