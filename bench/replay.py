"""`check` of a study: a cheap part of its stored lines made anew and compared, and the page compared with what its
files give.

Simulations are deterministic, so numbers must be equal in every digit that is stored.
"""

import copy
import pathlib
import tempfile

import studies

# Columns that depend on the program or the machine and not on the run.
NOT_COMPARED = {"weir", "commit", "mpi", "wall_s", "simulation_s", "cpu_s", "load_before", "peak_memory_mb"}


def check(options, study):
    """The exit status: 0 if all is equal, 1 if something differs, or nothing was made anew of what can be."""
    count, faults = 0, []
    for name, text in study.page(options.out).items():
        if not (options.out / name).exists() or text != (options.out / name).read_text():
            faults.append(
                f"FAIL {name}: not what the files of {options.out} give; make it anew with the study's `table`")
    if study.replay:
        with tempfile.TemporaryDirectory(prefix="weir-check-") as directory:
            trial = copy.copy(options)
            trial.out, trial.stored = pathlib.Path(directory), options.out
            count, differing = study.replay(trial) or compare_lines(
                options.out, trial.out, study.keys, NOT_COMPARED.union(study.not_replayed))
        faults += differing if count else ["no line was made anew"]
    replayed = f"{count} stored lines of {options.out.name} replayed, and " if study.replay else ""
    print("\n".join(faults) or f"PASS: {replayed}the page is what its files give ({studies.children_cpu_s():.1f} s of "
                               "processor time)")
    return 1 if faults else 0


def compare_lines(stored_in, made_in, keys, not_compared):
    """(count, faults): how many lines were compared, and those that differ, as text."""
    count, faults = 0, []
    for name, key in keys.items():
        stored = {}
        for line in studies.stored(stored_in / name):
            stored.setdefault(tuple(line[column] for column in key), line)
        for new in studies.stored(made_in / name):
            count += 1
            where = f"{name}: " + ", ".join(f"{column} {new[column]}" for column in key if new[column]
                                            and column != "command")
            old = stored.get(tuple(new[column] for column in key))
            if old is None:
                faults.append(f"FAIL {where}: no such line is stored")
                continue
            differing = [column for column in new if column not in not_compared and new[column] != old.get(column)]
            if differing:
                faults.append(f"FAIL {where}, stored with weir {old.get('weir', '?')}:")
                faults += [f"    {column}: stored {old.get(column)}, now {new[column]}" for column in differing]
                faults += [f"    {new['command']}"] if new.get("command") else []
    return count, faults
