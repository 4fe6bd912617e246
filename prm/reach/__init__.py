"""Reach: tool-call logs, the built-in ticket desk, and its scripted agents. Imports no torch."""
