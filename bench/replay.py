"""`check` of a page: a cheap part of its stored lines made anew and compared, and the page compared with what its lines give.

Simulations are deterministic, so numbers must be equal in every digit that is stored.
"""

import contextlib
import copy
import io
import pathlib
import resource
import shutil
import sys
import tempfile

import paper_runs

# Columns that depend on the program or the machine and not on the run.
NOT_COMPARED = {"weir", "commit", "mpi", "wall_s", "simulation_s", "cpu_s", "load_before", "peak_memory_mb"}


def check(options, keys, rerun, write, besides=()):
    """Ends the program: status 0 if all is equal, 1 if something differs.

    keys: {file: columns that identify a line}, of the CSV files that `rerun` writes.
    rerun(trial): runs a few stored lines again, at most 10 s of processor time; `trial` is `options` with an empty directory as `out`.
    write(options): writes the page's texts into options.out from the files there.
    besides: columns that are not compared, for a reason that the page gives.
    """
    with tempfile.TemporaryDirectory(prefix="weir-check-") as directory:
        trial, page = copy.copy(options), copy.copy(options)
        trial.out, page.out = pathlib.Path(directory) / "lines", pathlib.Path(directory) / "page"
        trial.out.mkdir()
        rerun(trial)
        count, faults = compare_lines(options.out, trial.out, keys, NOT_COMPARED.union(besides))
        shutil.copytree(options.out, page.out)
        with contextlib.redirect_stdout(io.StringIO()), paper_runs.without_figures():
            write(page)
        faults += compare_texts(options.out, page.out)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    if count == 0:
        faults.append("no line was made anew")
    print("\n".join(faults) or f"PASS: {count} stored lines of {options.out.name} replayed, and the page is what its files give "
          f"({spent.ru_utime + spent.ru_stime:.1f} s of processor time)")
    sys.exit(1 if faults else 0)


def compare_lines(stored_in, made_in, keys, not_compared):
    """(count, faults): how many lines were compared, and those that differ, as text."""
    count, faults = 0, []
    for name, key in keys.items():
        stored = {}
        for line in paper_runs.stored(stored_in / name):
            stored.setdefault(tuple(line[column] for column in key), line)
        for new in paper_runs.stored(made_in / name):
            count += 1
            where = f"{name}: " + ", ".join(f"{column} {new[column]}" for column in key if new[column] and column != "command")
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


def compare_texts(stored_in, made_in):
    return [f"FAIL {file.name}: not what the files of {stored_in} give; make it anew with the page's `table`"
            for file in sorted(made_in.rglob("*.md")) if not (stored_in / file.relative_to(made_in)).exists()
            or file.read_bytes() != (stored_in / file.relative_to(made_in)).read_bytes()]
