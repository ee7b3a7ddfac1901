"""Charts as data, the charts of a run, and drawing: on pages, in files. What pages share of their HTML."""
