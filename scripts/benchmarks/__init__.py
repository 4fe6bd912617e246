"""What `scripts/bench.py` measures, one module a benchmark; every speed is a ratio of two sides of one run."""
