"""The program that virtual machines start with: a busybox without shared libraries, found on this machine or fetched.

Debian's package busybox-static cannot be installed beside the ordinary busybox, so its one file is kept in the cache.
"""

import os
import pathlib
import shutil
import struct

from soft_roce import packages
from soft_roce.problem import Problem

PACKAGE = "busybox-static"


def find(cache, say):
    for path in (cache / "bin/busybox", pathlib.Path(shutil.which("busybox") or "/bin/busybox")):
        if path.exists() and not needs_libraries(path.read_bytes()):
            return path
    if not packages.can_fetch():
        raise Problem(
            "no statically linked busybox is on the PATH, and only Debian's is known how to fetch, with apt-get",
            unavailable=True)
    return fetch(cache, say)


def fetch(cache, say):
    say(f"fetching {PACKAGE}, once")
    with packages.work_directory(cache) as directory:
        try:
            root = packages.Packages(directory).unpacked(lambda _: PACKAGE)
        except Problem as problem:
            raise Problem(f"no statically linked busybox is on the PATH, and none could be fetched: {problem}",
                          unavailable=True) from None
        found = next(path for path in (root / "usr/bin/busybox", root / "bin/busybox") if path.exists())
        (cache / "bin").mkdir(exist_ok=True)
        os.replace(found, cache / "bin/busybox")
    return cache / "bin/busybox"


def needs_libraries(program):
    """Whether a 64-bit ELF program names an interpreter, as all do that are not linked statically; True for other
    files."""
    interpreter = 3
    if program[:5] != b"\x7fELF\x02":
        return True
    begin, = struct.unpack_from("<Q", program, 32)
    size, count = struct.unpack_from("<HH", program, 54)
    return any(struct.unpack_from("<I", program, begin + index * size)[0] == interpreter for index in range(count))
