"""How often a campaign with `find` is wrong, on made-up campaigns whose truth is known (known_limits.py): the tables of
statistics.md.

    PYTHONPATH=src/report python3 tests/report/limit_calibration.py
"""

import argparse
import random
import statistics

from known_limits import COUNTED, EQUAL, UNEQUAL, campaign
from weir_compare.comparison import capacity_estimates, capacity_ranking
from weir_compare.comparison.figure_results import Settings

CAMPAIGNS = 300
ROUNDS = (3, 5, 10)


def rates(case, rounds, campaigns=CAMPAIGNS, seed=5):
    """A dictionary of shares of campaigns (and means): `certain`: the settings are told apart, `wrong`: for the wrong
    one. `covered`: intervals of limits that hold the truth. `answered`: limits that are given. `runs`, `over`:
    campaigns with more runs than planned."""
    generator = random.Random(f"{seed}:{case.title}:{rounds}")
    certain = wrong = over = covered = answered = 0
    runs, widths = [], []
    for _ in range(campaigns):
        made = campaign(case, rounds, generator)
        better = called(made.capacity)
        certain += better is not None
        wrong += better is not None and case.gains[better] < max(case.gains)
        over += made.runs > made.planned
        runs.append(made.runs)
        for index, setting in enumerate(made.capacity.settings):
            limit = capacity_estimates.limit(made.capacity, setting)
            if limit is None or limit.bound or not limit.is_answer:
                continue
            lowest, highest = (end * (1.0 + made.drift) for end in case.half(index))
            answered += 1
            covered += limit.low <= highest and lowest <= limit.high
            widths.append((limit.high - limit.low) / 2.0 / limit.value)
    limits = campaigns * len(case.gains)
    return {"certain": certain / campaigns, "wrong": wrong / campaigns, "covered": covered / max(1, answered),
            "answered": answered / limits, "runs": statistics.fmean(runs), "most": max(runs), "over": over / campaigns,
            "width": statistics.median(widths) if widths else None}


def called(capacity):
    """Index of the setting that is certainly better, of any size; None."""
    ranked = capacity_ranking.rank(capacity, Settings(relevant=0.0))
    return next((pair.better for pair in ranked.pairs if pair.is_called), None)


def table(cases, campaigns, cells, title):
    print(f"**{title}**\n\n| campaigns | {' | '.join(f'{rounds} rounds' for rounds in ROUNDS)} |\n"
          f"|---|{'---|' * len(ROUNDS)}")
    for case in cases:
        print(f"| {case.title} | {' | '.join(cells(rates(case, rounds, campaigns)) for rounds in ROUNDS)} |",
              flush=True)
    print()


def percent(share):
    return "-" if share is None else f"{100.0 * share:.1f} %"


def runs_text(found):
    over = f", {percent(found['over'])} above the plan" if found["over"] else ""
    return f"{found['runs']:.0f} (most {found['most']}{over})"


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=CAMPAIGNS)
    campaigns = parser.parse_args(argv).campaigns
    table(EQUAL + COUNTED, campaigns,
          lambda found: f"{percent(found['certain'])} / {percent(found['covered'])} / {percent(found['answered'])}, "
                        f"±{percent(found['width'])} / {runs_text(found)}", "Equal settings: one is called better / "
          "intervals of limits that hold the truth / limits that are given, and their width / runs")
    table(UNEQUAL, campaigns, lambda found: f"{percent(found['certain'] - found['wrong'])} / {percent(found['wrong'])} "
                                            f"/ {percent(found['covered'])} / {found['runs']:.0f}",
          "One setting is better: it is found / the other one is called better / intervals of limits that hold the "
          "truth / runs")


if __name__ == "__main__":
    main()
