"""Live runs: an agent on a tool server, recorded, in parallel, resumable."""
