"""Compares runs, and makes the runs that are compared. Start in comparison/comparison.py and sweep/campaign.py."""
