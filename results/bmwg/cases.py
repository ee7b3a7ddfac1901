"""The suites of bench/study bmwg, and which columns of their tables are stored."""

import studies

SWITCHES = ("shallow", "deep")
# pfc, ecn of the plan
CONTROLS = {"PFC": ("on", "off"), "ECN": ("off", "on"), "both": ("on", "on"), "neither": ("off", "off")}
# Their procedures set PFC and ECN, so that they are run once for a switch.
OWN = "as the test has it"
SETS_ITSELF = ("5.3", "7.1", "7.2", "7.3", "7.4", "rfc8239-5")
OTHERS = ("5.1", "5.2", "8.1", "8.2", "8.3", "8.4", "9.1", "9.2", "9.3", "9.4", "10.1", "10.3", "11.2", "11.3", "12.1",
          "rfc8239-2", "inference-kv")
# `check` makes these again.
CHEAP = ("shallow", "PFC", ("inference-kv",))

EVENNESS = ("MMR, mean of leaves", "JFI, mean of leaves", "JFI, worst leaf")
AGAINST_ECMP = (*EVENNESS, "rate while sending", "against ECMP", "out of order", "sent again")
ITERATIONS = ("JCT P50", "JCT P99", "BusBW mean", "8 S f / B")
NETWORK = ("marked", "pauses", "dropped")
# Shares are stored as fractions, as submission.json has them.
UNITS = {"%": "1"}
# {section: the columns of its first table, and of the second one}
COLUMNS = {
    "5.1": (("rate of a pair", "efficiency"),),
    "5.2": (("P50", "P99", "max", "loaded / alone", "alone, calculated"),),
    "5.3": (("burst of each sender",),),
    "7.1": (("deviation from T", "marked below T", "marked above 1.5 T", "from the ramp, mean"),),
    "7.2": (("pauses", "paused, mean of senders' ports", "dropped", "pauses received", "throughput",
             "line rate less headers"),),
    "7.3": (("until both halves are fair, mean", "bound", "until all flows are fair, mean", "swing of a flow",
             "marked"),),
    "7.4": (("deadlocked", "storms found by watchdogs", "dropped by watchdogs", "pauses", "sets on time"),),
    "8.1": ((*EVENNESS, "JFI, balls in bins"),),
    "8.2": (AGAINST_ECMP,),
    "8.3": (AGAINST_ECMP,),
    "9.1": (ITERATIONS, NETWORK), "9.2": (ITERATIONS, NETWORK), "9.3": (ITERATIONS, NETWORK),
    "10.1": (("JCT P50", "roofline", "JCT ratio"),),
    "10.3": (("JCT alone, P50", "interference factor"),),
    "11.2": (("without delivery", "lost", "JCT with the failure", "with / P50", "loads even after", "within P99"),),
    "12.1": (("JCT ratio, mean", "/ mean"),),
    "rfc8239-2": (("received", "dropped", "sent again"),),
    "rfc8239-5": (("time of the free flow's bytes", "/ alone", "pauses", "dropped"),),
    "inference-kv": (("transfer time, mean", "P99", "at line rate"),),
}


def suites():
    """(switch, control, sections)"""
    for switch in SWITCHES:
        yield switch, OWN, SETS_ITSELF
        yield from ((switch, control, OTHERS) for control in CONTROLS)


def plan(switch, control):
    """PLAN.toml."""
    pfc, ecn = CONTROLS.get(control, ("on", "on"))
    return "\n".join(["production-network = false", f'name = "{switch}, {control}"', "[fabric]", "hosts = 32",
                      f'switch = "{studies.TOP / "results/bmwg" / switch}.toml"', f'pfc = "{pfc}"', f'ecn = "{ecn}"',
                      ""])


def figures(switch, control, result):
    """Lines of figures.csv: those of a section of submission.json that are stored."""
    for titles, table in zip(COLUMNS.get(result["section"], ()), result["tables"]):
        settings = [place for place, column in enumerate(table["columns"]) if column["point"] == "setting"]
        for row in table["rows"]:
            setting = " ".join(str(row[place]) for place in settings)
            for column, value in zip(table["columns"], row):
                if column["title"] in titles:
                    yield {"switch": switch, "control": control, "section": result["section"], "setting": setting,
                           "figure": column["title"],
                           "unit": UNITS.get(column["unit"], column["unit"]), "point": column["point"], "value": value}
