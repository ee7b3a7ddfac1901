"""Every option with values that are wrong in every way: one line that names the option, what was found and what is
right."""

import concurrent.futures
import json
import re
import unittest

from weir_command import CommandTest, quick_weir

WRONG = ("", "-1", "99999999999999999999", "1e400", "abc", "2,5Gb/s", "5XB", "nan", "0", "0s", " ", "a\nb", "\u00e9",
         "x" * 300, "9" * 400, "1000000000000TB", "--", "\x1b[31m")
# What may stand in these is text, hosts' names, an interface, or a directory's name.
TEXTS = {"--label", "--out", "--producer-hosts", "--consumer-hosts", "--scheduler-host", "--datagram-network"}
# The wrong values that are right for some options.
RIGHT = {"--scheduler-rank": {"0"}, "--seed": {"0"}, "--warmup": {"0s"}, "--drain": {"0s"}, "--latency": {"0s"},
         "--scheduler-time": {"0s"}, "--probe": {"0s"}, "--reasks": {"0"}, "--low-water": {"0"},
         "--busy-consumers": {"0"}, "--control-priority": {"0"}}
WHAT_IS_RIGHT = re.compile(r"write |there are: |there are pause|is not one of: |built in are: ")
# Without these, an option means nothing, and that would be reported of any value.
COMPANIONS = {"--jobs": ("--explain", "fast"), "--low-water": ("--high-water", "3"),
              "--outstanding": ("--pattern", "build"), "--requests": ("--initiation", "pull"),
              "--reasks": ("--transport", "datagram"), "--fragment-timeout": ("--transport", "datagram"),
              "--socket-buffer": ("--transport", "datagram"), "--datagram-network": ("--transport", "datagram"),
              "--busy-consumers": ("--busy", "1s"), "--busy-cpu": ("--busy", "1s"),
              **dict.fromkeys(("--switch", "--pfc", "--ecn", "--loss-recovery", "--control-priority"),
                              ("--network", "packet")),
              "--producers-per-host": ("--producer-hosts", "a"), "--consumers-per-host": ("--consumer-hosts", "a")}


class WrongValues(CommandTest):
    weir = staticmethod(quick_weir)

    def options(self, command):
        described = json.loads(self.succeeds("--help", "json"))["commands"]
        groups = next(one["groups"] for one in described if one["name"] == command)
        return [option for group in groups for option in group["options"] if option[
                        "syntax"] and option["name"] != "--help"]

    def given(self, command, name, value):
        dry = () if command == "check" else ("--dry-run",)
        return quick_weir(command, f"{name}={value}", *COMPANIONS.get(name, ()), *dry)

    def check(self, command, option, value):
        name = option["name"]
        done = self.given(command, name, value)
        report = f"{command} {name} {value[:50]!r}: {done}"
        if done.returncode == 0:
            right = value in RIGHT.get(name, ()) or name in TEXTS or value in option["values"]
            self.assertTrue(right, f"accepted: {report}")
            return
        self.assertEqual((done.returncode, done.stdout), (2, ""), report)
        line = done.stderr
        self.assertTrue(line.endswith("\n") and line[:-1].isprintable(), report)
        self.assertTrue(line.startswith(f"weir {command}: {name}: "), report)
        self.assertRegex(line, WHAT_IS_RIGHT, report)
        self.assertLessEqual(line.count("write for example"), 1, report)
        self.assertLess(len(line), 2200, report)
        # of lists, a part
        if value.strip() and value.isprintable() and value != "--" and "," not in value and len(value) < 100:
            self.assertIn(value, line, report)
        if len(value) > 200:
            self.assertNotIn(value, line, report)
        return re.findall(r"write for example (\S+)$|write a value from (\S+) to (\S+)$", line)

    def check_all(self, command, options):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            jobs = {(option["name"], value): pool.submit(
                        self.check, command, option, value) for option in options for value in WRONG}
        examples = set()
        for (name, value), job in jobs.items():
            with self.subTest(option=name, value=value[:50]):
                examples |= {(name, example) for found in job.result() or () for example in found if example}
        self.assertTrue(examples)
        for name, example in examples:
            with self.subTest(option=name, example=example):
                # What is wrong with it then, beside other options' values, is said otherwise.
                self.assertNotRegex(self.given(command, name, example).stderr, r" out of range|write for example")

    def test_of_a_simulation(self):
        options = self.options("simulate")
        self.assertGreater(len(options), 50)
        self.check_all("simulate", options)

    def test_of_a_check(self):
        self.check_all("check", [option for option in self.options("check") if option["name"] in ("--probe", "--role")])

    def test_flags_take_no_value(self):
        for command, flag in (("run", "--dry-run"), ("simulate", "--dry-run"), ("simulate", "--quiet"),
                              ("simulate", "--json")):
            self.refused([command, f"{flag}=no"], f"{flag}: takes no value; write it alone", command=f"weir {command}")

    def test_once_is_enough(self):
        for command, name, value in (("simulate", "--jobs", "1"), ("check", "--probe", "1s")):
            self.refused([command, name, value, name, value], f"{name}: given more than once; write it once",
                         command=f"weir {command}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
