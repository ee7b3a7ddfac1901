"""What weir names of a plan, by three sources, held against its truth; and whether what it advises puts the plan on
time. Sources: `proof` is `weir simulate`, `rows` the rules, which see what a measured run has, and `explain` is `weir
explain` of the run's directory, which has neither the assumed network nor the faults."""

import dataclasses
import json
import shlex
import subprocess
import sys

import families
import remedies
import truth

SOURCES = ("proof", "rows", "explain")
COLUMNS = ("family", "seed", "planted", "was", "alone", "pairs", "ranks",
           *(f"{source}{what}" for source in SOURCES for what in ("", "_judged", "_remedy", "_number")),
           "weir", "command")
ON_TIME, LATE, REFUSED, TOO_DEAR = "on time", "late", "refused", "too dear"
OF_A_RANK = ("consumer-links", "producer-links", "processing", "stalled-rank", "lost-consumers")
LONGEST_S = 60  # of simulated time


@dataclasses.dataclass
class Answer:
    what: str = "none"
    where: str = ""     # "consumer 3"
    together: str = ""  # the cause that it takes besides
    remedy: str = ""
    is_enough: bool = True  # as it says itself
    reading: remedies.Reading = remedies.PROOF

    def __str__(self):
        return f"{self.what} {self.where}".strip() + (f" with {self.together}" if self.together else "")

    def applied(self, plan, change=lambda part: part):
        """The plan with the remedy; None where it is not known."""
        parts = [change(part) or part for part in remedies.parts_of(self.remedy, self.together)]
        return remedies.applied(plan, parts, self.reading) if self.remedy else None

    def has_amount(self):
        return any(remedies.less_of(part) for part in remedies.parts_of(self.remedy, self.together))


def answer_of(causes, **more):
    """`causes`: as run.json and explain.json have them."""
    if not causes:
        return Answer()
    first = causes[0]
    return Answer(**{"what": first["what"], "where": (first.get("where") or {}).get("name", ""),
                     "together": first.get("together_with") or "", "remedy": first.get("remedy") or "",
                     "is_enough": "not enough by itself" not in first["text"], **more})


def named_by_record(record, _):
    return answer_of(record["verdict"]["causes"])


def explained(weir, directory):
    done = subprocess.run([weir, "explain", str(directory), "--json", "--jobs", "1"], capture_output=True, text=True,
                          check=False, timeout=truth.LIMIT_S)
    if done.returncode not in (0, 3):
        return Answer(REFUSED)
    found = json.loads(done.stdout)
    return answer_of(found["causes"], remedy=found["remedy"] or "", reading=remedies.TWIN)


def answers_of(weir, plan):
    """({source: answer}, outcome, version); None if the plan was refused."""
    def look(record, directory):
        return ({"rows": named_by_record(record, directory), "explain": explained(weir, directory)},
                truth.outcome(record), record["environment"]["weir_version"])
    told = truth.attempt(weir, plan, look)
    proof = told and truth.attempt(weir, plan, named_by_record, ("--explain", "fast", "--jobs", "1"))
    return told and ({"proof": proof or Answer(REFUSED), **told[0]}, *told[1:])


# -------------------------------------------------------------------------------------------------------------- judging


def judged(known, answer):
    """What an answer is worth. A cause that weir knows and truth.py does not is right if its remedy puts the plan on
    time: that is what a cause is."""
    named = answer.what not in ("none", "not-told", REFUSED)
    if known.before["good"]:
        return "false alarm" if named else ON_TIME
    enough = known.enough()
    if not named:
        return "not told" if enough else "unproved"
    if answer.what in enough:
        return of_rank(known, answer)
    helps = not answer.together and truth.is_good(known.weir, answer.applied(known.plan))
    return "right" if helps else "false" if enough else "unproved"


def of_rank(known, answer):
    if answer.what not in OF_A_RANK:
        return "right"
    of_ranks = [rank for kind, rank in known.ranks if kind == answer.what]
    if not answer.where:
        return "no rank" if of_ranks else "right"
    if answer.where in of_ranks or known.rank_suffices(answer.what, answer.where) or (
            not answer.together and truth.is_good(known.weir, answer.applied(known.plan))):
        return "right"
    return "wrong rank"


# -------------------------------------------------------------------------------------------------------------- numbers


def seconds(text):
    return remedies.quantity(text, remedies.TIMES)


def five_times(plan):
    return {**plan, "duration": families.time_of(min(LONGEST_S, 5 * seconds(plan["duration"])))}


def number(weir, plan, answer):
    """"y n 3 y": with the remedy as advised the plan is on time; with 3 % less it is not; so many of three other seeds
    are, too; and five times the duration. "-": has no amount, or is not tried. "?": words that are not known here; "~":
    it says itself that this is not enough."""
    changed = answer.remedy and answer.applied(plan)
    if not changed:
        return "?" if answer.remedy else ""
    if not answer.is_enough:
        return "~"
    if not truth.is_good(weir, changed):
        return "n"
    less = "-"
    if answer.has_amount():
        less = "n" if truth.is_good(weir, answer.applied(plan, remedies.less_of)) else "y"
    others = sum(truth.is_good(weir, {**changed, "seed": plan["seed"] + other}) for other in (100000, 200000, 300000))
    is_fluid = "network" not in plan and plan.get("transport") != "datagram"
    longer = ("y" if truth.is_good(weir, five_times(changed)) else "n") if is_fluid else "-"
    return f"y {less} {others} {longer}"


# ---------------------------------------------------------------------------------------------------------------- lines


def measure(weir, family, seed):
    """A line of bench.csv."""
    plan, planted = families.draw_plan(family, seed)
    row = dict.fromkeys(COLUMNS, "") | {"family": family, "seed": seed, "command": truth.command_of(plan),
                                        "planted": "; ".join(" ".join(one).strip() for one in planted)}
    try:
        told = answers_of(weir, plan)
        if told is None:
            return {**row, "was": REFUSED}
        answers, before, row["weir"] = told
        known = truth.Truth(weir, plan, before)
        known.prove({kind for kind, _ in planted})
        row.update(was=ON_TIME if before["good"] else LATE, alone=" ".join(known.alone),
                   pairs=" ".join("+".join(pair) for pair in known.pairs),
                   ranks="; ".join(" ".join(one) for one in known.ranks))
        for source, answer in answers.items():
            row.update({source: str(answer), f"{source}_judged": judged(known, answer),
                        f"{source}_remedy": answer.remedy,
                        f"{source}_number": "" if before["good"] else number(weir, plan, answer)})
    except subprocess.TimeoutExpired as error:
        print(f"too dear: {family}, seed {seed}: {shlex.join(map(str, error.cmd))}", file=sys.stderr, flush=True)
        return {**row, "was": TOO_DEAR}
    return row


def judged_again(weir, row):
    """The line with what this weir names; the truth is that of the line, and numbers are not tried."""
    plan, _ = families.draw_plan(row["family"], int(row["seed"]))
    told = answers_of(weir, plan)
    if told is None:
        return {**row, **{f"{source}_judged": REFUSED for source in SOURCES}}
    answers, before, _ = told
    known = truth.Truth(weir, plan, before)
    known.alone, known.pairs = row["alone"].split(), [tuple(pair.split("+")) for pair in row["pairs"].split()]
    known.ranks = [tuple(one.split(" ", 1)) for one in row["ranks"].split("; ") if one]
    return {**row, **{f"{source}_judged": judged(known, answer) for source, answer in answers.items()}}
