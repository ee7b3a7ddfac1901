"""`weir check` without mpirun: this host, and hosts made of files whose problems it must find."""

import tempfile
import unittest

from made_up_host import Host
from weir_command import CommandTest, weir


class Check(CommandTest):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def host(self, **options):
        return Host(self.directory.name, **options)

    def serious(self, result):
        return {finding["topic"]: finding["what"] for finding in result["findings"] if finding["severity"] == "serious"}

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
        self.refused(["check", "--join", "ctl01:7000"],
                     "--join: a check compares hosts and probes their network over MPI", command="weir check")
        self.refused(["check", "--prob", "5s"], "--prob: there is no such option", command="weir check")


if __name__ == "__main__":
    unittest.main()
