"""Reads run directories of weir, draws them, and compares them. Start in run.py, charts.py and compare.py."""
