"""An earlier weir, built from its commit, to compare with."""

import shutil
import subprocess
import sys
import tempfile

from .running import TOP

# The last program before the work on speed.
COMMIT = "a8e89d9"


def program(commit):
    """The path of weir as `commit` builds it; it is kept in build/. None where git does not have the commit."""
    kept = TOP / "build" / f"weir-{commit}"
    if kept.exists():
        return kept
    if not has(commit):
        print(f"peers: git does not have commit {commit}: nothing is compared with it", file=sys.stderr)
        return None
    with checkout(commit) as tree:
        subprocess.run(["bash", "-c", "source bench/common.bash; find_mpi; quietly 'configuring an earlier weir' "
                                      "configure -DWEIR_TESTS=OFF; "
                        "quietly 'building it' build weir"], cwd=tree, check=True)
        shutil.copy2(f"{tree}/build/release/bin/weir", kept)
    return kept


def has(commit):
    return subprocess.run(["git", "-C", TOP, "cat-file", "-e", f"{commit}^{{commit}}"], capture_output=True,
                          check=False).returncode == 0


class checkout:
    """A directory with the files of a commit, as long as the context lasts."""

    def __init__(self, commit):
        self.commit = commit
        self.directory = tempfile.TemporaryDirectory(prefix="weir-peers-")

    def __enter__(self):
        with subprocess.Popen(["git", "-C", TOP, "archive", self.commit], stdout=subprocess.PIPE) as archive:
            subprocess.run(["tar", "-x", "-C", self.directory.name], stdin=archive.stdout, check=True)
        return self.directory.name

    def __exit__(self, *_):
        self.directory.cleanup()
