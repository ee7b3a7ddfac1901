"""How far searched limits are from the truth if the limit of each run differs: the table of statistics.md.

    PYTHONPATH=src/report python3 -m weir_report.limit_calibration
"""

import random
import statistics

from .limit_search import LimitSearch, Space

SEARCHES = 4000
NOISES = (0.0, 0.005, 0.01, 0.02, 0.05)
SPACE = Space(50.0, 3.125, 800.0)


def search(limit, noise, estimate, draw):
    """(error of the bracket's middle, runs) of one search."""
    made = LimitSearch(SPACE, estimate)
    while (value := made.next_value()) is not None:
        made.add(value, value <= limit * (1.0 + draw.gauss(0.0, noise)))
    return sum(made.bracket) / 2.0 / limit - 1.0, made.runs


def rates(noise, later, searches=SEARCHES):
    """(mean and standard deviation of the error, share of errors above 2 %, mean runs, runs of the worst in a hundred).
    `later`: from an estimate whose bracket holds the limit."""
    draw = random.Random(5)
    found = []
    for _ in range(searches):
        limit = draw.uniform(20.0, 90.0)
        low = limit * (1.0 + draw.uniform(-0.02, 0.0))
        found.append(search(limit, noise, (low, low * 1.02) if later else None, draw))
    errors, runs = [error for error, _ in found], sorted(number for _, number in found)
    return (statistics.fmean(errors), statistics.pstdev(errors), sum(abs(error) > 0.02 for error in errors) / searches,
            statistics.fmean(runs), runs[int(0.99 * searches)])


def main():
    print("| limits of runs differ by | first round: error | above 2 % | runs (worst in 100) | later rounds: error | above 2 % | "
          "runs (worst in 100) |\n|---|---|---|---|---|---|---|")
    for noise in NOISES:
        cells = [f"{100.0 * spread:.2f} % | {100.0 * off:.1f} % | {runs:.1f} ({worst})"
                 for _, spread, off, runs, worst in (rates(noise, later) for later in (False, True))]
        print(f"| {100.0 * noise:g} % | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
