"""The figures of the reach page: each takes one agent × variant, or all, and returns a finished figure or None."""
