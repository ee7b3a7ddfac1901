"""submission.json: what a suite found, in ten sections. Schema weir-bmwg/1; docs/files-and-exit-statuses.md describes
it."""

import dataclasses

from weir_runs.basics import quantities
from weir_runs.basics.short_answer import ShortAnswer
from weir_runs.basics.units import counted
from weir_runs.version import VERSION
from . import catalogue
from .result_tables import Outcome, POINTS

SCHEMA = "weir-bmwg/1"
FILE, PAGE = "submission.json", "submission.html"
SECTIONS = ("device", "topology", "configuration", "observation_points", "hosts", "results", "deviations", "trials",
            "repeatability", "comparability")
TIME_STAMPS = {
    "simulation": "Times are those of the simulated clock, exact to a nanosecond; nothing of a real host is in them.",
    "measurement": "Times are taken by software of the hosts, with an error of tens of microseconds between hosts; the "
                   "draft asks for 100 ns.",
}


def make(plan, world, quick, fabric, finished):
    """`finished`: of the suite; sections that are not among them are listed as not run."""
    kind = "simulation" if world == "simulation" else "measurement"
    done = [one for one in finished if one.outcome]
    by_number = {one.section.number: one for one in finished}
    return {
        "schema": SCHEMA, "name": plan.name, "document": catalogue.DOCUMENT, "beyond_document": catalogue.OPERATORS,
        "weir_version": VERSION, "world": world, "quick": quick,
        "seconds": sum(one.accounting.seconds for one in finished),
        "answer": short(plan, finished).record(),
        "device": {"given": {key: text for key, text in plan.device.items() if text},
                   "missing": [key.partition(".")[2] for key in plan.missing() if key.startswith("device.")],
                   "simulated": None if fabric is None else plan.switch},
        "topology": {"hosts": plan.hosts, "link_bits_per_second": plan.link, "packet_payload_bytes": plan.framing.mtu,
                     "packet_overhead_bytes": plan.framing.overhead, "described": plan.topology,
                     "drawing": [] if fabric is None else list(fabric.drawn),
                     "links": [] if fabric is None else list(map(list, fabric.links))},
        "configuration": {"switch": {} if fabric is None else fabric.keys, "pfc": plan.pfc, "ecn": plan.ecn,
                          "classes": plan.classes,
                          "handed_on": {name: content for name, content in plan.handed_on.items() if content
                                        and name in ("run", "switch")},
                          "known": fabric is not None},
        "observation_points": {"points": POINTS, "time_stamps": TIME_STAMPS[kind],
                               "loss": "What switches and NICs count; a packet that is lost inside of a switch without "
                                       "a counter is not seen."},
        "hosts": {"given": {key: text for key, text in plan.host.items() if text},
                  "missing": [key.partition(".")[2] for key in plan.missing() if key.startswith("host.")]},
        "results": [_result(section, by_number.get(section.number), kind) for section in catalogue.SECTIONS],
        "deviations": {"deviations": _of_all(plan, world) + [{"section": one.section.number, "text": text}
                                                             for one in done
                                      for text in (*_other_parameters(one), *one.outcome.deviations)],
                       "anomalies": [{"section": one.section.number, "text": text} for one in done
                                     for text in one.outcome.anomalies]},
        "trials": [{"section": one.section.number, "tried": one.accounting.tried, "counted": one.accounting.counted,
                    "left_out": [{"run": run, "why": why} for run, why in one.accounting.left_out],
                    "campaigns": one.accounting.steps, "seconds": one.accounting.seconds} for one in finished],
        "repeatability": [{"section": one.section.number, "figure": figure.title, "unit": figure.unit,
                           "point": figure.point, "setting": name,
                           "runs": runs, "mean": mean, "cv": variation}
                          for one in done for figure in one.outcome.primary
                          for name, (runs, mean, variation) in figure.variations().items()],
        "comparability": _comparability(plan, fabric, world),
    }


def short(plan, finished):
    """The ShortAnswer: whether all has a result, and what is odd. The draft sets no pass or fail."""
    done = [one for one in finished if one.outcome]
    without = [one for one in finished if not one.outcome]
    anomalies = [f"{one.section.number}: {text}" for one in done for text in one.outcome.anomalies]
    missing = len(list(plan.missing()))
    odd = {0: "no anomaly", 1: "one anomaly"}.get(len(anomalies), f"{len(anomalies)} anomalies")
    sentence = (f"{len(done)} of {counted(len(finished), 'test')} {'has' if len(finished) == 1 else 'have'} a result; "
                f"{odd}.")
    first = without[0] if without else None
    because = (f"{first.section.number} {first.section.title}: {(first.why or first.state).splitlines()[0]}" if first
               else anomalies[0] if anomalies else "").rstrip(".")
    do = ("Repair that, and give the same command again: it goes on." if without else
          f"Name the {counted(missing, 'key')} that the plan lacks: weir-sweep bmwg check DIRECTORY lists them."
          if missing else "")
    return ShortAnswer("INCOMPLETE" if without else "COMPLETE", sentence, f"{because}." if because else "", do,
                       good=not without)


def _result(section, one, kind):
    record = {"section": section.number, "title": section.title, "document": section.document
              or catalogue.DOCUMENT["name"],
              "objective": section.objective, "procedure": section.procedure,
              "measured": section.measured or "yes", "simulated": section.simulated or "yes"}
    if one is None:
        why = section.why_not(kind)
        return record | {"state": "cannot" if why else "not run", "why": why or "not asked for", "parameters": {},
                         "tables": [], "curves": [], "verdicts_of_weir": {}}
    outcome = one.outcome or Outcome(())
    parameters = {} if one.setup is None else {
        parameter.name: {"used": list(one.setup.values(parameter.name)), "draft": list(parameter.draft),
                         "of_draft": not parameter.ours,
                         "meaning": parameter.meaning, "unit": parameter.unit} for parameter in section.parameters}
    return record | {
        "state": one.state, "why": one.why, "parameters": parameters,
        "tables": list(map(dataclasses.asdict, outcome.tables)),
        "curves": [{"title": curve.title, "x": curve.x_title, "x_unit": curve.x_unit, "unit": curve.unit,
                    "names": list(curve.names), "lines": curve.lines} for curve in outcome.curves],
        "verdicts_of_weir": one.accounting.verdicts}


def _of_all(plan, world):
    """Deviations of all sections."""
    texts = []
    if world != "simulation":
        texts.append("weir sets nothing on switches: PFC, ECN and balancing are what they were, whatever a procedure "
                     "names.")
        if plan.classes:
            texts.append("The classes of the plan are named and not set; with engine = \"ucx\", data-traffic-class and "
                         "control-traffic-class of [run] are.")
    if world == "local" and not plan.handed_on["local"].get("launcher"):
        texts.append("All ranks ran on one machine: what was measured is this machine, and no fabric.")
    return [{"section": "all", "text": text} for text in texts]


def _other_parameters(one):
    for parameter in one.section.parameters:
        used = tuple(one.setup.values(parameter.name))
        if used != parameter.draft:
            whose = "without --quick" if parameter.ours else "the draft"
            yield f"{parameter.name} ({parameter.meaning}): {_listed(used)}; {whose}: {_listed(parameter.draft)}."


def _listed(values):
    return ", ".join(map(str, values))


def _comparability(plan, fabric, world):
    """What must be equal between two fabrics before figures are set against each other."""
    return {"world": world, "hosts": plan.hosts, "link": quantities.rate_text(plan.link), "participants_per_host": 1,
            "packet": f"{plan.framing.mtu} B of payload, {plan.framing.overhead} B besides",
            "placement": "leaves in turn" if fabric else "as the launcher places ranks",
            "transport": "RoCEv2, simulated" if fabric else "weir's --transport and --engine, in each run.json",
            "leaves": None if fabric is None else fabric.leaves,
            "uplinks_of_a_leaf": None if fabric is None or fabric.parallel < 2 else fabric.parallel,
            "balancing": None if fabric is None else fabric.keys["balancing"]["kind"],
            "loss_recovery": None if fabric is None else fabric.keys["nic"]["recovery"]}
