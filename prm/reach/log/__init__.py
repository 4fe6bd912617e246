"""Runs in normal form: events, calls and results; readers of other logs, and exports."""
