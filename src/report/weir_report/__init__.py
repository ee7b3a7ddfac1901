"""Reads run directories of weir, draws them, and compares them. Start in runs/run.py, figures/charts.py and compare/comparison.py."""
