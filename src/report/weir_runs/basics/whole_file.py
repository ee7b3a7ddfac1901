"""Files that are there as a whole or not at all, whoever is killed and however many write."""

import contextlib
import json
import os
import re
import shutil
import stat
import tempfile
from pathlib import Path

from .errors import ReportError, naming

_DEVICE = re.compile(r"/dev/[^/]+$|/dev/fd/|/proc/")


def replace(path, content):
    """Writes text or bytes as `path`, in the place of what was there. Readers see the old file or the new one."""
    with writing(path) as file:
        file.write(_bytes_of(content))


@contextlib.contextmanager
def writing(path):
    """A file of bytes that becomes `path` when all is written. A symlink that lies there is replaced, and not what it
    leads to: directories of others are written into as well. A pipe or a device is written into: somebody waits at its
    other end."""
    if _DEVICE.match(os.path.abspath(path)) or _is_pipe(path):  # /dev/stdout
        with naming(path), open(path, "wb") as file:
            yield file
        return
    with _beside(path) as (file, temporary):
        yield file
        _finish(file)
        os.replace(temporary, path)


def create(path, content):
    """The same, but only if there is no `path` yet: of several that try at once, one gets True."""
    with _beside(path) as (file, temporary):
        file.write(_bytes_of(content))
        _finish(file)
        try:
            os.link(temporary, path)  # unlike opening with O_EXCL: with the content, and on NFS as well
        except FileExistsError:
            return False
    return True


@contextlib.contextmanager
def directory(path):
    """A directory that becomes `path`, which is not there, when all in it is made; what an interruption left is made
    anew."""
    part = path.with_name(f"{path.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    yield part
    part.rename(path)


def make_directory(path):
    """Makes the directory `path` with those above it. Raises a ReportError if a symlink lies in its place, which may
    lead to any other."""
    path = Path(path)
    if path.is_symlink():
        raise ReportError(f"{path}: it is a symbolic link, so nothing is written into it; a directory is expected")
    path.mkdir(parents=True, exist_ok=True)


def _bytes_of(content):
    """Of a name that is no UTF-8 JSON has the escape that stands for it in Python, so it is read back as it was."""
    return content.encode(errors="backslashreplace") if isinstance(content, str) else content


def json_text(record):
    return json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def printed_json(record):
    """The same for standard output, where what is unsafe is spelt out for people (terminal_text.py): so nothing unsafe
    is left in it."""
    return json.dumps(record, indent=1, allow_nan=False) + "\n"


@contextlib.contextmanager
def _beside(path):
    """A new file beside `path`, and its name; it is removed if it still has that name in the end."""
    path, name = Path(path), None
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}."[:200], dir=path.parent)
        with os.fdopen(descriptor, "wb") as file:
            yield file, name
    except OSError as error:
        # Name the file that was to be written, not the temporary one.
        if error.filename in (None, name) or name is None:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    finally:
        if name:
            _remove(name)


def _is_pipe(path):
    """Of this user: what others put there for nobody to read would hold the writer up for ever."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return (stat.S_ISFIFO(found.st_mode) or stat.S_ISCHR(found.st_mode)) and found.st_uid == os.geteuid()


def _finish(file):
    """Its content is on the disk, and readable for whom the user's umask allows it."""
    file.flush()
    os.fsync(file.fileno())
    os.fchmod(file.fileno(), 0o666 & ~_umask())


def _remove(name):
    with contextlib.suppress(OSError):
        os.unlink(name)


def _umask():
    # It can only be read by setting it; programs here have one thread while they write.
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
