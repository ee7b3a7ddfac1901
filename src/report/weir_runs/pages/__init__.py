"""The pages of a run and of a job: weir-report."""

# Pages of single groups of a job that are written when nothing else is asked for: the worst ones, which are looked at.
GROUP_PAGES = 3
