"""Both layouts of the LHCb 2021 paper with all their ranks, scaled down to one machine: they run to their end and leave
complete run directories. Whether they are sustained is not asked here: that depends on the machine. The other rows
differ from these two in rates and busy times."""

from weir_run import check, check_complete, main, weir

RANKS = {2: 87, 5: 33}


def row(number):
    ranks = RANKS[number]
    run = weir(ranks, "--scenario", f"lhcb2021-{number}", "--scale", "1/4000", "--duration", "2s", "--warmup", "500ms",
               limit_s=120)
    print(f"row {number}: exit {run.status}, {run.seconds:.1f} s, {run.json['verdict']['text'] if run.json else ''}")
    check(run.status == 0, f"exit status {run.status}\n{run.stdout[-3000:]}\n{run.stderr[-3000:]}")
    check_complete(run, ranks)
    check(len(run.json["ranks"]) == ranks, "run.json does not list every rank")


def row_2():
    row(2)


def row_5():
    row(5)


main(row_2, row_5)
