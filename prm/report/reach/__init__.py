"""The page of ``prm reach report``: how far runs got, where they end and why, with the log lines that prove it."""
