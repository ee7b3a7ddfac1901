"""Files that are there as a whole or not at all, whoever is killed and however many write."""

import contextlib
import json
import os
import tempfile
from pathlib import Path


def replace(path, content):
    """Writes text or bytes as `path`, in the place of what was there. Readers see the old file or the new one."""
    temporary = _temporary(path, content)
    try:
        os.replace(temporary, path)
    except OSError:
        _remove(temporary)
        raise


def create(path, content):
    """The same, but only if there is no `path` yet: of several that try at once, one gets True."""
    temporary = _temporary(path, content)
    try:
        os.link(temporary, path)  # unlike opening with O_EXCL: with the content, and on NFS as well
    except FileExistsError:
        return False
    finally:
        _remove(temporary)
    return True


def json_text(record):
    return json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _temporary(path, content):
    """A new file beside `path` with the content, on the disk."""
    path = Path(path)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())
    except OSError as error:
        _remove(name)
        # Name the file that was to be written, not the temporary one.
        raise OSError(error.errno, error.strerror, str(path)) from error
    return name


def _remove(name):
    with contextlib.suppress(OSError):
        os.unlink(name)


def _umask():
    # It can only be read by setting it; programs here have one thread while they write.
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
