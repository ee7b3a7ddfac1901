"""`weir check` without mpirun: this host, and hosts made of files, of which it must say what is wrong."""

import json
import tempfile
import unittest
from pathlib import Path

from weir_command import CommandTest, weir

EMPTY_GID = "0000:0000:0000:0000:0000:0000:0000:0000"
LINK_LOCAL = "fe80:0000:0000:0000:48b3:e0ff:fe08:085f"
IPV4 = "0000:0000:0000:0000:0000:ffff:0a00:0007"


class Host:
    """A tree of files that stand for the kernel's: one active RoCE port."""

    def __init__(self, directory, locked_memory="unlimited"):
        self.root = Path(directory)
        port = "sys/class/infiniband/mlx5_0/ports/1/"
        for name, text in {"state": "4: ACTIVE", "link_layer": "Ethernet", "rate": "100 Gb/sec (4X EDR)"}.items():
            self.write(port + name, text)
        for index, (gid, kind) in enumerate([(LINK_LOCAL, "IB/RoCE v1"), (LINK_LOCAL, "RoCE v2"), (IPV4, "IB/RoCE v1"),
                                             (IPV4, "RoCE v2"), (EMPTY_GID, "")]):
            self.write(f"{port}gids/{index}", gid)
            if kind:
                self.write(f"{port}gid_attrs/types/{index}", kind)
                self.write(f"{port}gid_attrs/ndevs/{index}", "eth1")
        for name, text in {"operstate": "up", "type": "1", "mtu": "9000", "speed": "100000"}.items():
            self.write("sys/class/net/eth1/" + name, text)
        self.write("proc/self/limits", f"Max locked memory         {locked_memory}  {locked_memory}  bytes")
        self.write("proc/self/status", "CapEff:\t0000000000000000")

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n")

    def check(self, **variables):
        done = weir("check", "--root", str(self.root), "--json", OMPI_MCA_pml="ucx", **variables)
        return done.returncode, json.loads(done.stdout)


class Check(CommandTest):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def host(self, **options):
        return Host(self.directory.name, **options)

    def serious(self, result):
        return {finding["topic"]: finding["what"] for finding in result["findings"] if finding["severity"] == "serious"}

    def test_this_host(self):
        done = weir("check")
        self.assertIn(done.returncode, (0, 3), done)
        self.assertIn("weir check: 1 host\n", done.stdout)
        self.assertIn("This host only.", done.stdout)

    def test_a_good_host(self):
        status, result = self.host().check(UCX_NET_DEVICES="mlx5_0:1")
        self.assertEqual((status, self.serious(result)), (0, {}))
        self.assertEqual(result["hosts"][0]["expected_paths"][0]["gid_index"], 3)

    def test_a_wrong_gid(self):
        status, result = self.host().check(UCX_NET_DEVICES="mlx5_0:1", UCX_IB_GID_INDEX="4")
        self.assertEqual(status, 3)
        self.assertIn("GID index 4 of mlx5_0:1 (UCX_IB_GID_INDEX) is empty", self.serious(result)["gid"])
        status, result = self.host().check(UCX_NET_DEVICES="mlx5_0:1", UCX_IB_GID_INDEX="2")
        self.assertEqual(status, 3)
        self.assertIn("RoCE v2: 1 (RoCE v2, fe80:", self.serious(result)["gid"])

    def test_a_missing_limit_of_locked_memory(self):
        status, result = self.host(locked_memory="65536").check()
        self.assertEqual(status, 3)
        self.assertIn("may lock 65.54 kB", self.serious(result)["locked_memory"])

    def test_a_device_that_is_not_there(self):
        status, result = self.host().check(UCX_NET_DEVICES="mlx5_1:1")
        self.assertEqual(status, 3)
        self.assertIn("mlx5_1:1, which is not here; here are: mlx5_0:1, eth1", self.serious(result)["device"])

    def test_the_text_says_the_same(self):
        self.host(locked_memory="65536")
        done = weir("check", "--root", self.directory.name, OMPI_MCA_pml="ucx")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stdout, r"(?m)^SERIOUS  .*: a process may lock 65\.54 kB of memory")
        self.assertIn("1 serious finding and ", done.stdout)
        self.assertLess(done.stdout.index("SERIOUS"), done.stdout.index("note "))

    def test_what_is_refused(self):
        self.refused(["check", "--probe", "5"], "--probe: ", command="weir check")
        self.refused(["check", "--probe", "2h"], "--probe: '2h': write a time from 0s to 1h", command="weir check")
        self.refused(["check", "--rate", "5"], "--rate", command="weir check")
        self.refused(["check", "--prob", "5s"], "--prob: there is no such option", command="weir check")


if __name__ == "__main__":
    unittest.main()
