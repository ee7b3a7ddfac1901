"""RDMA verbs in software: weir's three transports beside perftest, in one virtual machine with Soft-RoCE. All is
emulated: the ratio counts, not the rates."""

import json
import pathlib
import re
import tempfile

from . import running
from .samples import Comparison

CASE = "Soft-RoCE 1x1x1"
TRANSPORTS = {"send": "ib_send_bw", "put": "ib_write_bw", "get": "ib_read_bw"}
EVENT = "256KiB"

COMPARISONS = [Comparison("verbs", CASE, f"{CASE}, events of {EVENT}: `--transport {transport}` / {peer}", "goodput",
                          f"weir {transport}", peer,
                          unit="b/s") for transport, peer in TRANSPORTS.items()]


def measure(options, samples):
    with tempfile.TemporaryDirectory(prefix="weir-peers-", dir=running.TOP / "build") as directory:
        script = pathlib.Path(directory) / "measure.sh"
        lines = ["set -u", "device=$(ls /sys/class/infiniband | head -1)"]
        for number in range(options.rounds):
            for transport, peer in TRANSPORTS.items():
                # MTU and GID as weir's own runs there have them.
                both = f"{peer} -d $device -x 0 -s 262144 -D {max(options.seconds, 3)} -F"
                lines.append(f"(timeout 60 {both} > {directory}/server.log 2>&1 &); sleep 2; timeout 60 {both} "
                             f"localhost > {directory}/{number}-{transport}.txt 2>&1; pkill {peer}")
                for engine, words in running.ENGINES.items():
                    out = record_of(directory, number, transport, engine)
                    lines.append(f"mpirun -np 3 {options.weir} run --producers 1 --consumers 1 --transport {transport} "
                                 f"{' '.join(words)} --policy none --generation saturate --event-size {EVENT} "
                                 f"--chunk-size {EVENT} --buffer 8MiB --duration {max(options.seconds, 3)}s --warmup "
                                 f"1s --quiet --out {out} > {out}.log 2>&1")
        script.write_text("\n".join(lines) + "\n")
        running.program([running.TOP / "bench/soft-roce", "exec", "--slots", "3", "--limit", "30min", "-q", "--write",
                         directory, "--", "sh", script],
                        timeout=2400)
        for number in range(options.rounds):
            for transport, peer in TRANSPORTS.items():
                text = (pathlib.Path(directory) / f"{number}-{transport}.txt").read_text()
                found = re.search(r"^\s*262144\s+\d+\s+[\d.]+\s+([\d.]+)", text, re.MULTILINE)
                if not found:
                    raise SystemExit(f"peers: {peer} did not run under Soft-RoCE:\n{text}")
                samples.add("verbs", CASE, peer, "goodput", number, 8 * (1 << 20) * float(found.group(1)))
                for engine in running.ENGINES:
                    out = record_of(directory, number, transport, engine)
                    if not (out / "run.json").exists():
                        raise SystemExit(f"peers: weir{engine} did not run under Soft-RoCE:\n"
                                         + out.with_suffix(".log").read_text())
                    samples.add("verbs", CASE, f"weir {transport}{engine}", "goodput", number,
                                running.goodput(json.loads((out / "run.json").read_text())))


def record_of(directory, number, transport, engine):
    return pathlib.Path(directory) / "-".join([str(number), transport, *engine.split()[-1:]])
