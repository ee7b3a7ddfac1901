"""ReFrame checks of a network by weir: is a rate sustained, and what is the ceiling?

    reframe -C SETTINGS.py -c weir_check.py -r -S WeirSustained.producers=14 -S WeirSustained.consumers=72 \\
        -S WeirSustained.options='--scenario,lhcb2021-2' -S WeirSustained.goodput_expected=1.2e12

A run passes if it came to its end, its books agree (what producers say they sent, consumers say they received and the
scheduler saw are the same events), nothing was lost, and, for WeirSustained, no producer exceeded its buffer. Figures
of performance are compared where an expected value was given: -S CLASS.goodput_expected=BITS_PER_SECOND. `weir` is
taken from the PATH, as modules or Spack set it up; -S CLASS.weir=PATH names another. Tried with ReFrame 4.10; settings
for one machine: this_machine.py.
"""

import json
import os

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ


class WeirRun(rfm.RunOnlyRegressionTest):
    """One rank is the scheduler, the others produce and consume."""

    weir = variable(str, value="weir")
    producers = variable(int, value=1)
    consumers = variable(int, value=1)
    options = variable(typ.List[str], value=[])
    goodput_expected = variable(float, value=0.0)  # of all consumers together, b/s; 0: not known
    goodput_tolerance = variable(float, value=0.05)  # how much less is still good: 0.05 is 5 %

    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    time_limit = "10m"
    maintainers = ["weir"]

    @run_before("run")
    def set_command_line(self):
        self.executable = self.weir
        self.num_tasks = 1 + self.producers + self.consumers
        self.executable_opts = ["run", "--producers", str(self.producers), "--consumers", str(self.consumers),
                                *self.options, *self.own_options(), "--out", "run"]

    def own_options(self):
        return []

    @run_before("performance")
    def set_reference(self):
        if self.goodput_expected > 0:
            self.reference = {self.current_partition.fullname:
                              {"goodput": (self.goodput_expected, -self.goodput_tolerance, None, "b/s")}}

    @deferrable
    def record(self):
        """run.json; what it is when weir did not even begin: empty."""
        path = os.path.join(self.stagedir, "run", "run.json")
        if not os.path.exists(path):
            return {}
        with open(path, encoding="utf-8") as file:
            return json.load(file)

    @deferrable
    def of_consumers(self, combine):
        """From the mean rates of the consumers in the measured seconds, b/s."""
        rates = [rank["mean_bits_per_second"] or 0 for rank in self.record().evaluate()["ranks"]
                 if rank["role"] == "consumer"]
        return combine(rates)

    def ran_and_agrees(self):
        record = self.record().evaluate()
        status = record.get("status", "absent")
        failure = (record.get("failure") or {}).get("what", "weir wrote no run.json; see the output")
        return [sn.assert_eq(status, "complete", msg=f"status of the run: {status} ({failure})"),
                sn.assert_true((record.get("ledger") or {}).get("agrees"),
                               msg="the ledgers do not agree, or were not compared")]

    def nothing_lost(self):
        totals = self.record().evaluate().get("totals") or {}
        return [sn.assert_eq(totals.get(f"{what}_events"), 0, msg=f"{what} events: {{0}}")
                for what in ("lost", "corrupt", "duplicate")]

    @performance_function("b/s")
    def goodput(self):
        return self.of_consumers(sum)

    @performance_function("b/s")
    def slowest_consumer(self):
        return self.of_consumers(min)


@rfm.simple_test
class WeirSustained(WeirRun):
    """The rate that the options ask for is sustained: every set was gone before the next one was generated."""

    descr = "weir: the rate is sustained"
    options = ["--rate", "1Gb/s", "--duration", "30s"]

    @sanity_function
    def is_sustained(self):
        verdict = self.record().evaluate().get("verdict") or {}
        return sn.all([*self.ran_and_agrees(),
                       sn.assert_true(verdict.get("sustained"), msg=verdict.get("text") or "there is no verdict"),
                       *self.nothing_lost()])

    @performance_function("1")
    def worst_occupancy(self):
        return self.record()["totals"]["max_occupancy"]


@rfm.simple_test
class WeirCeiling(WeirRun):
    """As fast as it goes, without a scheduler: what MPI gives on these hosts. There is nothing to be sustained."""

    descr = "weir: the ceiling"
    options = ["--duration", "10s"]

    def own_options(self):
        return ["--scenario", "ceiling"]

    @sanity_function
    def is_complete(self):
        return sn.all([*self.ran_and_agrees(), *self.nothing_lost()])
