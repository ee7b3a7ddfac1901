"""Packs what others need to judge a campaign, or to show it in results/, into one archive: settings, runs with all
their files, what the switch and `weir check` printed, capacity, table and page, with checksums.

The archive is a campaign: unpacked, `weir-sweep collect DIRECTORY` makes table and page anew. If names are to be
replaced, they are in all files, and table and page are made from those; nothing is packed as long as one of the names
is left."""

import contextlib
import getpass
import hashlib
import platform
import tarfile
import tempfile
import time
from pathlib import Path

from weir_runs.basics import toml_file, whole_file
from weir_runs.basics.csv_text import csv_text
from weir_runs.basics.errors import ReportError
from weir_runs.basics.input_file import read_bytes
from weir_runs.basics.units import counted, text
from weir_runs.reading.groups_record import refuse_groups
from weir_runs.version import VERSION
from . import claim_files, pack_names

SCHEMA = "weir-pack/1"
# Files of a campaign's directory and of each world's. Submissions, turns and what launchers print are of no use to
# others.
_CAMPAIGN_FILES = ("plan.json", "sweep.toml")
_WORLD_FILES = ("settings.json", "claims/*.json", "hooks/*.txt", "check/*")
_RUN_FILES = ("run.json", "*.csv", "ranks/*.csv", "hosts/*.csv", "switch/**/*")
_TEXT = (".json", ".csv", ".toml", ".txt", ".html")


def pack(campaign, target, replace_names, more_names, collect):
    """Writes `target`, a .tar.gz. `collect(directory)`: writes table and page of a campaign. Returns lines about what
    was packed and replaced. Raises ReportError, OSError."""
    if not campaign.worlds_begun():
        raise ReportError(f"{campaign.directory}: nothing was run yet; weir-sweep submit starts the runs")
    if more_names and not replace_names:
        raise ReportError("--replace: only with --replace-names")
    with tempfile.TemporaryDirectory(prefix="weir-pack-") as temporary:
        root = Path(temporary) / campaign.plan.name
        complete, left_out = _copy(campaign, root)
        names = pack_names.Names()
        if replace_names:
            _find_names(campaign, root, more_names, names)
            _replace_all(root, names)
        collect(root)
        _without_directory(root, names)
        _describe(campaign, root, complete, replace_names)
        if replace_names:
            _check_none_left(root, names)
        _write_archive(root, Path(target))
    return _lines(target, complete, names, replace_names, left_out)


def _copy(campaign, root):
    """Copies what is packed. (number of complete runs, what was left out: links)."""
    complete, links = 0, []
    for path in _packed(campaign):
        relative = path.relative_to(campaign.directory)
        # it, or a directory above it, is a link: whose file it leads to is not known
        if path.resolve() != campaign.directory.resolve() / relative:
            links.append(str(relative))
        else:
            (root / relative).parent.mkdir(parents=True, exist_ok=True)
            (root / relative).write_bytes(read_bytes(path, "a file of a campaign"))
    for directory in _complete_runs(campaign):
        complete += 1
        if not (root / directory.relative_to(campaign.directory) / "run.json").exists():
            raise ReportError(f"{directory / 'run.json'}: a symbolic link leads there; pack follows none, so put the "
                              "run itself there")
    if complete == 0:
        raise ReportError(f"{campaign.directory}: no run is complete, so there is nothing to pack; weir-sweep status "
                          "shows why")
    return complete, links


def _packed(campaign):
    """The files, of which some can be links."""
    yield from (path for name in _CAMPAIGN_FILES if (path := campaign.directory / name).exists())
    for world in campaign.worlds_begun():
        for pattern in _WORLD_FILES:
            yield from sorted(world.directory.glob(pattern))
    for directory in _complete_runs(campaign):
        refuse_groups(directory)  # names in its groups would not be found
        yield from sorted({path for pattern in _RUN_FILES for path in directory.glob(pattern) if path.is_file()})


def _complete_runs(campaign):
    states = (state for world in campaign.worlds_begun() for state in world.states())
    return [state.directory for state in states if state.directory]


# --- Names.


def _files(root):
    return sorted(path for path in root.rglob("*") if path.is_file())


def _find_names(campaign, root, more_names, names):
    for name in more_names:
        names.add("name", name)
    with contextlib.suppress(KeyError, OSError):  # a user without a name
        names.add("user", getpass.getuser())
    names.add_prefix(str(campaign.directory.resolve()), "/campaign")
    names.add_prefix(str(Path(campaign.plan.file or "/").parent), "/sweep")
    names.add_prefix(str(Path.home()), "/home")
    if (root / "sweep.toml").exists():
        pack_names.add_from_sweep(names, toml_file.parse(root / "sweep.toml", _text(root / "sweep.toml")))
    for path in sorted(root.glob("*/runs/*/run.json")):
        if path.relative_to(root).parts[0] != "simulation":  # its hosts are called by their roles
            pack_names.add_from_run(names, _json(path))
    for path in sorted(root.glob("*/check/*.json")):
        with contextlib.suppress(ReportError):  # a check that was ended has printed a part
            pack_names.add_from_check(names, claim_files.record_in(path))
    for path in sorted(root.glob("*/claims/*.json")):
        holder = _json(path).get("holder") or {}
        for key, kind in (("host", "host"), ("boot", "boot")):
            names.add(kind, str(holder.get(key) or ""))
    for path in _files(root):
        if path.suffix in (".json", ".toml", ".txt") or path.name == "read.csv":
            names.add_forms(_text(path))


def _replace_all(root, names):
    for path in _files(root):
        if path.suffix not in _TEXT:
            raise ReportError(f"{path.relative_to(root)}: not a text file, so names cannot be replaced in it")
        text = _text(path)
        if path.name == "run.json":
            text = whole_file.json_text(pack_names.without_job(_json(path)))
        elif path.name == "sweep.toml":
            # Names first: a command without the value of a variable in it is none that is known.
            text = pack_names.without_variables(pack_names.without_partitions(names.replaced(text)))
        elif path.name == "plan.json":
            text = whole_file.json_text(pack_names.plan_without_variables(_json(path)))
        path.write_text(names.replaced(text), encoding="utf-8")
    for path in sorted(root.rglob("*"), key=lambda path: -len(path.parts)):  # what is inside of a directory first
        replaced = names.replaced(path.name)
        if replaced != path.name:
            path.rename(path.with_name(replaced))


def _check_none_left(root, names):
    for path in _files(root):
        left = names.left_in(str(path.relative_to(root))) or names.left_in(_text(path))
        if left:
            raise ReportError(f"'{left}' is still in {path.relative_to(root)} after all names were replaced; nothing "
                              "was packed")


def _text(path):
    return read_bytes(path, "a text file").decode("utf-8", errors="replace")


def _json(path):
    try:
        return claim_files.record_in(path)
    except ReportError as error:
        raise ReportError(f"{path.name}: damaged; it cannot be packed") from error


# --- The archive.


def _without_directory(root, names):
    """Table and page are of a temporary directory: paths in them are those in the archive."""
    (root / "table.parquet").unlink(missing_ok=True)
    for name in ("table.csv", "limits.csv", "comparison.html", "capacity.json"):
        if (root / name).exists():
            text = _text(root / name).replace(str(root) + "/", "")
            (root / name).write_text(names.replaced(text), encoding="utf-8")


def _describe(campaign, root, complete, replaced):
    versions = sorted({(record["environment"].get("weir_version"), record["environment"].get("mpi_library"))
                       for record in map(_json, root.glob("*/runs/*/run.json"))}, key=str)
    whole_file.replace(root / "pack.json", whole_file.json_text({
        "schema": SCHEMA, "campaign": campaign.plan.name,
        "packed_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "weir_sweep": VERSION, "python": platform.python_version(), "complete_runs": complete,
        "names_replaced": replaced,
        "versions": [{"weir": weir, "mpi": mpi} for weir, mpi in versions]}))
    (root / "README.txt").write_text(
        f"Runs of weir: campaign {campaign.plan.name}, {counted(complete, 'complete run')}"
        f"{'; names were replaced' if replaced else ''}.\n\n"
        "comparison.html   the answer\ntable.csv         a row for each run\nsweep.toml        what was run\n"
        "limits.csv        largest value that each setting sustained, if the sweep has `find` (capacity.json: with all "
        "tries)\n*/runs/*          one directory for each run: run.json, rows of ranks and hosts, switch counters\n"
        "*/check, */hooks  what `weir check` found, and what the command printed that set the switch\n\n"
        "`weir-sweep collect .` makes table and page anew; `sha256sum -c SHA256SUMS` checks the files.\n",
        encoding="utf-8")
    sums = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(root)}\n"
                   for path in _files(root))
    (root / "SHA256SUMS").write_text(sums, encoding="utf-8")


def _write_archive(root, target):
    """As a whole or not at all, without the owner's name."""
    target.parent.mkdir(parents=True, exist_ok=True)

    def anonymous(entry):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        return entry
    with whole_file.writing(target) as file, tarfile.open(fileobj=file, mode="w:gz") as archive:
        archive.add(root, arcname=root.name, filter=anonymous)


def _lines(target, complete, names, replaced, left_out):
    size = Path(target).stat().st_size
    lines = [f"packed   {counted(complete, 'complete run')}, {text(size, 'B')}: {target}"]
    if left_out:
        lines.append(f"left out {counted(len(left_out), 'symbolic link')}, which pack does not follow: "
                     f"{', '.join(left_out[:5])}" + (", ..." if len(left_out) > 5 else ""))
    if not replaced:
        return [*lines, "names    of hosts, users and directories are in it as they are (--replace-names)"]
    table = Path(f"{target}.names.csv")
    whole_file.replace(table,
                       csv_text([("replacement", "name"), *((new, old) for old, new in names.replacements.values())]))
    return [*lines, f"names    {counted(len(names.replacements), 'name')} replaced, and none of them is left in any "
                    f"file; which is which: {table} (keep it)",
            "look     at sweep.toml, plan.json, hooks/ and switch/verify-*.txt before you hand it on: only you see "
            "whether a comment or a setting's name gives more away (--replace WORD)"]
