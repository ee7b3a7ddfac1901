"""Campaigns: plans, submissions, workers, searches for limits, tables: weir-sweep."""
