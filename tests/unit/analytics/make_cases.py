#!/usr/bin/python3
"""make_cases: writes proportion_cases.def, the table of cases of proportions_tests.c.

Needs python3-statsmodels (made with statsmodels 0.13.5 and SciPy 1.10.1 of Debian 12); tests need
neither. Where statsmodels can answer, the numbers are its own: test_proportions_2indep and
confint_proportions_2indep with method "score" and without correction. The other cases (nothing or
everything succeeded, counts at which its formula cancels) are solved here with 80 digits, from the
definition; the same is done for statsmodels' cases, and both must agree. (statsmodels' test of
the difference always applies the correction, so proportions_ztest is beside the
test of the ratio; and where its search for an end stopped early, by its own test, its interval is
left out.)
"""
import decimal
import os
import sys
import warnings

import scipy
import statsmodels
from statsmodels.stats.proportion import (confint_proportions_2indep, proportions_ztest,
                                          test_proportions_2indep)

D = decimal.Decimal
decimal.getcontext().prec = 80
# The 97.5% quantile of the normal distribution, to 40 digits.
QUANTILE = D("1.959963984540054235524594430520551527955550")

SMALL = [
    (8, 10, 5, 10), (5, 10, 8, 10), (1, 10, 9, 10), (9, 10, 1, 10), (3, 7, 4, 9), (6, 7, 2, 3),
    (1, 2, 1, 2), (1, 2, 1, 3), (2, 3, 1, 2), (19, 20, 15, 20), (15, 20, 19, 20), (12, 12, 9, 11),
    (9, 11, 12, 12), (29, 30, 21, 29), (24, 30, 21, 30), (27, 30, 17, 30), (30, 40, 30, 40),
    (50, 100, 50, 100), (60, 100, 50, 100), (64, 100, 50, 100), (65, 100, 50, 100),
    (63, 100, 50, 100), (90, 100, 80, 100), (80, 100, 90, 100), (99, 100, 90, 100),
    (100, 100, 90, 100), (90, 100, 100, 100), (1, 100, 99, 100), (99, 100, 1, 100),
]
MIDDLE = [
    (2, 1000, 1, 1000), (1, 1000, 2, 1000), (10, 1000, 1, 50), (690, 1000, 60, 100),
    (69, 100, 60, 100), (690, 1000, 600, 1000), (6900, 10000, 6000, 10000), (850, 900, 80, 100),
    (4500, 5000, 430, 500), (4500, 5000, 4100, 4700), (999, 1000, 998, 1000),
    (9990, 10000, 9950, 10000), (333, 999, 111, 333), (333, 999, 1000, 3001), (7, 1000, 900, 1000),
    (123, 4567, 89, 1011), (31337, 65536, 31000, 65535), (100000, 200000, 99000, 200000),
    (100000, 200000, 99500, 200000), (123456, 234567, 345678, 678901), (950000, 1000000, 47000, 50000),
    (500000, 1000000, 499000, 1000000), (500000, 1000000, 498614, 1000000),
    (500000, 1000000, 498615, 1000000), (9, 10, 900000, 1000000), (1, 1000000, 1, 2),
    (999999, 1000000, 1, 2), (3, 1000000, 1, 1000000), (40, 60, 20, 60), (33, 60, 22, 61),
]
# Cases that only this script solves, since statsmodels cannot.
EXTREME = [
    (0, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 2), (1, 2, 1, 1), (0, 10, 5, 10), (0, 10, 10, 10),
    (10, 10, 10, 10), (0, 1000000, 1, 1), (1, 1, 1000000, 1000000), (1000000, 1000000, 1, 1),
    (1000000, 1000000, 999999, 1000000), (10**12 - 100, 10**12, 10**12 - 150, 10**12),
    (10**12 - 100, 10**12, 10**12 - 100, 10**12), (10**15, 10**15 + 1, 10**15 - 7, 10**15),
    (5 * 10**14, 10**15, 5 * 10**14 - 10**7, 10**15), (1, 10**12, 1, 10**12), (3, 10**15, 10**14, 10**15),
    (2**52, 2**53, 2**52 + 2**27, 2**53),
]


def score(case, ratio):
    """Koopman's statistic with the constrained most likely proportions, from their definition."""
    x1, n1, x0, n0 = (D(count) for count in case)
    a = (n0 + n1) * ratio
    b = -(ratio * (n1 + x0) + x1 + n0)
    c = x0 + x1
    p0 = (c / -b) if a == 0 else (-b - (b * b - 4 * a * c).sqrt()) / (2 * a)
    p1 = p0 * ratio
    miss = x1 / n1 - ratio * x0 / n0
    variance = p1 * (1 - p1) / n1 + ratio * ratio * p0 * (1 - p0) / n0
    if abs(miss) < D(10) ** -70:
        return D(0)
    return miss / variance.sqrt() if variance > 0 else miss * D("Infinity")


def end(case, inside, outside):
    for _ in range(300):
        middle = (inside + outside) / 2
        if abs(score(case, middle)) <= QUANTILE:
            inside = middle
        else:
            outside = middle
    return inside


def normal_tails(z):
    """2 (1 - Phi(z)) for z >= 0, by the series or the continued fraction of erfc."""
    x = z / D(2).sqrt()
    if x < 5:
        total, term, n = D(0), x, 0
        while abs(term) > D(10) ** -75:
            total += term / (2 * n + 1)
            n += 1
            term = -term * x * x / n
        return 1 - 2 * total / PI.sqrt()
    fraction = D(0)
    for k in range(400, 0, -1):
        fraction = D(k) / 2 / (x + fraction)
    return (-x * x).exp() / PI.sqrt() / (x + fraction)


def machin():
    def arctan_inverse(n):
        total, term, k = D(0), D(1) / n, 0
        while abs(term) > D(10) ** -78:
            total += term / (2 * k + 1) * (-1) ** k
            term /= n * n
            k += 1
        return total
    return 4 * (4 * arctan_inverse(5) - arctan_inverse(239))


PI = machin()


def solve(case):
    x1, n1, x0, n0 = case
    estimate = D(x1) * n0 / (D(x0) * n1)
    low = D(0) if x1 == 0 else end(case, estimate, D(0))
    outside = 2 * estimate + 1
    while abs(score(case, outside)) <= QUANTILE:
        outside *= 2
    high = end(case, estimate, outside)
    return float(normal_tails(abs(score(case, D(1))))), float(low - 1), float(high - 1)


def ask_statsmodels(case):
    x1, n1, x0, n0 = case
    test = test_proportions_2indep(x1, n1, x0, n0, compare="ratio", method="score",
                                   correction=False)
    pooled = proportions_ztest([x1, x0], [n1, n0])
    assert abs(test.pvalue - pooled[1]) < 1e-12, case
    low, high = confint_proportions_2indep(x1, n1, x0, n0, compare="ratio", method="score",
                                           correction=False)
    for ratio in (low, high):
        there = test_proportions_2indep(x1, n1, x0, n0, value=ratio, compare="ratio",
                                        method="score", correction=False)
        if abs(there.pvalue - 0.05) > 1e-6:
            return float(test.pvalue), None, None
    return float(test.pvalue), float(low - 1), float(high - 1)


def write(out, name, case, values):
    counts = ", ".join(f"UINT64_C({count})" for count in case)
    numbers = ", ".join(repr(value) for value in values)
    out.write(f"{name}({counts}, {numbers})\n")


def main():
    warnings.simplefilter("error")
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "proportion_cases.def")
    with open(path, "w", encoding="ascii") as out:
        out.write("/*\n * proportion_cases.def: successes and trials of the treated and of the "
                  "control; the two-sided p-value\n * and the ends of the 95% interval of their "
                  f"ratio, less 1. Made by make_cases.py with\n * statsmodels "
                  f"{statsmodels.__version__} and SciPy {scipy.__version__} (LIBRARY), or with 80 "
                  "digits (EXACT).\n */\n")
        for case in SMALL + MIDDLE:
            solved = solve(case)
            write(out, "EXACT", case, solved)
            if case[0] == case[1] or case[2] == case[3]:
                continue  # statsmodels divides by the number of failures, which is 0
            reported = ask_statsmodels(case)
            if abs(solved[0] - reported[0]) > 1e-10:
                sys.exit(f"{case}: p-value {reported[0]!r}, solved {solved[0]!r}")
            if None in reported:
                continue
            for ours, theirs in zip(solved[1:], reported[1:]):
                if abs(ours - theirs) > 1e-6 * (1 + abs(ours)):
                    sys.exit(f"{case}: interval {reported!r}, solved {solved!r}")
            write(out, "LIBRARY", case, reported)
        for case in EXTREME:
            write(out, "EXACT", case, solve(case))


if __name__ == "__main__":
    main()
