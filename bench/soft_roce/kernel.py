"""The kernel of the virtual machines, with the modules that they load: found on this machine, or fetched.

A place of kernels is a directory with boot/vmlinuz-VERSION and lib/modules/VERSION, such as an unpacked kernel package,
this machine's own root, or the cache. What is fetched is Debian's kernel package, of which the kernel and some forty
modules stay in the cache. Nothing is installed, and no boot loader hears of it.
"""

import contextlib
import dataclasses
import gzip
import lzma
import pathlib
import re
import shutil
import subprocess

from soft_roce import packages
from soft_roce.problem import Problem



@dataclasses.dataclass(frozen=True)
class Modules:
    """What a virtual machine loads for one purpose, in this order, after what each of them depends on."""

    purpose: str
    needed: tuple
    wanted: tuple = ()  # loaded where the kernel has them


BASE = (
    "virtio_pci", "virtio_console",            # the channels to this process
    "9pnet_virtio", "9p", "overlay",           # this machine's files
)
SOFT_ROCE = Modules(
    "Soft-RoCE",
    (*BASE, "dummy", "virtio_net",             # the interface of one machine alone, and of two with a link
     "rdma_rxe", "ib_uverbs", "rdma_ucm"),
    # Lossy links; a checksum that rdma_rxe asks the kernel for by name up to Linux 6.12.
    ("sch_netem", "crc32_generic"))
LAB = Modules("switch ports that mark packets",
              (*BASE, "veth", "bridge", "sch_tbf", "sch_red", "sch_netem", "tcp_dctcp"))
PURPOSES = (SOFT_ROCE, LAB)
OPENERS = {".ko": open, ".ko.xz": lzma.open, ".ko.gz": gzip.open}
HOW_ELSE = "; --kernel names a directory with another one, such as an unpacked kernel package"


@dataclasses.dataclass
class Kernel:
    """One that has all that a virtual machine needs."""

    version: str
    image: pathlib.Path
    directory: pathlib.Path  # lib/modules/VERSION
    modules: list            # of (name, pathlib.Path), in the order in which they are loaded


# -------------------------------------------------------------------------------------------------- what is in a place


def module_name(path):
    return path.name.partition(".ko")[0].replace("-", "_")


def module_bytes(path):
    """As the kernel loads it, not compressed."""
    ending = path.name[path.name.index(".ko"):]
    if ending == ".ko.zst":
        done = subprocess.run(["zstd", "--decompress", "--stdout", "--quiet", str(path)], capture_output=True,
                              check=False)
        if done.returncode != 0:
            raise OSError(f"zstd cannot decompress {path}: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout
    with OPENERS[ending](path, "rb") as file:
        return file.read()


def dependencies(path):
    """Modules that this one needs, from the list that is part of every module."""
    found = re.search(rb"\0depends=([^\0]*)\0", module_bytes(path))
    return [name.replace("-", "_") for name in found[1].decode().split(",") if name] if found else []


def modules_to_load(directory, purposes):
    """The modules of lib/modules/VERSION to load, in order. Problem: one that is needed is not there."""
    files = {module_name(path): path for path in sorted(directory.rglob("*.ko*")) if path.name[path.name.index(".ko"):]
             in (*OPENERS, ".ko.zst")}
    built_in = set()
    with contextlib.suppress(OSError):
        built_in = {module_name(pathlib.Path(line))
                    for line in (directory / "modules.builtin").read_text().splitlines()}
    order = {}

    def add(name, is_needed=True):
        if name in order or name in built_in:
            return
        if name not in files:
            if is_needed:
                raise Problem(f"{directory} has no module {name}", unavailable=True)
            return
        for other in dependencies(files[name]):
            add(other)
        order[name] = files[name]

    for purpose in purposes:
        for name in purpose.needed:
            add(name)
        for name in purpose.wanted:
            add(name, is_needed=False)
    return list(order.items())


def kernels_in(place, *purposes):
    """(kernels usable for all purposes, reasons against the others), the newest first."""
    usable, reasons = [], []
    images = {}
    for path in place.glob("boot/vmlinuz-*"):
        images[path.name.removeprefix("vmlinuz-")] = path
    for path in place.glob("lib/modules/*/vmlinuz"):
        images.setdefault(path.parent.name, path)
    for version in sorted(images, key=version_order, reverse=True):
        try:
            with open(images[version], "rb"):
                pass
            directory = place / "lib/modules" / version
            usable.append(Kernel(version, images[version], directory, modules_to_load(directory, purposes)))
        except (OSError, Problem) as problem:
            reasons.append(f"{images[version]}: {problem}")
    return usable, reasons


def version_order(version):
    return [int(part) if part.isdigit() else -1 for part in re.split(r"[^0-9]+", version)]


# ------------------------------------------------------------------------------------------------------------- finding


def find(place, cache, say, purpose=SOFT_ROCE):
    """The kernel to boot for one of PURPOSES: from `place` if that is given, else from the cache, of this machine, or
    fetched."""
    if place is not None:
        usable, reasons = kernels_in(place, purpose)
        if not usable:
            why = "; ".join(reasons) or "it has no boot/vmlinuz-VERSION and lib/modules/VERSION"
            raise Problem(f"--kernel {place}: {why}", 2)
        return usable[0]
    reasons = []
    for known in (cache, pathlib.Path("/")):
        usable, against = kernels_in(known, purpose)
        if usable:
            return usable[0]
        reasons += against
    return fetch(cache, say, purpose, reasons)


# ------------------------------------------------------------------------------------------------------------ fetching


def fetch(cache, say, purpose, reasons=()):
    """Takes what all purposes need out of Debian's kernel package and puts it into the cache."""
    looked = f" ({'; '.join(reasons)})" if reasons else ""
    if not packages.can_fetch():
        raise Problem(f"no kernel with {purpose.purpose} is here{looked}, and only Debian's is known how to fetch, "
                      f"with apt-get{HOW_ELSE}", unavailable=True)
    say("fetching Debian's kernel package, once (about 70 MB)")
    with packages.work_directory(cache) as directory:
        try:
            root = packages.Packages(directory).unpacked(newest_package)
        except Problem as problem:
            raise Problem(f"no kernel with {purpose.purpose} is here{looked}, and none could be fetched: "
                          f"{problem}{HOW_ELSE}",
                          unavailable=True) from None
        if not (root / "lib").exists() and (root / "usr/lib/modules").exists():
            (root / "lib").symlink_to("usr/lib")
        usable, against = kernels_in(root, *PURPOSES)
        if not usable:
            raise Problem(f"Debian's kernel package cannot be used: {'; '.join(against)}{HOW_ELSE}", unavailable=True)
        return keep(usable[0], cache, directory / "kept", purpose)


def newest_package(sources):
    # A package without content that needs the newest kernel's.
    name = re.search(r"^Depends:.*?\b(linux-image-[0-9][^ ,]*)", sources.shown("linux-image-amd64"), re.MULTILINE)
    if not name:
        raise Problem("apt-cache knows no package linux-image-amd64 that names a kernel")
    return name[1]


def keep(kernel, cache, part, purpose):
    """Copies a kernel into the cache, whole or not at all; by way of `part`, a directory that is made there."""
    modules = cache / "lib/modules" / kernel.version
    image = cache / "boot" / f"vmlinuz-{kernel.version}"
    for path in (modules, image):
        path.parent.mkdir(parents=True, exist_ok=True)
    (part / "modules").mkdir(parents=True)
    for name, path in kernel.modules:
        (part / "modules" / f"{name}.ko").write_bytes(module_bytes(path))
    built_in = kernel.directory / "modules.builtin"
    if built_in.exists():
        shutil.copy(built_in, part / "modules")
    shutil.copy(kernel.image, part / "vmlinuz")
    shutil.rmtree(modules, ignore_errors=True)
    with contextlib.suppress(OSError):  # another process was quicker: the same files
        (part / "modules").rename(modules)
    # The image last: without one, no kernel is seen here.
    (part / "vmlinuz").rename(image)
    usable, against = kernels_in(cache, purpose)
    if not usable:
        raise Problem(f"{cache}: {'; '.join(against)}")
    return usable[0]
