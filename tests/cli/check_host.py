"""`weir check` without mpirun: this host, and hosts made of files whose problems it must find."""

import shutil
import tempfile
import unittest

from made_up_host import EMPTY_GID, PORT, Host
from weir_command import CommandTest, weir


class Check(CommandTest):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def host(self, **options):
        return Host(self.directory.name, **options)

    def serious(self, result):
        return {finding["topic"]: finding["what"] for finding in result["findings"] if finding["severity"] == "serious"}

    def findings(self, host, topic, **variables):
        found = host.check(**variables)[1]["findings"]
        return [(each["severity"], each["what"], each["advice"]) for each in found if each["topic"] == topic]

    def fact(self, host, name):
        facts = {fact["name"]: fact["values"][0]["value"] for fact in host.check()[1]["facts"]}
        return facts[name]

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

    def test_cores_that_a_job_or_container_may_use(self):
        host = self.host()
        for cpu in range(4):
            host.write(f"sys/devices/system/cpu/cpu{cpu}/online", "1")
        host.write("proc/self/status", "CapEff:\t0\nCpus_allowed_list:\t1,3")
        self.assertEqual(self.fact(host, "cores"), "2 of 4")
        host.write("proc/self/cgroup", "0::/slurm/job_7")
        host.write("sys/fs/cgroup/slurm/job_7/cpu.max", "max 100000")
        self.assertEqual(self.fact(host, "cores"), "2 of 4")
        host.write("sys/fs/cgroup/slurm/cpu.max", "150000 100000")
        self.assertEqual(self.fact(host, "cores"), "1 of 4, by a quota of 1.5")
        host.write("proc/self/status", "CapEff:\t0\nCpus_allowed_list:\t0-127")  # also what is not there
        host.write("sys/fs/cgroup/slurm/cpu.max", "max 100000")
        self.assertEqual(self.fact(host, "cores"), "4")

    def test_a_port_without_a_usable_gid(self):
        host = self.host()
        for index in range(4):
            host.write(f"{PORT}gids/{index}", EMPTY_GID)
        status, result = host.check(UCX_NET_DEVICES="mlx5_0:1")
        self.assertEqual((status, self.serious(result)["gid"]),
                         (3, "mlx5_0:1 has no GID: no RoCE connection can be made"))

    def test_no_gid_of_version_2_is_advised_where_there_is_none(self):
        host = self.host()
        for index in (1, 3):
            host.write(f"{PORT}gids/{index}", EMPTY_GID)
        (severity, what, advice), = self.findings(host, "gid")
        self.assertIn("RoCE v2: none", what)
        self.assertEqual((severity, advice.partition(":")[0]), ("serious", "the port makes no entry of RoCE v2"))

    def test_the_remedy_names_the_gid_that_reaches_other_segments(self):
        host = self.host()
        for index in (2, 3):
            host.write(f"{PORT}gids/{index}", "fd93:0000:0000:0000:0000:0000:0000:0001")
        found = self.findings(host, "gid")
        self.assertEqual(found, [("warning", "UCX chooses GID index 3 of mlx5_0:1 since version 1.20, and before 1, "
                                  "which is link-local", "-x UCX_IB_GID_INDEX=3")])
        found = self.findings(host, "gid", UCX_IB_GID_INDEX="1")
        self.assertEqual(found[0][2], "-x UCX_IB_GID_INDEX=3")
        self.assertEqual(self.findings(host, "gid", UCX_IB_GID_INDEX="3"), [])
        self.assertIn("UCX_IB_GID_INDEX=3", self.findings(host, "gid", UCX_IB_GID_INDEX="0")[0][2])
        for index in (2, 3):  # nothing that is better
            host.write(f"{PORT}gids/{index}", EMPTY_GID)
        self.assertIn("assign an address", self.findings(host, "gid")[0][2])

    def bond(self, host, policy="layer3+4 1", second="up"):
        for index in range(4):
            host.write(f"{PORT}gid_attrs/ndevs/{index}", "bond0")
        bond = {"operstate": "up", "type": "1", "mtu": "9000", "speed": "200000" if second == "up" else "100000",
                "bonding/slaves": "ens1f0np0 ens1f1np1", "bonding/mode": "802.3ad 4",
                "bonding/xmit_hash_policy": policy}
        for name, text in bond.items():
            host.write("sys/class/net/bond0/" + name, text)
        for leg, state in (("ens1f0np0", "up"), ("ens1f1np1", second)):
            host.write(f"sys/class/net/{leg}/operstate", state)
            host.write(f"sys/class/net/{leg}/speed", "100000" if state == "up" else "-1")

    def test_bonds(self):
        host = self.host()
        self.bond(host)  # a port says the speed of one leg
        self.assertEqual((self.findings(host, "bond"), self.findings(host, "speed")), ([], []))
        self.bond(host, second="down")
        self.assertEqual(self.findings(host, "bond")[0][:2], ("warning", "ens1f1np1, a leg of bond0, is down"))
        self.bond(host)
        host.write("sys/class/net/ens1f1np1/speed", "25000")
        self.assertEqual(self.findings(host, "bond")[0][1],
                         "ens1f1np1, a leg of bond0, has 25 Gb/s, and another 100 Gb/s")
        self.bond(host, policy="layer2 0")
        severity, what, _ = self.findings(host, "bond")[0]
        self.assertEqual(severity, "note")
        self.assertIn("bond0 chooses a leg by MAC addresses (layer2)", what)
        host.write("sys/class/net/bond0/bonding/mode", "active-backup 1")
        self.assertEqual(self.findings(host, "bond"), [])

    def test_a_vlan(self):
        host = self.host()
        host.write(f"{PORT}gid_attrs/ndevs/3", "eth1.100")
        for name, text in {"operstate": "up", "mtu": "1500", "speed": "100000", "lower_eth1/mtu": "9000"}.items():
            host.write("sys/class/net/eth1.100/" + name, text)
        self.assertEqual(self.fact(host, "MTU"), "1500 B")
        host.write("sys/class/net/eth1.100/operstate", "down")
        self.assertIn(("serious", "eth1.100 is down", "ip link set dev eth1.100 up"), self.findings(host, "device"))
        shutil.rmtree(host.root / "sys/class/net/eth1.100")
        self.assertIn("eth1.100 has a GID of mlx5_0:1 and cannot be seen from here",
                      [what for _, what, _ in self.findings(host, "device")])
        self.bond(host, second="down")  # a VLAN of a bond, over TCP
        host.write("sys/class/net/bond0.7/operstate", "up")
        host.write("sys/class/net/bond0.7/lower_bond0/mtu", "9000")
        done = self.findings(host, "bond", OMPI_MCA_btl_tcp_if_include="bond0.7", OMPI_MCA_pml="ob1")
        self.assertEqual(done[0][1], "ens1f1np1, a leg of bond0.7, is down")

    def test_a_virtual_function(self):
        host = self.host()
        host.write("sys/class/infiniband/mlx5_0/device/vendor", "0x15b3")
        host.write("sys/class/infiniband/mlx5_0/device/device", "0x101d")
        self.assertNotIn("virtual", self.fact(host, "RDMA driver") or "")
        host.write("sys/class/infiniband/mlx5_0/device/device", "0x101e")  # its physical function is not here
        self.assertIn("(virtual function)", self.fact(host, "RDMA driver"))
        self.assertIn("a virtual function", self.findings(host, "pfc")[0][1])

    def test_a_rail_that_is_down(self):
        host = self.host()
        for number in range(1, 8):
            host.port(f"mlx5_{number}", f"eth{number + 1}", "1: DOWN" if number == 3 else "4: ACTIVE")
        found = [what for _, what, _ in self.findings(host, "device")]
        self.assertIn("mlx5_3:1 is DOWN", found)
        self.assertEqual(sum("DOWN" in what for what in found), 1)

    def test_speeds_of_a_port_and_its_own_interface(self):
        host = self.host()
        host.port("mlx5_1", "eth2", rate="25 Gb/sec (1X EDR)", speed="25000")  # for storage
        self.assertEqual(self.findings(host, "speed"), [])
        for rate, speed, wrong in (("25 Gb/sec (1X EDR)", "100000", True), ("50 Gb/sec (2X EDR)", "100000", True),
                                   ("200 Gb/sec (4X HDR)", "40000", True), ("100 Gb/sec (4X EDR)", "100000", False),
                                   ("2.5 Gb/sec (1X SDR)", "1000", False), ("100 Gb/sec (4X EDR)", "-1", False)):
            host.port("mlx5_1", "eth2", rate=rate, speed=speed)
            found = [what for _, what, _ in self.findings(host, "speed")]
            self.assertEqual(bool(found), wrong, (rate, speed, found))
            self.assertTrue(not wrong or found[0].startswith("mlx5_1:1 has "), found)

    def test_what_cannot_be_seen_is_not_down(self):
        host = self.host()
        for index in range(4):
            host.write(f"{PORT}gid_attrs/ndevs/{index}", "bond0")
        found = self.findings(host, "device")
        self.assertIn(("warning", "bond0 has a GID of mlx5_0:1 and cannot be seen from here",
                       "it is of another network namespace: see there whether it is up, and its MTU"), found)
        self.assertFalse([what for _, what, _ in found if "down" in what])
        shutil.rmtree(host.root / "sys")
        self.assertEqual([(severity, what) for severity, what, _ in self.findings(host, "device")],
                         [("warning", "network devices cannot be seen from here: no /sys/class/net")])

    def test_a_missing_limit_of_locked_memory(self):
        status, result = self.host(locked_memory="65536").check()
        self.assertEqual(status, 3)
        self.assertIn("may lock 64 KiB", self.serious(result)["locked_memory"])

    def test_a_device_that_is_not_there(self):
        status, result = self.host().check(UCX_NET_DEVICES="mlx5_1:1")
        self.assertEqual(status, 3)
        self.assertIn("mlx5_1:1, which does not exist; available: mlx5_0:1, eth1", self.serious(result)["device"])

    def test_the_text_says_the_same(self):
        self.host(locked_memory="65536")
        done = weir("check", "--root", self.directory.name, OMPI_MCA_pml="ucx")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stdout, r"(?m)^SERIOUS  .*: a process may lock 64 KiB of memory")
        self.assertIn("1 serious finding and ", done.stdout)
        self.assertLess(done.stdout.index("SERIOUS"), done.stdout.index("note "))

    def test_what_is_refused(self):
        self.refused(["check", "--probe", "5"], "--probe: ", command="weir check")
        self.refused(["check", "--probe", "2h"], "--probe: '2h': write a time from 0s to 1h", command="weir check")
        self.refused(["check", "--rate", "5"], "--rate", command="weir check")
        self.refused(["check", "--join", "ctl01:7000", "--probe", "5s"],
                     "--probe: '5s': the probe needs MPI; leave it out with --join", command="weir check")
        self.refused(["check", "--prob", "5s"], "--prob: there is no such option", command="weir check")


if __name__ == "__main__":
    unittest.main()
