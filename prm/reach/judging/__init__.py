"""Verdicts: where every argument came from, which milestones were touched and reached, and why not."""
