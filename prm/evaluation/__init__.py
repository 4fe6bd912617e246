"""How good a judge is: metrics, intervals, baselines and Best-of-N. Imports no torch."""
