"""What is made of many campaigns: suites of tests, tuning, and the traffic that runs move."""
