"""weir-traffic's generators against closed forms."""

import argparse
import json
import math
import random
from fractions import Fraction

import pytest

from weir_runs.basics import quantities
from weir_runs.basics.errors import ReportError
from weir_suites import traffic_command
from weir_suites.traffic import experts, inference, patterns, traffic_files
from weir_suites.traffic.traffic_model import Matrix, ideal_ns, sums

MIB = 2**20


@pytest.fixture
def make(tmp_path, capsys):
    """make(words...): (traffic that was written, summary as JSON)."""
    def run(*words, out="out"):
        where = tmp_path / out
        assert traffic_command.main([*map(str, words), "--out", str(where), "--json"]) == 0
        return traffic_files.read(where), json.loads(capsys.readouterr().out)
    return run


@pytest.fixture
def refuse(tmp_path, capsys):
    """refuse(words...): the one line that says why; nothing is written."""
    def run(*words):
        try:
            assert traffic_command.main([*map(str, words), "--out", str(tmp_path / "x")]) == 2
        except SystemExit as stopped:
            assert stopped.code == 2
        said = capsys.readouterr()
        assert said.out == "" and said.err.count("\n") == 1 and not (tmp_path / "x").exists()
        return said.err
    return run


@pytest.mark.parametrize("workers", [2, 3, 8])
def test_all_to_all_has_equal_sums(make, workers):
    matrix, found = make("all-to-all", "--workers", workers, "--bytes-per-pair", "1MiB", "--link", "8Gb/s")
    assert matrix.pairs == {(i, j): MIB for i in range(workers) for j in range(workers) if i != j}
    assert found["total_bytes"] == workers * (workers - 1) * MIB
    assert found["largest_sender"]["bytes"] == found["largest_receiver"]["bytes"] == (workers - 1) * MIB
    assert found["largest_receiver"]["over_mean"] == 1.0
    assert found["ideal_s"] == pytest.approx((workers - 1) * MIB / 1e9)
    assert found["next"][0].startswith("weir simulate --pattern matrix:")
    assert "--producer-link 8Gb/s --consumer-link 8Gb/s" in found["next"][0]


def test_bytes_of_a_producer_are_shared_without_a_rest(make):
    matrix, _ = make("all-to-all", "--workers", 8, "--bytes-per-producer", "1000001B")
    found = sums(matrix)
    assert found.sent == [1000001] * 8 and max(matrix.pairs.values()) - min(matrix.pairs.values()) == 1
    assert found.received == [1000001] * 8  # what is left of the division goes around


def test_pairs_of_one_worker_are_left_out_unless_asked_for(make):
    matrix, _ = make("all-to-all", "--workers", 4, "--bytes-per-producer", "4kB", "--with-own")
    assert len(matrix.pairs) == 16 and set(matrix.pairs.values()) == {1000}


def test_permutations(make):
    shifted, _ = make("permutation", "--workers", 5, "--bytes-per-pair", "1kB", "--shift", 7)
    assert shifted.pairs == {(i, (i + 2) % 5): 1000 for i in range(5)}
    for seed in range(20):
        drawn, found = make("permutation", "--workers", 6, "--bytes-per-pair", "1kB", "--random", "--seed", seed)
        assert sums(drawn).sent == sums(drawn).received == [1000] * 6
        assert all(producer != consumer for producer, consumer in drawn.pairs)
        assert found["pairs"] == 6
    assert make("permutation", "--workers", 2, "--bytes-per-pair", "1kB")[0].pairs == {(0, 1): 1000, (1, 0): 1000}


def test_all_derangements_are_equally_likely():
    drawn = [tuple(patterns.derangement(4, generator)) for generator in [random.Random(1)] for _ in range(9000)]
    assert len(set(drawn)) == 9  # of 4: !4
    assert all(drawn.count(one) == pytest.approx(1000, abs=150) for one in set(drawn))


def test_incast_and_outcast(make):
    incast, found = make("incast", "--producers", 20, "--bytes-per-pair", "1MB", "--link", "8Gb/s")
    assert sums(incast).received == [20_000_000] and found["ideal_s"] == pytest.approx(0.02)
    few, _ = make("incast", "--producers", 3, "--consumers", 2, "--bytes-per-producer", "1001B")
    assert sums(few).sent == [1001] * 3 and sums(few).total == 3003
    outcast, found = make("outcast", "--consumers", 5, "--bytes-per-producer", "10MB")
    assert sums(outcast).sent == [10_000_000] and sums(outcast).received == [2_000_000] * 5


@pytest.mark.parametrize("workers, targets, count", [(8, 3, 2), (4, 4, None), (7, 5, 3), (1, 6, 6)])
def test_checkpoints_are_striped_in_turn(make, workers, targets, count):
    shard, stripe = 10 * MIB + 5, MIB
    words = ("--stripe-count", count) if count else ()
    matrix, found = make("checkpoint", "--workers", workers, "--targets", targets, "--shard", f"{shard}B",
                         "--every", "10s", *words)
    assert sums(matrix).sent == [shard] * workers and found["interval_s"] == 10.0 and found["interval_is_given"]
    for worker in range(workers):
        sizes = [size for (producer, _), size in matrix.pairs.items() if producer == worker]
        assert len(sizes) == (count or targets) and max(sizes) - min(sizes) <= stripe
    assert "--interval 10s " in found["next"][0]


def test_a_shard_of_one_stripe_goes_to_one_target_each(make):
    matrix, _ = make("checkpoint", "--workers", 6, "--targets", 3, "--shard", "1MiB", "--stripe-count", 1,
                     "--every", "1min")
    assert matrix.pairs == {(worker, worker % 3): MIB for worker in range(6)}


# --- Mixture of experts.


@pytest.mark.parametrize("workers, skew", [(4, 1.0), (16, 2.6), (64, 5.1), (8, 2.6), (5, 4.9), (128, 2.6)])
def test_the_skew_is_reached(make, workers, skew):
    sequence, found = make("mixture-of-experts", "--workers", workers, "--skew", skew, "--tokens", 512)
    dispatch, combine = (phase.matrix for phase in sequence.phases)
    received = sums(dispatch).received
    assert max(received) * workers / sum(received) == pytest.approx(skew, rel=0.01)
    assert combine.pairs == dispatch.transposed().pairs
    assert [phase.name for phase in sequence.phases] == ["dispatch", "combine"]
    assert found["phases"][0]["largest_receiver"]["over_mean"] == pytest.approx(skew, rel=0.01)
    assert found["phases"][1]["largest_sender"]["over_mean"] == pytest.approx(skew, rel=0.01)
    assert all(0.4 < phase["load"] <= 0.5 for phase in found["phases"])


@pytest.mark.parametrize("workers, copies", [(3, 1), (7, 100), (40, 33), (2, 1000)])
def test_every_sender_has_all_its_tokens(workers, copies):
    for skew in (1.0, 1.5, float(workers)):
        shares = experts.popularity(workers, skew)
        assert sum(shares) == pytest.approx(1.0) and shares[0] * workers == pytest.approx(skew, rel=1e-6)
        counts = experts.token_counts(workers, copies, shares)
        assert all(sum(row) == copies and min(row) >= 0 for row in counts)
        for column, share in enumerate(shares):
            assert sum(row[column] for row in counts) == pytest.approx(workers * copies * share, abs=1.5)


def test_layers_have_popular_experts_of_their_own_and_sizes(make):
    sequence, found = make("mixture-of-experts", "--workers", 16, "--layers", 3, "--tokens", 1000, "--top-k", 4,
                           "--bytes-per-token", "1kB", "--combine-bytes-per-token", "2kB", "--period", "5ms",
                           "--with-own")
    assert [phase.name for phase in sequence.phases] == [f"{kind}-{layer}" for layer in (1, 2, 3)
                                                         for kind in ("dispatch", "combine")]
    assert {phase.period_ns for phase in sequence.phases} == {5_000_000} and found["interval_s"] == pytest.approx(0.03)
    assert len({str(phase.matrix.pairs) for phase in sequence.phases[::2]}) == 3
    assert sums(sequence.phases[0].matrix).sent == [4_000_000] * 16
    assert sums(sequence.phases[1].matrix).received == [8_000_000] * 16
    assert found["total_bytes"] == 3 * (4 + 8) * 1_000_000 * 16


# --- Prefill to decode.


def test_bytes_per_token_of_the_default_model(make):
    assert inference.bytes_per_token(80, 8, 128, 2) == 320 * 1024
    trace, found = make("prefill-to-decode", "--prefill-workers", 2, "--decode-workers", 3, "--prompt", "1000",
                        "--requests", 10)
    assert {size for _, size in trace.transfers()} == {1000 * 320 * 1024}
    assert trace.interval_ns == 10**10 and found["kind"] == "trace" and found["ideal_s"] is None
    assert len(found["producer_load"]) == 2 and len(found["consumer_load"]) == 3
    assert sum(found["producer_load"]) == pytest.approx(found["total_bytes"] * 8 / 1e12)
    assert max(found["producer_load"] + found["consumer_load"]) == found["load"]


def test_a_size_of_a_token_that_is_given(make):
    trace, _ = make("prefill-to-decode", "--prefill-workers", 1, "--decode-workers", 1, "--prompt", "10",
                    "--bytes-per-token", "70kB")
    assert {size for _, size in trace.transfers()} == {700_000}


def test_prompts_arrive_as_often_as_asked_and_are_as_long(make):
    trace, _ = make("prefill-to-decode", "--prefill-workers", 8, "--decode-workers", 8, "--requests", 50,
                    "--interval", "100s", "--prompt", "lognormal:800,deviation=800", "--bytes-per-token", "1B")
    sizes = sorted(size for _, size in trace.transfers())
    assert len(sizes) == pytest.approx(5000, abs=4 * math.sqrt(5000))
    assert sum(sizes) / len(sizes) == pytest.approx(800, rel=0.06)
    assert sizes[len(sizes) // 2] == pytest.approx(800 / math.sqrt(2), rel=0.06)
    short, _ = make("prefill-to-decode", "--prefill-workers", 8, "--decode-workers", 8,
                    "--prompt", "lognormal:800,deviation=800,max=900", "--bytes-per-token", "1B", out="short")
    assert max(size for _, size in short.transfers()) == 900


def test_layers_apart_move_the_same_bytes_during_the_prefill(make):
    words = ("prefill-to-decode", "--prefill-workers", 3, "--decode-workers", 2, "--interval", "5s",
             "--bytes-per-token", "1001B")
    whole, _ = make(*words)
    apart, _ = make(*words, "--layers-apart", "--layers", 10, out="apart")
    assert len(apart.rows) == 10 * len(whole.rows)
    assert sums(apart).sent == sums(whole).sent and sums(apart).received == sums(whole).received
    # The last layer is over when the prompt is.
    assert {row[:3] for row in whole.rows} <= {row[:3] for row in apart.rows}


def options(**changed):
    return argparse.Namespace(**{"prefill_workers": 1, "decode_workers": 2, "prompt": inference.PromptLength("100"),
                                 "requests": 1.0, "prefill_rate": 1000.0, "token_bytes": 10, "layers": 4,
                                 "layers_apart": False, "decode_choice": "round-robin",
                                 "interval_ns": 10**11, "seed": 3, **changed})


def test_a_worker_computes_one_prompt_at_a_time():
    rows = inference.prefill_to_decode(options(requests=8.0, layers_apart=True)).rows
    times = [time_ns for time_ns, *_ in rows if time_ns > 10**10]  # without those of the repetition before
    assert min(after - before for before, after in zip(times, times[1:])) >= 25_000_000 - 1  # a layer takes 25 ms
    assert 0.7 < 0.1 * len(rows) / 4 / 100 < 0.9  # used for 80 %


@pytest.mark.parametrize("choice", inference.CHOICES)
def test_prompts_are_spread_over_decode_workers(choice):
    trace = inference.prefill_to_decode(options(decode_choice=choice, decode_workers=4, requests=5.0))
    received = sums(trace).received
    spread = max(received) - min(received)
    assert spread <= (1000 if choice != "random" else 0.5 * max(received))


def test_what_ends_after_the_interval_stands_at_its_beginning():
    trace = inference.prefill_to_decode(options(requests=9.0, interval_ns=10**10, seed=1,
                                                prompt=inference.PromptLength("110")))
    assert all(0 <= time_ns < 10**10 for time_ns, *_ in trace.rows) and list(trace.rows) == sorted(trace.rows)
    assert trace.rows[0][0] < 110_000_000  # no prompt that came at 0 is over so early


# --- All kinds.


KINDS = {
    "all-to-all": ("--workers", 4, "--bytes-per-pair", "1MiB"),
    "permutation": ("--workers", 9, "--bytes-per-pair", "1MiB", "--random"),
    "incast": ("--producers", 4, "--bytes-per-pair", "1MiB"),
    "outcast": ("--consumers", 4, "--bytes-per-producer", "1MiB"),
    "prefill-to-decode": ("--prefill-workers", 2, "--decode-workers", 2),
    "mixture-of-experts": ("--workers", 8),
    "checkpoint": ("--workers", 4, "--targets", 2, "--shard", "1GiB", "--every", "1min"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_makes_the_same_file(make, kind):
    made = [make(kind, *KINDS[kind], out=f"{number}") for number in range(2)]
    assert made[0][0] == made[1][0]
    different = [key for key in made[0][1] if made[0][1][key] != made[1][1][key]]
    assert different == ["file", "next"]
    if kind in ("permutation", "prefill-to-decode", "mixture-of-experts"):
        assert make(kind, *KINDS[kind], "--seed", 2, out="other")[0] != made[0][0]


@pytest.mark.parametrize("kind", KINDS)
def test_the_summary_for_people_is_that_of_show(make, kind, tmp_path, capsys):
    assert traffic_command.main([kind, *map(str, KINDS[kind]), "--out", str(tmp_path / "out")]) == 0
    written = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("prompts")]
    assert traffic_command.main(["show", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().out.splitlines() == written
    assert any(line.startswith("next ") and "weir simulate --pattern " in line for line in written)


@pytest.mark.parametrize("words, said", [
    (("all-to-all", "--workers", "1", "--bytes-per-pair", "1MiB"), "--workers: '1' is not a whole number from 2 to"),
    (("all-to-all", "--workers", "4000", "--bytes-per-pair", "1B"),
     "--workers: 4000 makes 15996000 pairs; at most 1000000"),
    (("all-to-all", "--workers", "4"), "one of the arguments --bytes-per-pair --bytes-per-producer is required"),
    (("all-to-all", "--workers", "4", "--bytes-per-pair", "5"), "--bytes-per-pair: '5' is not a size with its unit"),
    (("all-to-all", "--workers", "4", "--bytes-per-pair", "1.5B"), "'1.5B' is not a whole number of bytes"),
    (("all-to-all", "--workers", "4", "--bytes-per-pair", "0B"), "--bytes-per-pair: '0B' is 0"),
    (("all-to-all", "--workers", "4", "--bytes-per-pair", "1B", "--link", "100G"),
     "--link: '100G' is not a rate with its unit"),
    (("all-to-all", "--workers", "4", "--bytes-per-pair", "1B", "--interval", "2h"),
     "--interval: the interval is above 1h"),
    (("permutation", "--workers", "4", "--bytes-per-pair", "1B", "--shift", "8"),
     "--shift: with 8 each of 4 workers would send to itself"),
    (("incast", "--producers", "0", "--bytes-per-pair", "1B"), "--producers: '0' is not a whole number from 1"),
    (("outcast", "--producers", "2000", "--consumers", "2000", "--bytes-per-pair", "1B"),
     "2000 x 2000 makes 4000000 pairs"),
    (("prefill-to-decode", "--prefill-workers", "1", "--decode-workers", "1", "--requests", "10"),
     "--requests: 10 per second are more than the prefill workers can do, 10 (1 workers"),
    (("prefill-to-decode", "--prefill-workers", "1", "--decode-workers", "1", "--prompt", "normal:4"),
     "--prompt: 'normal:4' is not a length"),
    (("prefill-to-decode", "--prefill-workers", "1", "--decode-workers", "1", "--prompt", "0"),
     "--prompt: '0' has a number that is not"),
    (("prefill-to-decode", "--prefill-workers", "1", "--decode-workers", "1", "--interval", "1ns"),
     "--interval: no prompt arrives"),
    (("prefill-to-decode", "--prefill-workers", "999", "--decode-workers", "1", "--layers-apart"),
     "transfers are too many"),
    (("mixture-of-experts", "--workers", "2"), "--skew: 2.6 is not a number from 1 (all receivers equal) to 2"),
    (("mixture-of-experts", "--workers", "4", "--skew", "0.5"), "--skew: '0.5' is not a number from 1 on"),
    (("mixture-of-experts", "--workers", "4", "--skew", "nan"), "--skew: 'nan' is not a number from 1 on"),
    (("mixture-of-experts", "--workers", "600", "--layers", "900"), "--workers, --layers: 600 workers and 900 layers"),
    (("checkpoint", "--workers", "2", "--targets", "2", "--shard", "1GB", "--every", "2h"),
     "--every: the interval is above 1h"),
    (("checkpoint", "--workers", "2", "--targets", "2", "--shard", "1GB", "--every", "1s", "--stripe-count", "3"),
     "--stripe-count: 3 is more"),
])
def test_what_cannot_be_is_refused(refuse, words, said):
    assert said in refuse(*words)


def test_quantities():
    assert [quantities.size(text) for text in ("1B", "1.5kB", "1MiB", "2TiB")] == [1, 1500, MIB, 2 * 2**40]
    assert quantities.rate("85.8Gb/s") == 85_800_000_000 and quantities.time_ns("1.5min") == 90 * 10**9
    for value in (1, 999, 1000, 25_000, 1_168_000, 999_999_999, 10**9, 61 * 10**9):
        assert quantities.time_ns(quantities.time_text(value)) == value
    assert quantities.time_text(2_500_000) == "2.5ms" and quantities.rate_text(85_800_000_000) == "85.8Gb/s"
    for text in ("1e3B", "-1B", "1,5kB", "1 kB", "kB", "", "9" * 19 + "B", "5000000TiB"):
        with pytest.raises(argparse.ArgumentTypeError):
            quantities.size(text)
    # Exact, in base units; not what only begins with a number, and not what weir does not take.
    assert [quantities.number_of(text) for text in ("1.1min", "2.3Gb/s", "4KiB", "-4", "1e-5")] == [
        (66 * 10**9, "ns"), (23 * 10**8, "b/s"), (4096, "B"), (-4, ""), (Fraction(1, 10**5), "")]
    assert ([quantities.number_of(text) for text in ("", "on", "4 kB", "-4kB", "1e3kB", "4-slots", "nan", "inf")]
            == [None] * 8)
    assert ([quantities.seconds_of(text) for text in ("20us", "0s", "1.5h", "3kB", "3", "")]
            == [20e-6, 0.0, 5400.0, *[None] * 3])
    assert ([quantities.share(text) for text in ("2%", "0.5 %", ".5%", "100%", "2", "-1%", "nan%", "%")]
            == [0.02, 0.005, 0.005, 1.0, *[None] * 4])
    assert quantities.rounded_up_ns(1_174_405) == 1_200_000 and quantities.rounded_up_ns(7) == 7
    assert ideal_ns(1, 8) == 10**9 and sums(Matrix({(2, 0): 5})).sent == [0, 0, 5]


def test_a_limit_of_pairs():
    with pytest.raises(ReportError, match="at most 1000000"):
        patterns.check_pairs(1_000_001, "--workers", 1001)
