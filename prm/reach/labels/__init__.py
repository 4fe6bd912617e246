"""Verdicts as step labels, and their check against a human."""
