"""Reads run directories of weir and draws them. Start in reading/run.py and figures/charts.py."""
