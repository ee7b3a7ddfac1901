"""weir-sweep: a campaign of many runs from one file. What a command needs is loaded when it is called
(sweep_actions.py)."""

import sys
from pathlib import Path

from weir_runs.basics.command_parser import CommandParser
from weir_runs.basics.errors import status_of
from weir_runs.reading.capacity import CRITERIA, EVENTS, QUANTITIES
from weir_runs.version import VERSION

DESCRIPTION = """Runs weir for all combinations of some settings, repeatedly, and in an order that keeps drift from
looking like a difference: as SLURM jobs, on this machine, or simulated. A sweep file describes the runs;
slurm/README.md explains it."""
STATUSES = """Exit status: 0 done, or handed to SLURM; 1 a run failed; 2 bad usage or input, nothing was started; 130,
143 interrupted (the same command continues)."""
EPILOG = f"""SWEEP is a sweep file (FILE.toml), or the directory of its campaign, which is FILE beside FILE.toml unless
--out names it. {STATUSES}"""
FIND = """Looks for the largest rate (the longest mean processing time, the fewest slots, streams or consumers) with
which a plan is sustained, or the longest burst of which nothing is lost, by bisection over runs, in several rounds.
What follows -- are options of weir run, of which the one that is looked for says where to begin. Writes
weir-find-WHAT.toml into the current directory, and the runs into weir-find-WHAT, unless --out names it; the same line
continues what was interrupted."""
FIND_EXAMPLE = "weir-sweep find rate --simulate -- --producers 4 --consumers 2 --rate 1Gb/s --duration 10s"
TUNE = """Looks for the best setting of some axes in the simulator, confirms it against the present one with fresh
seeds, and writes the answer, a page and the sweep file that confirms it by measurement. FILE.toml is a sweep file with
a table [tune] in the place of [axes]; docs/tuning-a-switch.md explains it. The same command continues what was
interrupted."""
TUNE_STATUSES = """Exit status: 0 done, whether a better setting was found or none; 2 bad usage or input, nothing was
started; 130, 143 interrupted (the same command continues)."""
IMPORT = """Prints a switch file for --switch out of the configuration of a real switch: SONiC's config_db.json, or
buffers.json and qos.json, with pg_profile_lookup.ini where profiles are computed; NVUE's nv config show -o json; Arista
EOS's show running-config. docs/your-own-switch.md explains it. Each key says where it is from; what
the model lacks, what is not understood and what the configuration does not determine are comments. Nothing is guessed,
and nothing else of a configuration is printed. With --audit, what is wrong with it, and whether hosts agree: files with
what mlnx_qos, cma_roce_tos, sysctl and weir check --json print."""
IMPORT_STATUSES = "Exit status: 0 printed; 2 bad usage or input."
BMWG = """Runs the tests of the IETF's draft on benchmarks of AI training fabrics, each as campaigns, and writes a
report of ten parts: submission.json and submission.html. The same command continues what was interrupted.
docs/results-by-the-draft.md says what is observed where, and what weir cannot observe."""
BMWG_STATUSES = """Exit status: 0 done; 1 a test that was asked for has no result, or check found that something is
lacking; 2 bad usage or input, nothing was started; 130, 143 interrupted (the same command continues)."""


def main(argv=None):
    return status_of("weir-sweep", lambda: _command(list(sys.argv[1:] if argv is None else argv)))


def _command(argv):
    words, given = _split(argv)
    options = parser().parse_args(words)
    options.options = given
    from . import sweep_actions
    # A job that can write no file has failed; bad usage would be 2.
    if options.command == "work":
        return status_of("weir-sweep", lambda: sweep_actions.work(options), of_files=1)
    return sweep_actions.ACTIONS[options.command](options)


def _split(words):
    """(words of weir-sweep, options of weir behind --): argparse would take all that follows WHAT."""
    if words[:1] != ["find"] or "--" not in words:
        return words, []
    place = words.index("--")
    return words[:place], words[place + 1:]


def parser():
    made = CommandParser(prog="weir-sweep", description=DESCRIPTION, epilog=EPILOG)
    made.add_argument("--version", action="version", version=f"weir-sweep {VERSION}")
    commands = made.add_commands()

    def command(name, summary, description, epilog=EPILOG):
        return commands.add_parser(name, help=summary, description=description, epilog=epilog)

    for add in (_plan, _submit, _status, _collect, _find, _tune, _import, _bmwg, _read, _pack, _all):
        add(command)
    # For the jobs that submit makes, and for weir explain --confirm: not in the help.
    commands.add_parser("confirm").add_argument("directory", type=Path)
    work = commands.add_parser("work")
    work.add_argument("sweep", type=Path)
    work.add_argument("number", type=int)
    work.add_argument("--simulate", action="store_true")
    hidden = ("confirm", "work")
    commands._choices_actions = [action for action in commands._choices_actions if action.dest not in hidden]
    return made


def _out(added, what="the campaign's directory"):
    added.add_argument("--out", metavar="DIRECTORY", type=Path, help=what)


def _of_a_sweep(added):
    added.add_argument("sweep", metavar="SWEEP", type=Path, help="sweep file, or the directory of its campaign")
    _out(added)
    return added


def _where(added):
    kind = added.add_mutually_exclusive_group()
    kind.add_argument("--local", dest="world", action="store_const", const="local",
                      help="without SLURM: by the launcher of [local], else on this machine")
    kind.add_argument("--simulate", dest="world", action="store_const", const="simulation", help="in the simulator")


def _on_change(added):
    added.add_argument("--on-change", metavar="COMMAND", help="command that sets the switch, called with the setting's "
                                                              "name (replaces on-change of [switch])")


def _jobs(added, when=""):
    added.add_argument("--jobs", metavar="N", type=int,
                       help=f"{when}simulations at a time (default: all cores, as far as memory allows)")


def _packed(added):
    added.add_argument("--archive", metavar="FILE.tar.gz", type=Path,
                       help="the archive (default: beside the campaign's directory)")
    added.add_argument("--replace-names", action="store_true", help="replace names of hosts, users, accounts and "
                       "commands, addresses and directories, in all files")
    added.add_argument("--replace", metavar="WORD", action="append", default=[],
                       help="another word to replace, as the name of a project or a switch; repeatable")


def _plan(command):
    added = _of_a_sweep(command("plan", "what would be run, and how long it takes; starts nothing",
                                "Checks every setting and prints the number of runs, time, node hours and the order. "
                                "Starts nothing."))
    _where(added)
    _on_change(added)
    added.add_argument("--json", action="store_true", help="print JSON, with all points")


def _submit(command):
    added = _of_a_sweep(command("submit", "start the runs, or continue with those that are left",
                                "Starts the campaign, or continues it: complete runs are not repeated."))
    _where(added)
    _on_change(added)
    _jobs(added, "with --simulate: ")
    added.add_argument("--slurm", action="store_true", help="with --simulate: as an array of jobs with one core each")
    added.add_argument("--retry-failed", action="store_true", help="also repeat runs that failed")


def _status(command):
    added = _of_a_sweep(command("status", "progress of the campaign",
                                "Shows the progress of the campaign, from its run directories."))
    added.add_argument("--all", action="store_true", help="one line for every run")
    added.add_argument("--json", action="store_true", help="print JSON")


def _collect(command):
    added = _of_a_sweep(command("collect", "results as one table and one page",
                                "Writes table.csv (table.parquet too where pyarrow is installed) and comparison.html "
                                "into the campaign's directory. Lists the runs that are missing."))
    added.add_argument("--from", dest="world", choices=("slurm", "local", "simulation"),
                       help="which runs (default: those of SLURM, else of this machine, else simulated ones)")
    added.add_argument("--baseline", metavar="SETTING",
                       help="setting to compare with (default: the one in the sweep file, else the first)")
    added.add_argument("--by", metavar="AXIS", help="group runs by the values of one axis")
    added.add_argument("--quiet", action="store_true", help="print errors only")


def _find(command):
    added = command("find", "the limit of one plan, without a sweep file", FIND, f"Example: {FIND_EXAMPLE}. {STATUSES}")
    added.add_argument("what", metavar="WHAT", choices=tuple(QUANTITIES), help=", ".join(QUANTITIES))
    _where(added)
    _out(added, "the campaign's directory (default: weir-find-WHAT)")
    add = added.add_argument
    add("--rounds", metavar="N", type=int, default=3, help="whole searches, each with other seeds (default: 3)")
    add("--resolution", metavar="PERCENT", help="width of the bracket of a limit (default: 2%%)")
    add("--least", metavar="VALUE", help="lower end of the range (default: a 64th of the plan's value)")
    add("--most", metavar="VALUE", help="upper end of the range (default: 64 times the plan's value)")
    add("--criterion", choices=CRITERIA, help="when a value holds (default: sustained; of burst, lossless)")
    add("--events", choices=EVENTS,
        help="with rate: events keep their size (hold, the default), or their number per set (scale)")
    _jobs(added, "with --simulate: ")


def _tune(command):
    added = command("tune", "the best setting of some axes, simulated, and how sure that is", TUNE, TUNE_STATUSES)
    add = added.add_argument
    add("file", metavar="FILE.toml", type=Path, help="what is run, what is varied, what is to be made better")
    add("--from", dest="of_run", metavar="RUN", type=Path, help="directory of a run that was made: its twin (weir "
        "explain) takes the place of [run]; the file needs [tune] only")
    add("--plan", action="store_true", help="what would be run, and how long it takes; starts nothing")
    add("--budget", metavar="RUNS|TIME", help="runs of search and confirmation, such as 120, or for how long all may "
        "run on this machine, such as 2h (replaces budget of [tune])")
    _jobs(added)
    add("--slurm", action="store_true", help="simulations as arrays of SLURM jobs with one core each")
    _out(added, "where all is kept (default: FILE beside FILE.toml)")


def _import(command):
    added = command("switch-import", "a switch file out of the configuration of a real switch", IMPORT,
                    IMPORT_STATUSES)
    add = added.add_argument
    add("files", metavar="FILE", type=Path, nargs="+", help="all files of one switch, in any order; their content says "
        "what they are")
    add("--port", metavar="NAME", help="as the switch calls it (default: one of those with the same settings that are "
        "most)")
    add("--audit", action="store_true", help="print what is wrong with the configuration instead, the worst first")
    add("--json", action="store_true", help="with --audit: print JSON")
    add("--dscp", metavar="N", type=int, default=26, help="of the data (default: 26, as RoCE usually has)")


def _bmwg(command):
    added = command("bmwg", "the tests of the IETF's draft on AI fabrics, by their names", BMWG, BMWG_STATUSES)
    add = added.add_argument
    add("words", metavar="PLAN.toml | check DIRECTORY | compare A B", nargs="*",
        help="the plan: which fabric, which tests; or check, and the directory of a suite: what its report lacks of "
             "what the draft asks for; or compare, and the directories of two: their figures side by side, and a ratio "
             "where all that must be equal is")
    _where(added)
    add("--list", action="store_true", help="all sections: what they ask for, and whether they can be run; with a plan "
        "also how long they take. Starts nothing")
    add("--template", action="store_true", help="print a plan to begin with")
    add("--only", metavar="SECTIONS", help="run these sections and what they need: 5.3,8.1")
    add("--quick", action="store_true", help="a part of the draft's parameters, in minutes; --list shows which")
    _out(added, "the suite's directory (default: PLAN beside PLAN.toml)")


def _read(command):
    _of_a_sweep(command("read", "the switch's counters, once",
                        "Calls read of [switch] once and prints the counters as they would be kept: a trial of the "
                        "command. Nothing is stored."))


def _pack(command):
    _packed(_of_a_sweep(command(
        "pack", "one archive for others: settings, runs, counters, answer",
        "Packs settings, complete runs with all their files, what the switch and weir check printed, table and page "
        "into one archive with checksums. Unpacked, it is a campaign that weir-sweep collect takes.")))


def _all(command):
    added = _of_a_sweep(command("all", "plan, check, run, collect and pack, with one command",
                                "Prints the plan, makes all runs that are left and waits for them, writes table and "
                                "page, and packs everything. The same command continues after an interruption."))
    _where(added)
    _on_change(added)
    _packed(added)


if __name__ == "__main__":
    sys.exit(main())
