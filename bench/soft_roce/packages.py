"""Fetches a Debian package, to take files from it: nothing is installed, and no root is needed."""

import contextlib
import pathlib
import shutil
import subprocess
import tempfile
import time

from soft_roce.problem import Problem

FETCH_LIMIT_S = 600


def can_fetch():
    return bool(shutil.which("apt-get") and shutil.which("dpkg-deb"))


ABANDONED_S = 3600


@contextlib.contextmanager
def work_directory(cache):
    """A directory in the cache, for as long as something is fetched into it. The cache is made if it is not there."""
    try:
        cache.mkdir(parents=True, exist_ok=True)
        # What was killed while it fetched has left its files.
        for old in cache.glob("fetch-*"):
            if time.time() - old.stat().st_mtime > ABANDONED_S:
                shutil.rmtree(old, ignore_errors=True)
        directory = tempfile.TemporaryDirectory(dir=cache, prefix="fetch-")
    except OSError as error:
        raise Problem(f"nothing can be kept in {cache}: {error.strerror}; XDG_CACHE_HOME names another place") from None
    with directory as name:
        yield pathlib.Path(name)


class Packages:
    """The package sources of this machine, and a directory for what comes from them."""

    def __init__(self, directory):
        self.directory = directory
        self.options = ["-o", "APT::Sandbox::User=root", "-o", "Acquire::Retries=2"]
        self.has_own_lists = False

    def unpacked(self, name_of):
        """The root directory of an unpacked package. name_of: a function that finds the package's name by `shown`."""
        try:
            package = self.download(name_of(self))
        except Problem:
            if self.has_own_lists:
                raise
            # No package lists, or old ones: fresh lists of our own leave the machine's alone.
            self.update_own_lists()
            package = self.download(name_of(self))
        root = self.directory / package.stem
        run(["dpkg-deb", "--extract", str(package), str(root)])
        package.unlink()
        return root

    def shown(self, name):
        """What the package lists have about a package."""
        return run(["apt-cache", *self.options, "show", "--no-all-versions", name])

    def download(self, name):
        before = set(self.directory.glob("*.deb"))
        run(["apt-get", *self.options, "-q", "download", name], self.directory)
        return (set(self.directory.glob("*.deb")) - before).pop()

    def update_own_lists(self):
        for part in ("state/lists/partial", "cache/archives/partial"):
            (self.directory / part).mkdir(parents=True)
        self.options += ["-o", f"Dir::State={self.directory}/state", "-o", f"Dir::Cache={self.directory}/cache",
                         "-o", "Dir::State::status=/var/lib/dpkg/status"]
        self.has_own_lists = True
        run(["apt-get", *self.options, "-q", "update", "--error-on=any"])


def run(words, directory=None):
    """What it printed; a failure is a Problem with its last lines."""
    try:
        done = subprocess.run(words, cwd=directory, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False,
                              timeout=FETCH_LIMIT_S)
    except subprocess.TimeoutExpired:
        raise Problem(f"`{words[0]}` took more than {FETCH_LIMIT_S} s") from None
    if done.returncode != 0:
        last = " ".join((done.stderr or done.stdout).strip().splitlines()[-3:])
        raise Problem(f"`{words[0]}` failed with {done.returncode}: {last}")
    return done.stdout
