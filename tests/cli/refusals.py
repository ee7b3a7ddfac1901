"""Bad command lines and bad input: one clear line that names the option and what would be right, exit status 2."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from weir_command import WEIR, CommandTest


class Values(CommandTest):
    def test_units_are_required(self):
        self.refused(["run", "--rate", "2"], "--rate: '2' has no unit; write for example 2Gb/s")
        self.refused(["run", "--duration", "20"], "--duration: '20' has no unit; write for example 20s")
        self.refused(["run", "--busy", "poisson:1.2"], "--busy: '1.2' has no unit")

    def test_bytes_per_second_are_not_bits(self):
        self.refused(["run", "--rate", "2GB/s"], "--rate: ", "write for example 16Gb/s")

    def test_negative_and_no_numbers(self):
        self.refused(["run", "--rate", "-2Gb/s"], "--rate: '-2Gb/s' is negative")
        self.refused(["run", "--rate", "nan"], "--rate: 'nan' is not a rate")
        self.refused(["run", "--producers", "-1"], "--producers: '-1' is not a whole number")
        self.refused(["run", "--slots", "99999999999999999999"], "--slots: ", "out of range")
        self.refused(["run", "--scale", "0"], "--scale: '0' is not above zero")

    def test_zeros(self):
        for option, value in {"--producers": "0", "--consumers": "0", "--window": "0", "--streams": "0", "--slots": "0",
                              "--chunk-size": "0B", "--duration": "0s", "--interval": "0s", "--rate": "0Gb/s",
                              "--buffer": "0B"}.items():
            with self.subTest(option):
                self.refused(["run", option, value], f"{option}: 0", "is out of range; write a")
        self.refused(["run", "--window", "65"], "--window: 65", "64")
        self.refused(["run", "--event-size", "0B"], "--event-size: '0B' is not above zero")

    def test_words(self):
        for option in ("--policy", "--transport", "--generation", "--overflow", "--verify", "--idle", "--output",
                       "--busy-cpu", "--require", "--role"):
            with self.subTest(option):
                self.refused(["run", option, "maybe"], f"{option}: 'maybe' is not one of: ")
        self.refused(["run", "--busy", "gauss:1s"], "--busy: 'gauss' is not a distribution", "poisson")
        self.refused(["run", "--inject", "explode"], "--inject: ", "explode")
        self.refused(["run", "--pattern", "weave"], "--pattern: 'weave' is not one of: distribute, build")
        self.refused(["run", "--initiation", "shove"], "--initiation: 'shove' is not one of: push, pull")
        self.refused(["run", "--shaping", "square"], "--shaping: 'square' is no shaping", "bucket:RATE")
        self.refused(["run", "--shaping", "in-step:100ns"], "--shaping: ", "a chunk per 100ns is out of range")
        self.refused(["run", "--tag", "switch"], "--tag: 'switch'", "KEY=VALUE")

    def test_short_rows(self):
        self.refused(["run", "--row-interval", "5ms"],
                     "--row-interval: 5ms is out of range; write a value from 10ms to 1s")
        for interval in (15, 30, 300):
            self.refused(["run", "--row-interval", f"{interval}ms"],
                         f"--row-interval: {interval} ms is not a part of a second in whole 10 ms; write 10ms, 20ms, "
                         "40ms, 50ms, 100ms, 200ms, 250ms, 500ms or 1s")
        large = ["simulate", "--producers", "500", "--consumers", "4000", "--warmup", "0s", "--drain", "0s",
                 "--interval", "10ms"]
        self.refused(
            [*large, "--duration", "10min", "--row-interval", "10ms"],
            "--row-interval: 10 ms makes 450100 rows per second of 4501 ranks, in 600 s up to 11.8 GB, and at most "
            "2 GiB are written; write 100ms, or make --warmup, --duration and --drain 108 s or less together",
            command="weir simulate")
        self.refused([*large, "--duration", "10h", "--row-interval", "500ms"], "; write 1s, or make --warmup",
                     command="weir simulate")
        self.succeeds(*large, "--duration", "108s", "--row-interval", "10ms", "--dry-run")
        # The number of ranks may come with the launcher only.
        job = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "4501"}
        self.refused(["run", "--producers", "500", "--duration", "10min", "--row-interval", "10ms"],
                     "450100 rows per second", **job)

    def test_host_lists(self):
        self.refused(["run", "--producer-hosts", "eb[01-14"], "--producer-hosts: ", "position 3", "not closed")
        self.refused(["run", "--consumer-hosts", "a b"], "--consumer-hosts: ", "position 2")

    def test_datagrams(self):
        datagram = ["run", "--transport", "datagram"]
        for size in ("17B", "65508B"):
            self.refused([*datagram, "--chunk-size", size], "--chunk-size: ", "18B", "65.507kB")
        self.refused([*datagram, "--datagram-network", "fe80::/64"], "--datagram-network: 'fe80::/64' is IPv6")
        self.refused(["run", "--socket-buffer", "1MiB"], "--socket-buffer: needs --transport datagram")

    def test_engines(self):
        self.refused(["run", "--engine", "verbs"], "--engine: 'verbs' is not one of: mpi, ucx")
        self.refused(["run", "--engine", "ucx", "--data-device", "eth 0"], "--data-device: 'eth 0'")
        self.refused(["run", "--engine", "ucx", "--data-traffic-class", "256"], "--data-traffic-class: 256", "255")
        self.refused(["run", "--queue-pairs", "8"],
                     "--queue-pairs: needs --engine ucx: with mpi, the MPI library alone")
        self.refused(["run", "--transport", "datagram", "--queue-pairs", "8"],
                     "--queue-pairs: the datagrams of a rank leave by one socket")
        self.refused(["run", "--engine", "ucx", "--queue-pairs", "event"], "--queue-pairs: event is for simulations")
        self.refused(["run", "--engine", "ucx", "--queue-pairs", "257"],
                     "--queue-pairs: '257' is not one of: pair, event, 1 to 256")
        packets = ["simulate", "--network", "packet", "--producers", "1", "--consumers", "1100", "--queue-pairs"]
        self.refused([*packets, "256"], "--queue-pairs: 256 for each two ranks are 281601 at a NIC of producer-0",
                     "use at most 238", command="weir simulate")
        self.refused([*packets, "2", "--transport", "datagram"],
                     "--queue-pairs: the datagrams of a rank leave by one socket", command="weir simulate")
        self.refused(["simulate", "--engine", "ucx"], "--engine: is for `weir run`", command="weir simulate")

    def test_an_engine_whose_library_cannot_be_loaded(self):
        """Built with UCX or not: one line, before anything is started."""
        if "libucp.so" in subprocess.run(["ldd", WEIR], capture_output=True, text=True, check=True).stdout:
            self.skipTest("no program starts without UCX where the MPI library itself needs it, as Open MPI 5 does")
        with tempfile.TemporaryDirectory() as directory:
            Path(directory, "libucp.so.0").write_text("not a library: the loader gives up here\n")
            self.refused(["run", "--engine", "ucx", "--dry-run"], "--engine: ucx: ", "use the engine mpi",
                         LD_LIBRARY_PATH=directory)


class Combinations(CommandTest):
    def test_sizes(self):
        self.refused(["run", "--event-size", "1GB"], "--event-size: 1 GB", "set of 125 MB")
        self.refused(["run", "--chunk-size", "2GiB"], "--chunk-size: 2GiB is out of range")
        self.refused(["run", "--slots", "1024", "--chunk-size", "1KiB"], "--slots: 1024", "use fewer slots")

    def test_contradictions(self):
        self.refused(["run", "--require", "sustained", "--generation", "saturate"], "--require: ", "saturate")
        self.refused(["run", "--require", "sustained", "--buffer", "100MB"], "--require: ", "--buffer of 100 MB")
        self.refused(
            ["run", "--consumers", "4", "--busy", "1s", "--busy-consumers", "7"], "--busy-consumers: ", "0 to 3")
        self.refused(["run", "--quiet", "--json"], "--output: given more than once")
        self.refused(["run", "--rate", "1Gb/s", "--rate", "2Gb/s"], "--rate: given more than once")


class Files(CommandTest):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def file(self, text, name="x.toml"):
        path = self.directory / name
        path.write_text(text)
        return str(path)

    def test_scenarios(self):
        self.refused(["run", "--scenario", "quickstrat"],
                     "--scenario: there is no scenario 'quickstrat'; near: quickstart")
        self.refused(["run", "--scenario", "lhcb2021"], "--scenario: ", "lhcb2021-1, lhcb2021-2")
        self.refused(["run", "--scenario", "nowhere/x.toml"],
                     "--scenario: 'nowhere/x.toml' cannot be read: No such file")
        self.refused(["scenarios", "quickstrat"], "quickstart", command="weir scenarios")

    def test_broken_toml(self):
        for text, place in {"seed = 1\nrate = = 2\n": ":2:8: this is not TOML",
                            "seed = 1\nrate = \"2Gb/s\n": ":2:",
                            "seed = 1\n\n\x00": ":3:",
                            "ratte = \"2Gb/s\"\n": ":1:1: there is no option 'ratte'; did you mean rate?",
                            "rate = 2\n": ":1:8: rate: '2' has no unit; write for example 2Gb/s",
                            "role = \"producer\"\n": ":1:1: 'role' belongs on the command line",
                            "rate = [1, 2]\n": ":1:8: the value of 'rate'"}.items():
            with self.subTest(text):
                file = self.file(text)
                self.refused(["run", "--scenario", file], f"--scenario: {file}{place}")

    def test_traces(self):
        self.refused(["run", "--busy", "trace:nowhere"], "--busy: trace file 'nowhere' cannot be read: No such file")
        file = self.file("1s\n2\n")
        self.refused(["run", "--busy", f"trace:{file}"], f"--busy: {file}:2: '2' has no unit")


    def test_an_event_has_at_least_a_byte(self):
        file = self.file("16MiB\n0B\n")
        self.refused(["run", "--event-size", f"trace:{file}", "--dry-run"],
                     f"--event-size: {file}:2: '0B' is not above zero; write")

    def test_what_is_no_file_is_refused_and_never_waited_for(self):
        pipe = self.directory / "pipe.toml"
        os.mkfifo(pipe)
        endless = self.directory / "endless.toml"
        endless.symlink_to("/dev/zero")
        for name, why in {str(pipe): "is a pipe, not a file; write ", str(endless): "is a device, not a file; write ",
                          str(self.directory) + "/": "is a directory, not a file; write ",
                          "/proc/kmsg": "'/proc/kmsg'"}.items():
            with self.subTest(name):
                self.refused(["run", "--scenario", name], "--scenario: ", why)
                self.refused(["scenarios", name], name, why, command="weir scenarios")
                for option in ("busy", "event-size", "result-size"):
                    self.refused(["simulate", f"--{option}", f"trace:{name}"], f"--{option}: ", why,
                                 command="weir simulate")

    def test_tokens(self):
        """Bounded, never waited for, and not to be guessed; no connection is tried before that."""
        pipe = self.directory / "pipe"
        os.mkfifo(pipe)
        joining = ["run", "--join", "127.0.0.1:1"]
        right = "write the name of a file with the token in its first line"
        for name, why in {str(pipe): f"is a pipe, not a file; {right}",
                          "/dev/zero": f"is a device, not a file; {right}",
                          "nowhere": f"'nowhere' cannot be read: No such file or directory; {right}",
                          self.file("a\n"): "the token has 1 bytes, and can be guessed; write at least 16",
                          self.file("\n" + 32 * "a", "empty"): "the token has 0 bytes",
                          self.file(15 * "a" + "\r\n", "short"): "the token has 15 bytes",
                          self.file(65537 * "a", "large"): "is larger than 65536 bytes"}.items():
            with self.subTest(name):
                self.refused([*joining, "--join-token", name], "--join-token", name, why)
        self.refused(joining, "WEIR_JOIN_TOKEN: the token has 1 bytes", WEIR_JOIN_TOKEN="a")
        self.refused(joining, "--join: needs a token that all processes know", WEIR_JOIN_TOKEN="")

    def test_files_are_bounded(self):
        large = self.directory / "large.toml"
        for size, arguments in ((1000001, ["--scenario", str(large)]), (2**26 + 1, ["--busy", f"trace:{large}"])):
            with open(large, "wb") as file:
                file.truncate(size)
            self.refused(["run", *arguments], f"'{large}' is larger than {size - 1} bytes; write ")

    def test_empty_files(self):
        file = self.file("")
        self.refused(["run", "--scenario", file],
                     f"--scenario: '{file}' is empty; write lines such as rate = \"2Gb/s\"")
        self.refused(["run", "--busy", f"trace:{file}"],
                     f"trace file '{file}' has no entry; write one of the busy times")
        file = self.file("# to be written\nname = \"mine\"\n")
        self.refused(["run", "--scenario", file], f"--scenario: '{file}' sets no option; write lines such as")

    def test_a_trace_that_is_no_text_is_not_repeated(self):
        for content in ("\x1b[31m\x00\n", "1" * 101):
            file = self.file(content)
            said = self.refused(["run", "--busy", f"trace:{file}"],
                                f"{file}:1: this line is none of the busy times; write one per")
            self.assertNotIn("\x1b", said)
            self.assertLess(len(said), 300)


class Words(CommandTest):
    def test_unknown_options(self):
        self.refused(["run", "--ratte", "2Gb/s"], "--ratte: there is no such option; did you mean --rate?")
        self.refused(["run", "--zzzzzzzz"], "--zzzzzzzz: there is no such option; see `weir run --help`")
        self.refused(["run", "here"], "'here': nothing is expected here")
        self.refused(["run", "--rate"], "--rate: needs a value; write --rate RATE")
        self.refused(["run", "--rate", "--interval", "1s"], "--rate: needs a value; write --rate RATE")
        self.refused(["run", "--help", "everything"], "--help: there is no group 'everything'", "layout")

    def test_unknown_commands(self):
        self.refused(["rnu"], "'rnu': there is no such command; did you mean `weir run`?", command="weir")
        self.refused([], "a command is missing", command="weir")
        self.refused(["--ratte"], "--ratte: there is no such option", command="weir")
        self.refused(["scenarios", "a", "b"], "'b': nothing more is expected", command="weir scenarios")


if __name__ == "__main__":
    unittest.main(verbosity=2)
