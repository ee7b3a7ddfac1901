"""What bench/peers measures: a module for each group of targets, each with `measure` and COMPARISONS."""
