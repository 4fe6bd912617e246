"""Judges: the step classifier and what loads it."""
