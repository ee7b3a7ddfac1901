"""Files of weir-sweep tune, and what a tuning found, for tests."""

from weir_suites.tune import axes, candidate_search, decide, found

# Four senders to one port of 10 Gb/s that is nearly full: few bytes under way leave it idle, many pause the switch.
PLAN = """repetitions = 2
[run]
producers = 4
consumers = 1
rate = "2.3Gb/s"
interval = "2ms"
event-size = "64KiB"
chunk-size = "8KiB"
duration = "10ms"
warmup = "2ms"

[simulation]
network = "packet"
producer-link = "10Gb/s"
consumer-link = "10Gb/s"
"""
TUNE = PLAN + """
[tune]
budget = 40
[tune.axes]
slots = { from = 1, to = 16, scale = "log" }
window = [1, 2, 4, 8]
[tune.present]
slots = 1
"""


def found_of(**given):
    """Of one axis: slots 1 now, 4 proposed, and what else is `given`."""
    varied = (axes.of_list("slots", [1, 4, 8]),)
    made = {"finalists": [(4.0,)], "changes": [decide.Change(0.5, 0.4, 0.6, decide.BETTER, relevant=True)],
            "keeps": [True], "chosen": 0, "values": [[2e-3] * 5, [1e-3] * 5], "pairs": 5, "seeds": 5, **given}
    return found.Found(varied, (1.0,),
                       [candidate_search.Trial((1.0,), 1, 0.0), candidate_search.Trial((4.0,), 1, -0.7)], {}, **made)
