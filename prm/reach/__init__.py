"""Reach: how far an agent's tool calls got, judged by rules over the log; and the built-in ticket desk. No torch."""
