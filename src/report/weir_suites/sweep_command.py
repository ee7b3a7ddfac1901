"""weir-sweep: a campaign of many runs from one file. What a command needs is loaded when it is called
(sweep_actions.py)."""

import sys
from pathlib import Path

from weir_runs.basics.command_parser import CommandParser, Either, flag, value
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
what mlnx_qos, niccli, cma_roce_tos, sysctl and weir check --json print."""
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
    # For the jobs that submit makes, and for weir explain --confirm: not in the help.
    commands = made.add_commands(COMMANDS)
    commands.add_parser("confirm").add_argument("directory", type=Path)
    commands.add_parser("work").add_rows((("sweep", {"type": Path}), ("number", {"type": int}),
                                          ("--simulate", {"action": "store_true"})))
    return made


# --- Rows of the commands: see CommandParser.


def out(what="the campaign's directory"):
    return value("--out", "DIRECTORY", what, type=Path)


def jobs(when=""):
    return value("--jobs", "N", f"{when}simulations at a time (default: all cores, as far as memory allows)", type=int)


SWEEP = (value("sweep", "SWEEP", "sweep file, or the directory of its campaign", type=Path), out())
WHERE = Either((("--local", {"dest": "world", "action": "store_const", "const": "local",
                             "help": "without SLURM: by the launcher of [local], else on this machine"}),
                ("--simulate", {"dest": "world", "action": "store_const", "const": "simulation",
                                "help": "in the simulator"})))
ON_CHANGE = value("--on-change", "COMMAND", "command that sets the switch, called with the setting's name (replaces "
                  "on-change of [switch])")
PACKED = (value("--archive", "FILE.tar.gz", "the archive (default: beside the campaign's directory)", type=Path),
          flag("--replace-names", "replace names of hosts, users, accounts and commands, addresses and directories, in "
               "all files"),
          value("--replace", "WORD", "another word to replace, as the name of a project or a switch; repeatable",
                action="append", default=[]))

# (name, summary, description, rows, what the help ends with)
COMMANDS = (
    ("plan", "what would be run, and how long it takes; starts nothing",
     "Checks every setting and prints the number of runs, time, node hours and the order. Starts nothing.",
     (*SWEEP, WHERE, ON_CHANGE, flag("--json", "print JSON, with all points")), EPILOG),
    ("submit", "start the runs, or continue with those that are left",
     "Starts the campaign, or continues it: complete runs are not repeated.",
     (*SWEEP, WHERE, ON_CHANGE, jobs("with --simulate: "),
      flag("--slurm", "with --simulate: as an array of jobs with one core each"),
      flag("--retry-failed", "also repeat runs that failed")), EPILOG),
    ("status", "progress of the campaign", "Shows the progress of the campaign, from its run directories.",
     (*SWEEP, flag("--all", "one line for every run"), flag("--json", "print JSON")), EPILOG),
    ("collect", "results as one table and one page",
     "Writes table.csv (table.parquet too where pyarrow is installed) and comparison.html into the campaign's "
     "directory. Lists the runs that are missing.",
     (*SWEEP, value("--from", None, "which runs (default: those of SLURM, else of this machine, else simulated ones)",
                    dest="world", choices=("slurm", "local", "simulation")),
      value("--baseline", "SETTING", "setting to compare with (default: the one in the sweep file, else the first)"),
      value("--by", "AXIS", "group runs by the values of one axis"), flag("--quiet", "print errors only")), EPILOG),
    ("find", "the limit of one plan, without a sweep file", FIND,
     (value("what", "WHAT", ", ".join(QUANTITIES), choices=tuple(QUANTITIES)), WHERE,
      out("the campaign's directory (default: weir-find-WHAT)"),
      value("--rounds", "N", "whole searches, each with other seeds (default: 3)", type=int, default=3),
      value("--resolution", "PERCENT", "width of the bracket of a limit (default: 2%%)"),
      value("--least", "VALUE", "lower end of the range (default: a 64th of the plan's value)"),
      value("--most", "VALUE", "upper end of the range (default: 64 times the plan's value)"),
      value("--criterion", None, "when a value holds (default: sustained; of burst, lossless)", choices=CRITERIA),
      value("--events", None, "with rate: events keep their size (hold, the default), or their number per set (scale)",
            choices=EVENTS),
      jobs("with --simulate: ")), f"Example: {FIND_EXAMPLE}. {STATUSES}"),
    ("tune", "the best setting of some axes, simulated, and how sure that is", TUNE,
     (value("file", "FILE.toml", "what is run, what is varied, what is to be made better", type=Path),
      value("--from", "RUN", "directory of a run that was made: its twin (weir explain) takes the place of [run]; the "
            "file needs [tune] only", dest="of_run", type=Path),
      flag("--plan", "what would be run, and how long it takes; starts nothing"),
      value("--budget", "RUNS|TIME", "runs of search and confirmation, such as 120, or for how long all may run on "
            "this machine, such as 2h (replaces budget of [tune])"),
      jobs(), flag("--slurm", "simulations as arrays of SLURM jobs with one core each"),
      out("where all is kept (default: FILE beside FILE.toml)")), TUNE_STATUSES),
    ("switch-import", "a switch file out of the configuration of a real switch", IMPORT,
     (value("files", "FILE", "all files of one switch, in any order; their content says what they are", type=Path,
            nargs="+"),
      value("--port", "NAME", "as the switch calls it (default: one of those with the same settings that are most)"),
      flag("--audit", "print what is wrong with the configuration instead, the worst first"),
      flag("--json", "with --audit: print JSON"),
      value("--dscp", "N", "of the data (default: 26, as RoCE usually has)", type=int, default=26)), IMPORT_STATUSES),
    ("bmwg", "the tests of the IETF's draft on AI fabrics, by their names", BMWG,
     (value("words", "PLAN.toml | check DIRECTORY | compare A B",
            "the plan: which fabric, which tests; or check, and the directory of a suite: what its report lacks of "
            "what the draft asks for; or compare, and the directories of two: their figures side by side, and a ratio "
            "where all that must be equal is", nargs="*"), WHERE,
      flag("--list", "all sections: what they ask for, and whether they can be run; with a plan also how long they "
           "take. Starts nothing"),
      flag("--template", "print a plan to begin with"),
      value("--only", "SECTIONS", "run these sections and what they need: 5.3,8.1"),
      flag("--quick", "a part of the draft's parameters, in minutes; --list shows which"),
      out("the suite's directory (default: PLAN beside PLAN.toml)")), BMWG_STATUSES),
    ("read", "the switch's counters, once",
     "Calls read of [switch] once and prints the counters as they would be kept: a trial of the command. Nothing is "
     "stored.", SWEEP, EPILOG),
    ("pack", "one archive for others: settings, runs, counters, answer",
     "Packs settings, complete runs with all their files, what the switch and weir check printed, table and page into "
     "one archive with checksums. Unpacked, it is a campaign that weir-sweep collect takes.",
     (*SWEEP, *PACKED), EPILOG),
    ("all", "plan, check, run, collect and pack, with one command",
     "Prints the plan, makes all runs that are left and waits for them, writes table and page, and packs everything. "
     "The same command continues after an interruption.", (*SWEEP, WHERE, ON_CHANGE, *PACKED), EPILOG),
)


if __name__ == "__main__":
    sys.exit(main())
