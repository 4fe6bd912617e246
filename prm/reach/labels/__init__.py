"""Verdicts as step labels, and their check against a human and against what the desk's scripts are known to do."""
