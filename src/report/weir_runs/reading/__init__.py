"""Reads what runs, jobs and searches left, and what follows from it for any reader: key figures, series, counters,
metrics."""
