"""A host made of files that stand for the kernel's, for `weir check --root`."""

import json
from pathlib import Path

from weir_command import weir

EMPTY_GID = "0000:0000:0000:0000:0000:0000:0000:0000"
LINK_LOCAL = "fe80:0000:0000:0000:48b3:e0ff:fe08:085f"
PORT = "sys/class/infiniband/mlx5_0/ports/1/"
IPV4 = "0000:0000:0000:0000:0000:ffff:0a00:0007"


class Host:
    """A tree of files that stand for the kernel's: one active RoCE port."""

    def __init__(self, directory, locked_memory="unlimited"):
        self.root = Path(directory)
        self.port("mlx5_0", "eth1")
        self.write("proc/self/limits", f"Max locked memory         {locked_memory}  {locked_memory}  bytes")
        self.write("proc/self/status", "CapEff:\t0000000000000000")

    def port(self, device, interface, state="4: ACTIVE", rate="100 Gb/sec (4X EDR)", speed="100000"):
        """An RDMA port and the interface that it sends by, of `speed` Mb/s."""
        port = f"sys/class/infiniband/{device}/ports/1/"
        for name, text in {"state": state, "link_layer": "Ethernet", "rate": rate}.items():
            self.write(port + name, text)
        for index, (gid, kind) in enumerate([(LINK_LOCAL, "IB/RoCE v1"), (LINK_LOCAL, "RoCE v2"), (IPV4, "IB/RoCE v1"),
                                             (IPV4, "RoCE v2"), (EMPTY_GID, "")]):
            self.write(f"{port}gids/{index}", gid)
            if kind:
                self.write(f"{port}gid_attrs/types/{index}", kind)
                self.write(f"{port}gid_attrs/ndevs/{index}", interface)
        for name, text in {"operstate": "up", "type": "1", "mtu": "9000", "speed": speed}.items():
            self.write(f"sys/class/net/{interface}/{name}", text)

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n")

    def check(self, **variables):
        done = weir("check", "--root", str(self.root), "--json", **{"OMPI_MCA_pml": "ucx", **variables})
        return done.returncode, json.loads(done.stdout)
