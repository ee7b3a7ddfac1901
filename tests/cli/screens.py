"""What weir prints without running: help that fits on a screen, scenarios that load again as printed, dry runs."""

import concurrent.futures
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import tempfile
import termios
import unittest
from pathlib import Path

from weir_command import CommandTest, quick_weir

GROUPS = ("layout", "data", "transfer", "building", "busy", "run", "output", "network", "switch")
# The network is what a simulation assumes, and what the others find.
WITH_RUN_OPTIONS = {"run": GROUPS[:-2], "simulate": GROUPS, "check": GROUPS[:-2]}
PACKET_OPTIONS = ("--switch", "--pfc", "--ecn", "--loss-recovery", "--control-priority", "--control-network",
                  "--queue-pairs")
NEEDED_BY_VALUE = {"addressed": ("--producers", "2", "--consumers", "2"),
                   **dict.fromkeys(("longest-queue", "oldest"),
                                   ("--destination", "addressed", "--producers", "2", "--consumers", "2"))}


class ScreenTest(CommandTest):
    weir = staticmethod(quick_weir)


class Terminal(ScreenTest):
    def test_lines_of_an_answer_fit_the_terminal(self):
        late = ("simulate", "--producers", "2", "--consumers", "2", "--rate", "8Gb/s", "--producer-link", "6Gb/s",
                "--duration", "1s", "--warmup", "1s", "--interval", "100ms", "--explain", "off")
        for columns, most, least in ((64, 64, 50), (30, 60, 45), (170, 170, 110)):
            with self.subTest(columns=columns):
                answer = self.on_terminal(columns, *late).split("worst occupancy")[0].splitlines()
                self.assertTrue(answer[0].startswith("NOT SUSTAINED"), answer)
                self.assertLessEqual(max(map(len, answer)), most)
                self.assertGreater(max(map(len, answer)), least)

    def on_terminal(self, columns, *words):
        """What is printed to a terminal of so many columns, without colours."""
        leader, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        with tempfile.TemporaryDirectory() as directory, subprocess.Popen(
                [os.environ["WEIR"], *words, "--out", f"{directory}/run"], stdout=terminal, stderr=subprocess.DEVNULL,
                stdin=subprocess.DEVNULL, env={**os.environ, "NO_COLOR": "1"}) as program:
            os.close(terminal)
            text = b""
            try:
                while part := os.read(leader, 65536):
                    text += part
            except OSError:  # the other end is closed
                pass
            os.close(leader)
        self.assertEqual(program.returncode, 0)
        return text.decode().replace("\r", "")


class Help(ScreenTest):
    def test_every_page_fits_on_a_screen(self):
        pages = [["--help"], ["-h"], ["run", "--help"], ["run", "-h"], ["simulate", "--help"], ["check", "--help"],
                 ["scenarios", "--help"], ["switches", "--help"], ["switches"]]
        for arguments in pages + [["simulate", "--help", group] for group in GROUPS]:
            with self.subTest(" ".join(arguments)):
                lines = self.succeeds(*arguments).splitlines()
                self.assertLessEqual(len(lines), 40)
                self.assertLessEqual(max(map(len, lines)), 100)

    def test_all_is_every_group(self):
        for command, groups in WITH_RUN_OPTIONS.items():
            everything = self.succeeds(command, "--help", "all")
            for group in groups:
                self.assertIn(self.succeeds(command, "--help", group), everything)
            for group in set(GROUPS) - set(groups):
                self.refused([command, "--help", group], f"--help: there is no group '{group}'",
                             command=f"weir {command}")

    def test_every_group_is_announced(self):
        for command, groups in WITH_RUN_OPTIONS.items():
            overview = self.succeeds(command, "--help")
            for group in GROUPS:
                self.assertEqual(re.search(rf"(?m)^  {group} ", overview) is not None, group in groups)

    def test_options_for_tests_are_hidden(self):
        self.assertNotIn("--inject", self.succeeds("run", "--help", "all"))

    def test_the_examples_are_accepted(self):
        examples = re.findall(r"(?m)^  mpirun .*weir run((?: --[a-z-]+ [^-\s]\S*)*)", self.succeeds("run", "--help"))
        self.assertGreaterEqual(len(examples), 3)
        for example in examples:
            with self.subTest(example):
                self.succeeds("run", *example.split(), "--dry-run")

    def test_a_page_that_there_is_not(self):
        self.refused(["--help", "rate"], "--help: there is no page 'rate'", command="weir")
        self.refused(["run", "--help", "rate"], "--help: there is no group 'rate'; there are: layout data ")


class Words(ScreenTest):
    """`weir help WORD`: what docs/glossary.md has on it."""

    glossary = Path(__file__).resolve().parents[2] / "docs" / "glossary.md"

    def test_every_word_of_the_glossary_is_listed_and_found(self):
        rows = re.findall(r"(?m)^\| (.+?) \| (.+) \|$", self.glossary.read_text())
        titles = [title.replace("*", "") for title, _ in rows if title != "word"]
        self.assertGreater(len(titles), 80)
        listed = " ".join(self.succeeds("help").split())
        for title in titles:
            self.assertIn(title, listed)
        for title in titles[::12]:
            for word in title.split(", "):
                with self.subTest(word):
                    self.assertIn(f"{title} (", self.succeeds("help", *word.split()))

    def test_it_is_plain_text_and_fits(self):
        text = " ".join(self.succeeds("help", "main", "cause").split())
        self.assertRegex(text, r"^cause, main cause \(the verdict\): what, if it alone were relaxed, .*: how it is "
                               r"found \(docs/reading-a-run\.md\)$")
        self.assertLessEqual(max(map(len, self.succeeds("help").splitlines())), 110)

    def test_forms_of_a_word(self):
        for words in (("Sets",), ("SET",)):
            said = self.succeeds("help", *words)
            self.assertTrue(said.startswith("set (roles and data): what a producer generates per interval"))
        self.assertEqual(self.succeeds("help", "pair").count("pair ("), 2)  # it has two meanings
        self.assertIn("event-loop stall (time)", self.succeeds("help", "stall"))
        self.assertEqual(self.succeeds("help", "switches"), self.succeeds("switches", "--help"))
        self.refused(["help", "slak"], "'slak': the glossary does not have it; did you mean slack?",
                     command="weir help")
        self.refused(["help", "xyzzyx"], "'xyzzyx': the glossary does not have it; `weir help` lists its words",
                     command="weir help")


class HelpForPrograms(ScreenTest):
    """`weir --help json`."""

    def setUp(self):
        self.all = json.loads(self.succeeds("--help", "json"))
        self.options = {command["name"]: [option for group in command["groups"] for option in group["options"]]
                        for command in self.all["commands"]}

    def each_once(self, *commands):
        """Commands with an option, of a row that several share only one: they have one parser."""
        seen = set()
        for command in commands:
            for option in self.options[command]:
                if option["name"] not in seen and option["name"] != "--help":
                    yield command, option
                seen.add(option["name"])

    def test_it_has_the_commands_and_options_of_the_pages(self):
        listed = re.findall(r"(?m)^  (\w+) .*: weir (\w+) --help$", self.succeeds("--help"))
        self.assertEqual([(name, name) for name in self.options], listed)
        for command, not_there in (("run", ""), ("simulate", "role"), ("check", "")):
            pages = self.succeeds(command, "--help", "all") + self.succeeds(command, "--help")
            on_pages = set(re.findall(r"(?m)^  (--[a-z-]+)", pages)) - {f"--{name}" for name in not_there.split()}
            names = {option["name"] for option in self.options[command]}
            self.assertEqual(names, on_pages | {"--help", "--json", "--quiet"})

    def test_the_parser_knows_them(self):
        for command, option in self.each_once("run", *self.options):
            with self.subTest(command, option=option["name"]):
                # Flags are refused for their value, others for this one or for what it leads to.
                if option["syntax"] is None:
                    self.refused([command, option["name"] + "=x", "--seed", "no"], command=f"weir {command}")
                    done = quick_weir(command, option["name"], "--seed", "no")
                    self.assertIn("--seed: ", done.stderr)
                else:
                    self.refused([command, option["name"]], f"{option['name']}: needs a value; write",
                                 command=f"weir {command}")
                if option["short"]:
                    self.assertIn("--seed: ", quick_weir(command, option["short"], "--seed", "no").stderr)

    def test_listed_values_are_accepted(self):
        for command, option in self.each_once("simulate", *self.options):
            for value in option["values"]:
                if command == "check":
                    continue
                with self.subTest(command, option=option["name"], value=value):
                    needed = {"--busy-cpu": ("--busy", "fixed:1ms"),
                              **dict.fromkeys(PACKET_OPTIONS, ("--network", "packet"))}.get(option["name"], ())
                    needed = NEEDED_BY_VALUE.get(value, needed)
                    self.succeeds(command, option["name"], value, "--dry-run", *needed)

    def test_every_word_that_an_option_names_is_listed(self):
        values = {option["name"]: option["values"] for option in self.options["simulate"]}
        self.assertEqual(values["--generation"], ["sets", "steady", "saturate"])
        self.assertLessEqual({"balanced", "round-robin", "none", "oldest"}, set(values["--policy"]))
        self.assertEqual(values["--require"], ["sustained", "on-time", "lossless", "none"])
        self.assertEqual(values["--help"], [*GROUPS, "all"])
        self.assertEqual(values["--rate"], [])
        table = self.succeeds("scenarios").split("\n\n")[0].splitlines()
        self.assertEqual(values["--scenario"], [line.split()[0] for line in table[1:]])


class Scenarios(ScreenTest):
    def names(self):
        table = self.succeeds("scenarios").split("\n\n")[0].splitlines()
        return [line.split()[0] for line in table[1:]]

    def test_the_papers_are_there(self):
        for name in ("quickstart", "lhcb2021-1", "lhcb2021-2", "lhcb2021-3", "lhcb2021-4", "lhcb2021-5",
                     "lhcb2021-farm", "lhcb2002-queued", "lhcb2002-token", "lhcb2002-one-token", "lhcb2002-stream",
                     "lhcb2002-round-robin", "lhcb2002-ungated", "lhcb2004-link", "lhcb2004-23to1", "lhcb2004-18to6",
                     "lhcb2004-mesh", "lhcb2005-in-step", "lhcb2005-fast", "lhcb2005-one-receiver", "atlas-1x1-push",
                     "atlas-1x1-pull", "atlas-6x1-push", "atlas-6x1-pull", "atlas-6x1-shaped", "atlas-13x13-push",
                     "atlas-13x13-pull"):
            self.assertIn(name, self.names())

    def test_the_table_fits(self):
        lines = self.succeeds("scenarios").splitlines()
        self.assertLessEqual(len(lines), 40)
        self.assertLessEqual(max(map(len, lines)), 110)

    def test_a_printed_scenario_is_the_same_scenario(self):
        with tempfile.TemporaryDirectory() as directory:
            for name in self.names():
                with self.subTest(name):
                    file = Path(directory, name + ".toml")
                    file.write_text(self.succeeds("scenarios", name))
                    self.assertIn("#", file.read_text())  # comments are kept
                    self.assertEqual(self.succeeds("scenarios", str(file)), file.read_text())
                    printed, built_in = (self.plan("--scenario", scenario) for scenario in (str(file), name))
                    self.assertEqual(printed.pop("scenario"), str(file))
                    self.assertEqual(built_in.pop("scenario"), name)
                    self.assertEqual(printed, built_in)

    def plan(self, *arguments):
        return json.loads(self.succeeds("run", *arguments, "--json", "--dry-run"))["plan"]

    network = {"network": "packet", "switch": "deep", "switch-set": "ecn.none-below=50kB", "pfc": "on", "ecn": "on",
               "loss-recovery": "selective", "control-priority": "own", "control-network": "separate",
               "switch-rows": "10ms", "port-buffer": "128KiB", "producer-link": "40Gb/s", "consumer-link": "10Gb/s",
               "framing": "tcp", "mtu": "9kB", "packet-overhead": "90B", "latency": "7us", "queue-pairs": "pair",
               "scheduler-time": "2us", "fault": "delay:extra=1ms"}

    def test_the_network_of_a_simulation_may_stand_in_a_scenario(self):
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory, "network.toml")
            file.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in self.network.items()))
            plan = json.loads(self.succeeds("simulate", "--scenario", str(file), "--json", "--dry-run"))["plan"]
            for name, value in self.network.items():
                self.assertEqual(plan[name], value)
            # A measured run finds its network, and leaves these aside.
            self.assertFalse(set(self.network) & set(self.plan("--scenario", str(file))))

    def test_every_option_may_stand_in_a_scenario(self):
        """Another value than the default for each option: from TOML and from the command line it gives the same."""
        values = {"duration": "7s", "warmup": "3s", "drain": "4s", "require": "sustained,lossless", "verify": "full",
                  "seed": "42", "idle": "yield", "silence-timeout": "9s", "on-failure": "end", "scale": "1/2",
                  "time-scale": "1", "groups": "4", "producers": "5", "consumers": "6", "scheduler-rank": "last",
                  "producer-hosts": "eb[01-05]", "consumer-hosts": "fn[1-3]", "scheduler-host": "eb01",
                  "producers-per-host": "1", "consumers-per-host": "2", "rate": "3Gb/s", "interval": "2s",
                  "generation": "steady", "set-phase": "same", "event-size": "normal:8MiB,deviation=1MiB",
                  "buffer": "900MB", "overflow": "drop", "policy": "round-robin", "transport": "datagram",
                  "chunk-size": "8KiB", "window": "2", "socket-buffer": "2MiB", "datagram-network": "10.0.0.0/8",
                  "shaping": "bucket:20Mb/s,burst=64KiB", "pattern": "build", "destination": "any",
                  "initiation": "pull", "order": "barrel", "requests": "9", "outstanding": "5", "high-water": "6",
                  "low-water": "3", "fragment-timeout": "20ms", "reasks": "2", "streams": "3", "slots": "7",
                  "slot-size": "10MiB", "busy": "pareto:1ms,shape=2.5", "busy-consumers": "0-3,5", "busy-cpu": "burn",
                  "result-size": "mixture:28B,large=64KiB,every=200", "out": "x", "output": "json", "counters": "off",
                  "row-interval": "50ms", "label": "a name", "tag": "switch=deep",
                  "inject": "lose:producer=0,event=1,chunk=0"}
        groups = "".join(self.succeeds("simulate", "--help", group) for group in GROUPS)
        known = set(re.findall(r"(?m)^  --([a-z-]+)", groups)) - {"scenario", "role", "dry-run"}
        known -= set(self.network)
        self.assertEqual(set(values) - {"inject"}, known)
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory, "all.toml")
            file.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items()))
            from_file = self.succeeds("run", "--scenario", str(file), "--dry-run")
        options = [word for name, value in values.items() for word in (f"--{name}", value)]
        from_options = self.succeeds("run", *options, "--dry-run")
        first, second = json.loads(from_file), json.loads(from_options)
        del first["plan"]["scenario"]
        self.assertEqual(first, second)
        for name in set(values) - {"out", "output", "label", "tag", "scale", "time-scale", "on-failure", "rate",
                                   "event-size", "slot-size", "buffer", "shaping", "result-size"}:
            self.assertEqual(first["plan"][name], values[name])
        self.assertEqual(first["plan"]["rate"], "1.5Gb/s")  # scaled


class DryRun(ScreenTest):
    def forecast(self, *arguments, **variables):
        return json.loads(self.succeeds("run", "--dry-run", "--json", *arguments, **variables))

    def test_figures(self):
        forecast = self.forecast("--scenario", "lhcb2021-5")
        self.assertEqual(forecast["per_producer"]["bytes_per_second"], 59 * 2**27)
        self.assertEqual(forecast["all"]["events_per_second"], 18 * 59)
        self.assertEqual(forecast["all"]["ranks"], 33)
        self.assertAlmostEqual(forecast["per_consumer"]["busy_load"], 0.1725, places=4)
        self.assertGreater(forecast["per_consumer"]["memory_bytes"], 2**27)
        forecast = self.forecast("--scenario", "lhcb2021-5", "--busy", "poisson:13.3ms,quantum=1ms", "--slots", "8")
        self.assertIn("consumers cannot keep up", forecast["warnings"][0])
        self.assertGreater(forecast["per_consumer"]["memory_bytes"], 8 * 2**27)

    def test_short_rows_are_counted(self):
        words = ("--producers", "3", "--consumers", "4", "--warmup", "1s", "--duration", "5s", "--drain", "4s",
                 "--row-interval", "100ms")
        bursts = self.forecast(*words)["bursts"]
        self.assertEqual(bursts["rows_per_second"], 80)
        self.assertTrue(80 * 10 * 20 < bursts["bytes"] < 80 * 10 * 60, bursts)
        self.assertIn("short rows  80 per second of all ranks in bursts/, in 10 s at most",
                      self.succeeds("run", "--dry-run", *words))
        self.assertEqual(self.forecast(*words[4:])["bursts"], {"rows_per_second": None, "bytes": None})
        self.assertIn("short rows  10 per second of each rank", self.succeeds("run", "--dry-run", *words[4:]))
        simulated = json.loads(self.succeeds("simulate", *words, "--consumer-link", "100Mb/s", "--chunk-size", "1MB",
                                             "--dry-run", "--json"))
        self.assertRegex(simulated["warnings"][-1],
                         "--row-interval: .* a chunk of 1 MB takes 80 ms on a link of 100 Mb/s: intervals of 100 ms")
        for without in ((*words[:-2], "--duration", "20s"), (*words[:-1], "1s")):
            forecast = self.forecast(*self.once(without))
            self.assertNotIn("bursts", forecast)
            self.assertEqual(forecast["plan"].get("row-interval"), "1s" if without[-1] == "1s" else None)
        # A short run has them anyway, and without a place among the options.
        forecast = self.forecast(*words[:-2])
        self.assertEqual((forecast["bursts"]["rows_per_second"], forecast["plan"].get("row-interval")), (80, None))

    @staticmethod
    def once(words):
        """Each option once, with its last value."""
        pairs = dict(zip(words[::2], words[1::2]))
        return [word for pair in pairs.items() for word in pair]

    def test_a_plan_that_cannot_see_a_setting_of_the_switch_is_told(self):
        incast = ("--producers", "32", "--consumers", "1", "--generation", "saturate", "--network", "packet",
                  "--pfc", "on")
        for size, can_act in (("512KiB", False), ("1MiB", False), ("2MiB", True), ("16MiB", True)):
            words = ("simulate", *incast, "--event-size", size, "--dry-run")
            pressure = json.loads(self.succeeds(*words, "--json"))["pressure"]
            self.assertEqual([(entry["setting"], entry["can_act"]) for entry in pressure["settings"]],
                             [("pfc", can_act)], size)
            said = "it cannot act in this plan, but with events of "
            (self.assertNotIn if can_act else self.assertIn)(said, self.succeeds(*words))
        # A real switch: bytes alone, or against what is known of it.
        real = ("run", "--producers", "32", "--consumers", "1", "--event-size", "1MiB", "--dry-run")
        self.assertIn("--acts-at SIZE says it", self.succeeds(*real))
        self.assertEqual(self.forecast(*real[1:5], "--event-size", "1MiB")["pressure"]["settings"], [])
        known = self.forecast(*real[1:5], "--event-size", "1MiB", "--acts-at", "8MB")["pressure"]["settings"][0]
        self.assertEqual((known["setting"], known["acts_at_bytes"], known["can_act"]), ("switch", 8000000, False))
        self.assertIsNone(self.forecast()["pressure"])  # the layout is not known
        self.refused(["simulate", "--acts-at", "1MiB"], "--acts-at: is for `weir run`", command="weir simulate")

    def test_the_launcher_tells_the_layout(self):
        forecast = self.forecast(OMPI_COMM_WORLD_RANK="0", OMPI_COMM_WORLD_SIZE="8")
        self.assertEqual((forecast["plan"]["producers"], forecast["plan"]["consumers"]), ("3", "4"))
        self.assertEqual(self.forecast()["all"]["ranks"], None)

    def test_only_the_first_rank_speaks(self):
        job = {"OMPI_COMM_WORLD_RANK": "5", "OMPI_COMM_WORLD_SIZE": "8"}
        for arguments in (["run", "--dry-run"], ["run", "--help"], ["scenarios"], ["--version"]):
            self.assertEqual(self.succeeds(*arguments, **job), "")

    def test_text_says_what_matters(self):
        text = self.succeeds("run", "--dry-run", "--scenario", "quickstart")
        for part in ("3 producers, 4 consumers, 1 scheduler: 8 ranks", "per producer", "400 Mb/s", "1.2 Gb/s",
                     "load 0.36", "memory for data", "control messages/s", "* rate                400Mb/s"):
            self.assertIn(part, text)
        self.assertLessEqual(max(map(len, text.splitlines())), 110)

    def test_a_set_is_said_as_it_is_cut(self):
        scenario = ("--scenario", "lhcb2021-2", "--event-size", "2.68125GB", "--rate")
        for words, events, last, text in (
                ((*scenario, "85.8Gb/s"), 4, 2681250000, "a set of 10.7 GB every 1 s: 4 events of 2.68 GB\n"),
                ((*scenario, "86Gb/s"), 5, 25000000, ": 4 events of 2.68 GB and one of 25 MB\n"),
                ((*scenario, "85.7Gb/s"), 4, 2668750000, ": 3 events of 2.68 GB and one of 2.67 GB\n"),
                (("--event-size", "125MB"), 1, 125000000, "a set of 125 MB every 1 s: one event of 125 MB\n"),
                (("--event-size", "124999999B"), 2, 1, ": one event of 125 MB and one of 1 B\n"),
                (("--event-size", "62500001B"), 2, 62499999, ": one event of 62.5 MB and one that is 2 B smaller\n")):
            with self.subTest(words):
                said = self.forecast(*words)["set"]
                self.assertEqual((said["events"], said["last_event_bytes"]), (events, last))
                self.assertIn(text, self.succeeds("run", "--dry-run", *words))
        drawn = ("--event-size", "normal:4MiB,deviation=512KiB")
        self.assertIsNone(self.forecast(*drawn)["set"]["last_event_bytes"])
        self.assertIn(": about 30.3 events of 4.19 MB on average, the last",
                      self.succeeds("run", "--dry-run", *drawn))

    def test_what_cannot_work_is_said(self):
        def warnings(*words, command="simulate"):
            return json.loads(self.succeeds(command, "--dry-run", "--json", *words))["warnings"]

        busy = ("--rate", "80Mb/s", "--event-size", "1MB", "--producers", "3", "--consumers", "4", "--busy")
        self.assertEqual(warnings(*busy, "130ms"), [])  # 30 events a second on 4 consumers: 133.3 ms
        self.assertRegex(warnings(*busy, "134ms")[0],
                         "consumers cannot keep up: .* load of 1.01, and it must be below 133 ms")
        self.assertRegex(warnings(*busy, "311ms")[0], "load of 2.33")
        self.assertRegex(warnings(*busy, "311ms", "--busy-consumers", "0-3")[0], "^consumers cannot keep up")
        self.assertRegex(warnings(*busy, "311ms", "--busy-consumers", "0,2")[0],
                         "the 2 busy consumers cannot .* other 2 must take 11.8")
        self.assertEqual(len(warnings(*busy, "134ms", "--pattern", "build")), 0)  # 10 events a second
        self.assertEqual(len(warnings(*busy, "401ms", "--pattern", "build")), 1)
        links = ("--framing", "none", "--rate", "1Gb/s", "--chunk-size", "1MB", "--producers", "2", "--consumers", "1")
        self.assertEqual(warnings(*links, "--producer-link", "1.001Gb/s", "--consumer-link", "2.001Gb/s"), [])
        said = warnings(*links, "--producer-link", "1Gb/s", "--consumer-link", "2Gb/s")
        self.assertRegex(said[0],
                         "producers' links cannot carry the rate: 1 Gb/s of payload for each producer, and "
                         "--producer-link 1Gb/s")
        self.assertRegex(said[1], "consumers' links cannot carry the rate: 2 Gb/s of payload for each consumer")
        self.assertEqual(warnings("--scenario", "lhcb2021-2", "--buffer", "100TB"), [])
        said = warnings("--scenario", "lhcb2021-2", "--buffer", "100TB", "--consumers", "36", command="run")
        self.assertRegex("\n".join(said),
                         "consumers' links cannot(.|\n)*memory does not suffice .* one producer needs 100 TB")
        # whose links are not given
        self.assertEqual(warnings("--rate", "200Gb/s", "--interval", "10ms", command="run"), [])
        self.assertRegex(warnings("--producers", "1000000", "--consumers", "1000000")[0],
                         "memory does not suffice: the simulation")

    def test_a_ceiling_has_no_rate(self):
        text = self.succeeds("run", "--dry-run", "--scenario", "ceiling")
        self.assertIn("events of 4 MiB, as fast as possible", text)
        self.assertIn("1Gb/s (not used: as fast as possible)", text)

    def test_what_becomes_of_a_last_set(self):
        text = self.succeeds("simulate", "--dry-run", "--interval", "10s", "--duration", "12s", "--drain", "1s")
        self.assertIn("a duration of 12 s is not a multiple of the interval of 10 s: set 2 of 2 comes 2 s "
                      "before the end\n",
                      text)
        self.assertIn("the drain takes up to 8 s and not 1 s, so that this set has its whole interval\n", text)
        self.assertNotIn("not a multiple", self.succeeds("simulate", "--dry-run"))

    def test_nothing_is_written(self):
        with tempfile.TemporaryDirectory() as directory:
            self.succeeds("run", "--dry-run", "--out", directory + "/run")
            self.assertEqual(list(Path(directory).iterdir()), [])


class OneVoice(ScreenTest):
    """Which ranks print when all find the same error, judged by what a launcher sets. With mpirun: refused_jobs.py."""

    def test_who_speaks(self):
        open_mpi = {"OMPI_COMM_WORLD_SIZE": "8"}
        parts = {"OMPI_APP_CTX_NUM_PROCS": "1 3 4", **open_mpi}
        speakers = [
            ("no launcher", 1, {}),
            ("first rank, Open MPI", 1, {"OMPI_COMM_WORLD_RANK": "0", **open_mpi}),
            ("first rank, PMIx", 1, {"PMIX_RANK": "0"}),
            ("first rank, PMI", 1, {"PMI_RANK": "0", "PMI_SIZE": "8"}),
            ("first rank, srun", 1, {"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "8"}),
            ("another rank, Open MPI", 0, {"OMPI_COMM_WORLD_RANK": "3", **open_mpi}),
            ("another rank, srun", 0, {"SLURM_PROCID": "3", "SLURM_STEP_NUM_TASKS": "8"}),
            ("another rank, mpirun in a SLURM job", 0, {"SLURM_PROCID": "0", "OMPI_COMM_WORLD_RANK": "3", **open_mpi}),
            ("first rank of a later part", 1, {"OMPI_COMM_WORLD_RANK": "4", **parts}),
            ("another rank of a later part", 0, {"OMPI_COMM_WORLD_RANK": "5", **parts}),
        ]
        # All at once: those that are silent wait for seconds to be ended by mpirun.
        with concurrent.futures.ThreadPoolExecutor(len(speakers)) as pool:
            runs = [pool.submit(quick_weir, "run", "--rate", "2", **variables) for _, _, variables in speakers]
        for (name, lines, _), run in zip(speakers, runs):
            with self.subTest(name):
                self.assertEqual(run.result().returncode, 2)
                self.assertEqual(run.result().stderr.count("\n"), lines)


if __name__ == "__main__":
    unittest.main(verbosity=2)
