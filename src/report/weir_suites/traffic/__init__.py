"""What runs move: matrices, traces and sequences, made, read, replayed and judged: weir-traffic."""
