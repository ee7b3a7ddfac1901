"""Every policy, transport, pattern, initiation, shaping, generation, busy model, verify level, overflow rule, kind of
event size and results. Each run changes several axes at once, the number of ranks too: every value appears, not every
combination."""

from weir_run import check, check_complete, main, named, weir

RANKS = (7, 4, 3)  # of one run after the other

# policy, transport, generation, busy, verify, event size, other options
RUNS = [
    ("balanced", "send", "sets", "none", "full", "64KiB", []),
    ("token", "put", "steady", "poisson:5ms,quantum=1ms", "header", "64KiB",
     ["--result-size", "mixture:28B,large=64KiB,every=5"]),
    ("round-robin", "get", "sets", "exponential:4ms", "none", "normal:64KiB,deviation=16KiB", []),
    ("random", "send", "steady", "fixed:3ms", "full", "lognormal:48KiB,deviation=32KiB", ["--busy-consumers", "0"]),
    ("none", "put", "sets", "lognormal:3ms,deviation=1ms", "full", "100kB", []),
    ("none", "get", "saturate", "none", "sample", "256KiB", ["--buffer", "1MiB"]),
    ("balanced", "send", "saturate", "pareto:1ms,shape=2.5", "full", "128KiB",
     ["--buffer", "1MiB", "--busy-cpu", "burn"]),
    ("token", "get", "sets", "trace:busy.txt", "header", "trace:sizes.txt",
     ["--slots", "1", "--streams", "1", "--result-size", "20kB"]),
    ("balanced", "put", "sets", "fixed:200ms", "full", "64KiB",
     ["--overflow", "drop", "--drain", "500ms", "--slots", "1"]),
    ("balanced", "send", "steady", "none", "full", "10kB",
     ["--chunk-size", "1000B", "--window", "3", "--streams", "7",
      "--result-size", "lognormal:5kB,deviation=5kB,max=20kB"]),
    ("balanced", "put", "saturate", "none", "full", "64KiB",
     ["--pattern", "build", "--buffer", "512KiB", "--order", "barrel"]),
    ("token", "get", "sets", "fixed:2ms", "full", "lognormal:48KiB,deviation=32KiB",
     ["--pattern", "build", "--initiation", "pull", "--requests", "3", "--order", "barrel", "--high-water", "3"]),
    ("balanced", "send", "steady", "none", "full", "64KiB",
     ["--initiation", "pull", "--shaping", "bucket:30Mb/s,burst=16KiB", "--chunk-size", "8KiB"]),
    ("random", "datagram", "steady", "none", "full", "20kB",
     ["--pattern", "build", "--outstanding", "4", "--reasks", "20", "--shaping", "in-step:200us"]),
    # With repeated requests nothing is lost, however small the sockets and however busy the machine.
    ("balanced", "datagram", "sets", "poisson:2ms,quantum=1ms", "full", "64KiB",
     ["--reasks", "20", "--socket-buffer", "1MiB"]),
    # The last datagram is filled up, and rows count what it carries.
    ("none", "datagram", "steady", "none", "header", "18001B", ["--reasks", "20", "--chunk-size", "9000B"]),
    ("balanced", "send", "sets", "none", "full", "64KiB", ["--set-phase", "spread"]),
    ("token", "put", "sets", "none", "full", "64KiB", ["--set-phase", "spread", "--pattern", "build"]),
    ("none", "get", "sets", "fixed:1ms", "full", "64KiB", ["--set-phase", "random"]),
]


def check_set_phases(run, kind):
    """The phases of the plan, and by the common clock as many sets of each producer as there are intervals."""
    resolved = run.json["plan"]["resolved"]
    phases, interval, producers = resolved["set_phases_s"], resolved["interval_s"], resolved["producers"]
    check(len(phases) == producers and all(0 <= phase < interval for phase in phases), f"phases {phases}")
    if kind == "spread":
        check(all(abs(phase - interval * i / producers) < 2e-9 for i, phase in enumerate(phases)), f"phases {phases}")
    sets = round((resolved["duration_s"] + resolved["warmup_s"]) / interval)
    generated = {rank["generated"]["bytes"] for rank in run.json["ranks"] if rank["role"] == "producer"}
    check(generated == {sets * resolved["set_bytes"]}, f"generated {generated}, {sets} sets of {resolved['set_bytes']}")


def one_run(number):
    policy, transport, generation, busy, verify, size, others = RUNS[number]
    ranks = RANKS[number % len(RANKS)]
    with open("busy.txt", "w", encoding="utf-8") as file:
        file.write("# times\n1ms\n0ms\n3ms\n")
    with open("sizes.txt", "w", encoding="utf-8") as file:
        file.write("64KiB\n1kB\n100kB\n")
    run = weir(ranks, "--policy", policy, "--transport", transport, "--generation", generation, "--busy", busy,
               "--verify", verify, "--event-size", size, "--rate", "20Mb/s", "--interval", "250ms", "--duration", "1s",
               "--warmup", "250ms", "--output", "quiet", *others)
    print(f"{RUNS[number]}: exit {run.status}, {run.seconds:.1f} s", flush=True)
    check(run.status == 0, f"{RUNS[number]}: exit {run.status}\n{run.stdout}\n{run.stderr}")
    check_complete(run, ranks)
    check(run.stdout == "", f"--output quiet printed: {run.stdout}")
    plan = run.json["plan"]
    check((plan["policy"], plan["transport"], plan["generation"], plan["verify"])
          == (policy, transport, generation, verify), f"plan {plan}")
    totals = run.json["totals"]
    # Events that were still in work at the end have none.
    resolved = plan["resolved"]
    unfinished = 0 if busy == "none" else resolved["consumers"] * resolved["slots"]
    least, most = ((totals["received_events"] - unfinished, totals["received_events"]) if "--result-size" in others
                   else (0, 0))
    check(least <= totals["results"] <= most, f"{totals['results']} results of {totals['received_events']} events")
    check(totals["result_bytes"] >= totals["results"], f"{totals['result_bytes']} bytes of results")
    if "build" in others:
        fragments = resolved["producers"]
        check(totals["finished_events"] * fragments == totals["received_events"] == totals["generated_events"],
              f"built {totals['finished_events']} events of {totals['received_events']} fragments")
    if "--set-phase" in others:
        check_set_phases(run, others[others.index("--set-phase") + 1])
    if "drop" in others:
        check(run.json["totals"]["lost_events"] > 0, "an overloaded run with --overflow drop lost nothing")
        check(run.json["lost"], "lost events are not named")


main(*(named(f"run_{number}", one_run, number) for number in range(len(RUNS))), at_once=3)
