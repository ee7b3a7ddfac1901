"""The packet model of switches, NICs and TCP beside reference values: builds bench/switch-model (or takes --program),
runs every case.

run: a minute of CPU time, after bench/install-dependencies --tests. values.csv gets a line for each value; README.md is
made of it and of about.md, `table` makes only that. `check` runs the short cases again, compares them with the stored
lines, and the page with them. Exit status: 0 also if values miss their bands: the page has them, and why.
"""

import csv
import os
import subprocess

import provenance
import studies

# Cases of `check`, two seconds of CPU time: each kind of model that the page has.
SHORT = ("thresholds", "start-burst-8", "ring", "pfc-fairness-3-1", "head-of-line-7", "symmetric-selective",
         "tcp-sawtooth-quarter",
         "dctcp-queue-2", "roce-one-flow", "three-to-one-dcqcn")
KEY = ("case", "what", "reference", "source")
BUILD = studies.TOP / "build/switch-model"
SOURCES = {"P": "published", "F": "a published formula, solved", "M": "another program's packets",
           "H": "measured on hardware",
           "C": "a choice of ours"}


def build():
    subprocess.run(["cmake", "-S", studies.TOP, "-B", BUILD, "-DCMAKE_BUILD_TYPE=Release", "-DWEIR_TESTS=ON",
                    "-DWEIR_SANITIZED_TESTS=OFF",
                    "-DWEIR_BENCHMARKS=OFF"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", BUILD, "--target", "switch_reference", "--parallel", str(os.cpu_count())],
                   check=True,
                   stdout=subprocess.DEVNULL)
    return BUILD / "bench/switch-model/switch_reference"


def values_of(program, names):
    """The lines of these cases."""
    version, lines = provenance.program_version(program)[0], []
    for name in names:
        print(f"== {name}", flush=True)
        done = subprocess.run([program, "--only", name], capture_output=True, text=True, check=False)
        lines += [{**line, "weir": version, "command": f"switch_reference --only {name}"}
                  for line in csv.DictReader(done.stdout.splitlines())]
    return lines


def make_values(options, names):
    lines = values_of(options.weir, names)
    studies.write_lines(options.out / "values.csv", lines[0], lines)


def run(options):
    make_values(options, subprocess.run([options.weir, "--list"], capture_output=True, text=True,
                                        check=True).stdout.split())


def miss(value):
    """How far outside of its band, in percent of the nearer end; of a band that ends at 0 the value itself."""
    low, high, found = (float(value[name]) for name in ("low", "high", "found"))
    end = low if found < low else high
    return f"**MISS** by {100 * abs(found - end) / end:.0f} %" if end else f"**MISS**: {found:.3g}"


def section(values):
    lines = []
    for value in values:
        band = f"{float(value['low']):.4g} to {float(value['high']):.4g}" if float(
            value["high"]) < 1e8 else f"{float(value['low']):.4g} or more"
        lines.append([f"`{value['case']}`", value["what"], value["reference"], value["source"], band,
                      f"{float(value['found']):.4g}",
                      "PASS" if value["verdict"] == "PASS" else miss(value)])
    inputs = {value["case"]: value["inputs"] for value in values}
    return "\n\n".join([studies.table(["case", "value", "reference", "source", "band", "weir", "verdict"], lines),
                        "\n".join(f"- `{case}`: {what}." for case, what in inputs.items())])


def page(out):
    values = studies.stored(out / "values.csv")
    missed = sorted({value["case"] for value in values if value["verdict"] != "PASS"})
    count = sum(value["verdict"] == "PASS" for value in values)
    of_sources = ", ".join(f"{what} ({source}): {sum(value['source'] == source for value in values)}"
                           for source, what in SOURCES.items())
    parts = ["# The model of switches beside reference values",
             "Made by `bench/study switch-model`; edit `about.md`, not this file. " + studies.made_with(values)
             + " Bands are those of the sources, or were written down before weir's values were known, but for the few "
               "named below.",
             f"**{count} of {len(values)} values lie in their bands.** Outside: "
             + (", ".join(f"`{case}`" for case in missed) if missed else "none") + ".",
             f"Sources of the references: {of_sources}."]
    for title in dict.fromkeys(value["section"] for value in values):
        parts += [f"## {title}", section([value for value in values if value["section"] == title])]
    return {"README.md": studies.joined([*parts, studies.text(out, "about.md")])}


STUDY = studies.Study(page, runs={"run": run}, keys={"values.csv": KEY}, replay=lambda trial: make_values(trial, SHORT),
                      program=build)
