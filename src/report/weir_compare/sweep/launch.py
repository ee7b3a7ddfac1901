"""The command that makes one run, in each world."""

import functools
import os
import subprocess

from weir_runs.basics import programs
from weir_runs.basics.errors import ReportError
from . import dry_runs

def weir_sbatch():
    found = programs.find_script("weir.sbatch")
    if not found:
        raise ReportError(f"slurm/weir.sbatch was not found beside {programs.PACKAGE_ROOT}: the installation is "
                          "incomplete")
    return found


def local_launcher(given):
    """As words. `given`: launcher of [local], empty for the default."""
    if given:
        return list(given)
    found = programs.find_script("mpirun-local")
    return [found] if found else ["mpirun", "--oversubscribe", "--bind-to", "none"]


@functools.cache
def _is_open_mpi(program):
    if os.path.basename(program) not in ("mpirun", "mpiexec", "orterun", "prterun"):
        return False
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, errors="replace", timeout=20,
                              check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return False
    return "Open MPI" in said or "OpenRTE" in said or "PRRTE" in said


def handed_on(launcher, variables):
    """Words for a launcher that hands on only its own variables to ranks on other hosts: Open MPI's, but with MPI's
    options."""
    if not _is_open_mpi(launcher[0]):
        return []
    given = {word.partition("=")[0] for option, word in zip(launcher, launcher[1:]) if option in ("-x", "--x")}
    return [word for name in variables if not name.startswith(("OMPI_", "PRTE_", "PMIX_")) and name not in given
            for word in ("-x", name)]


def run_options(world, point, attempt, options):
    """Words after `weir run`: the options, and the labels that identify this point."""
    plan = world.plan
    setting = plan.setting_of(point)
    left_out = world.axes_left_out()
    tags = [pair for pair in setting.tags if pair[0] not in left_out]
    named = [pair for pair in setting.values if pair[0] not in left_out] + list(point.options[:1])
    words = [*dry_runs.option_words(options), "--seed", str(point.run_seed), *dry_runs.label_words(plan, named, tags)]
    for key, value in (("point", point.name), ("repetition", str(point.repetition))):
        words += ["--tag", f"{key}={value}"]
    return words + ["--out", str(world.run_directory(point, attempt))]


def command(world, point, attempt, job):
    """(words, variables to add) for one run. `job`: the record of the submission, see submission.py."""
    setting = world.plan.setting_of(point)
    options = [tuple(pair) for pair in job["options"]]
    words = run_options(world, point, attempt, dry_runs.in_world(setting, options, world.name == "simulation",
                                                                 point.options))
    variables = dict(setting.environment)
    weir = job["weir"]
    if world.name == "simulation":
        # Why a run was late costs several times the run, and a campaign compares settings: `weir explain` finds it
        # afterwards.
        explained = "--explain" in words
        return [programs.simulator(weir), "simulate", *words, *(() if explained else ("--explain", "off"))], variables
    return _measured("run", world, job, words, variables, _ranks(point) or job.get("ranks", {}).get(setting.name))


def check_command(world, setting, job):
    """(words, variables to add) for `weir check` with the options of a setting. Not in the simulator."""
    options = [tuple(pair) for pair in job["options"]]
    words = dry_runs.option_words(dry_runs.in_world(setting, options, False))
    probe_s = f"{job['check_s']:g}s"
    return _measured("check", world, job, [*words, "--probe", probe_s, "--json"], dict(setting.environment),
                     job.get("ranks", {}).get(setting.name))


def _ranks(point):
    """Ranks of a run, if the search varies their number; None: those of the setting."""
    numbers = [(point.expected or {}).get(role) for role in ("producers", "consumers")]
    return None if None in numbers else sum(map(int, numbers)) + 1


def _measured(what, world, job, words, variables, ranks):
    weir = job["weir"]
    if world.name == "local":
        return [*job["launcher"], *handed_on(job["launcher"], variables), "-np", str(ranks), weir, what,
                *words], variables
    variables["WEIR"] = weir
    if what != "run":
        variables["WEIR_COMMAND"] = what
    for name, value in (("WEIR_LAUNCHER", job["launcher"]), ("WEIR_LAUNCHER_OPTIONS", job["launcher_options"]),
                        ("WEIR_SCHEDULER", job["scheduler"]), ("WEIR_PARTS", job["parts"])):
        if value:
            variables[name] = value
    return ["bash", job["script"], *words], variables
