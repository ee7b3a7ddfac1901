"""The pages of a run and of a job: weir-report."""
