"""Whether the switch had the setting that a run is labelled with, by what `verify` of [switch] printed before and after
the run, and how the switch was set, for the page.

    RUN/switch/verify-before.txt, verify-after.txt
    hooks/NNNN-SETTING-shows.txt    of a setting that was refused, because the switch showed the same as with another

What the text of a setting has to be, nobody knows. So a run counts if its text did not change, is that of most runs of
its setting, and is not that of another setting, which may be the one that was refused for it: a switch that takes
nothing has that of none. Texts are compared whenever a campaign is read: lines that always
change can be named afterwards (verify-ignores), and a later run can show that earlier ones were none of their
setting."""

import collections
import dataclasses
import functools
import re
import sys
import urllib.parse
from pathlib import Path

from weir_runs.basics.input_file import read_text
from weir_runs.basics.terminal_text import shown
from . import claim_files

WHEN = ("before", "after")
TEXT_BYTES_MAX = 8 << 20
LINE_MAX = 90
# On the page, of each setting.
LINES_SHOWN = 40
# What switches answer to a line that they do not take, though the login that typed it ends with 0: Arista EOS and Cisco
# ("% Invalid input", "% Incomplete command", "% Ambiguous command"), Junos ("syntax error", "unknown command").
REFUSED = re.compile(r"[ \t]*(% ?(?:invalid|incomplete|ambiguous|unrecogni[sz]ed|unknown|error|permission|"
                     r"authorization)\b.*|syntax error\b.*|unknown command\b.*)", re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class Reading:
    """Of one run. `texts`: before and after it, as lines; None: it is not there."""

    directory: Path
    switch: str
    texts: tuple
    submission: int = 0


def text_file(run_directory, when):
    return Path(run_directory) / "switch" / f"verify-{when}.txt"


def lines_of(text, ignores):
    """What is compared: empty lines and those that `ignores` names are left out."""
    patterns = [re.compile(ignore) for ignore in ignores]
    return tuple(line.rstrip() for line in text.splitlines() if line.strip()
                 and not any(pattern.search(line) for pattern in patterns))


def readings(world):
    """(of the last complete run of each point; directories of earlier ones, which were made again; {setting that has no
    run: the text for which it was refused})"""
    ignores = world.plan.verify_ignores
    if ignores is None or world.name == "simulation":
        return [], [], {}
    made, again = [], []
    for point in world.points():
        done = [(world.run_directory(point, claim.number), claim.record.get("submission", 0))
                for claim in claim_files.claims(world.directory / "claims", point.name)
                if (claim.end or {}).get("outcome") == "complete"]
        again += [directory for directory, _ in done[:-1]]
        made += [Reading(directory, world.plan.setting_of(point).switch,
                         tuple(_lines_in(text_file(directory, when), ignores) for when in WHEN), submission)
                 for directory, submission in done[-1:]]
    known = {reading.switch for reading in made}
    refused = {switch: hook_files(world, switch, "-shows")
               for switch in {setting.switch for setting in world.plan.settings} - {None, *known}}
    return made, again, {switch: _lines_in(paths[-1], ignores) for switch, paths in refused.items() if paths}


def _lines_in(path, ignores):
    return _lines_of_file(path, path.stat().st_mtime_ns, tuple(ignores)) if path.exists() else None


@functools.lru_cache(maxsize=None)
def _lines_of_file(path, written_ns, ignores):
    """Workers ask for the state of a campaign after each run: a text that did not change since is not read again. Equal
    lines are kept once."""
    return tuple(map(sys.intern, lines_of(read_text(path, "what verify printed", TEXT_BYTES_MAX), ignores)))


def texts_of_settings(all_readings):
    """{switch setting: the text that more than half of its runs have, or None}"""
    seen = {}
    for reading in all_readings:
        before, after = reading.texts
        seen.setdefault(reading.switch, collections.Counter())[before if before == after else None] += 1
    return {switch: next((text for text, number in texts.items() if 2 * number > sum(texts.values())), None)
            for switch, texts in seen.items()}


def doubts(world):
    """{run directory: why this complete run does not count}"""
    made, again, refused = readings(world)
    return dict.fromkeys(again, "it was made again") | doubts_of(made, refused)


def known_texts(world, submission):
    """{switch setting: its text}, by runs that count, and by those of this submission: what was in doubt before may
    have been mended."""
    made, _, refused = readings(world)
    doubted = doubts_of(made, refused)
    return texts_of_settings([reading for reading in made if reading.directory not in doubted
                              or reading.submission == submission])


def doubts_of(all_readings, refused=()):
    """The same, of the last run of each point. `refused`: of `readings`."""
    texts = {**dict(refused), **texts_of_settings(all_readings)}
    found = ((reading.directory, _doubt(reading, texts, all_readings)) for reading in all_readings)
    return {directory: why for directory, why in found if why}


def _doubt(reading, texts, all_readings):
    before, after = reading.texts
    if before is None or after is None:
        return f"what verify printed {'before' if before is None else 'after'} the run is not there"
    if before != after:
        return f"the switch changed during the run: {difference(before, after, 'before', 'after it')}"
    if before != texts[reading.switch]:
        other = next((one for one in all_readings if one.switch == reading.switch and one.texts[0] is not None
                      and before != one.texts[0]), reading)
        return (f"the switch did not show what it showed at most runs of {reading.switch}: "
                f"{difference(before, other.texts[0], 'here', f'at {other.directory.name}')}")
    twin = same_as(reading.switch, before, texts)
    return twin and f"the switch showed the same as with {twin}, and which of the two was in effect is not known"


def same_as(switch, text, texts):
    """Another setting that has this text; None."""
    return next((other for other, its in texts.items() if other != switch and its is not None and its == text), None)


def difference(one, other, here, there):
    """The first line in which two texts differ, quoted."""
    number = next((number for number, pair in enumerate(zip(one, other)) if pair[0] != pair[1]),
                  min(len(one), len(other)))
    first, second = (shown(f"'{text[number].strip()[:LINE_MAX]}'") if number < len(text) else "nothing"
                     for text in (one, other))
    return f"{first} {here}, {second} {there} (if such a line always changes, name it in verify-ignores)"


def refusal_in(text):
    """The first line by which a switch refuses what was typed; None."""
    found = next(filter(None, map(REFUSED.fullmatch, text.splitlines())), None)
    return found and shown(found[1].strip()[:LINE_MAX])


# --- For the page.


def hook_files(world, switch, kind=""):
    """Those of one setting, in the order of time: 0003-pfc.txt is not one of c, nor 0004-no-pfc.txt of pfc."""
    name = re.compile(rf"\d+-{re.escape(safe(switch) + kind)}\.txt")
    return sorted(path for path in (world.directory / "hooks").glob("*.txt") if name.fullmatch(path.name))


def safe(switch):
    """As a part of a file's name, another one for each setting."""
    return urllib.parse.quote(switch, safe="+=")


def log(world):
    """How each setting was set: [{"setting", "calls", "failed", "answers" (what was typed and answered: of the last
    call, and of the last that failed), "shows" (lines of its text that not all settings have)}]; empty: no switch is
    set."""
    settings = list(dict.fromkeys(setting.switch for setting in world.plan.settings if setting.switch is not None))
    calls = {switch: hook_files(world, switch) for switch in settings}
    made, _, refused = readings(world)
    texts = {**refused, **texts_of_settings(made)}
    known = [set(text) for text in texts.values() if text is not None]
    common = set.intersection(*known) if len(known) > 1 else set()
    made = []
    for switch in settings:
        told = [read_text(path, "what the switch answered", TEXT_BYTES_MAX).rstrip() for path in calls[switch]]
        failed = [text for text in told if not text.endswith("-> set")]
        made.append({"setting": switch, "calls": len(told), "failed": len(failed),
                     "answers": [_cut(text.splitlines()) for text in dict.fromkeys((*failed[-1:], *told[-1:]))],
                     "shows": _cut([line for line in texts.get(switch) or () if line not in common])})
    return made if any(one["calls"] or one["shows"] for one in made) else []


def _cut(lines):
    """At most so many lines: the first one, and the last ones."""
    kept = lines if len(lines) <= LINES_SHOWN else [lines[0], f"... {len(lines) - LINES_SHOWN} lines left out",
                                                    *lines[1 - LINES_SHOWN:]]
    return "\n".join(kept)
