"""The built-in ticket desk: a simulated world, its scenarios, and scripted agents whose every step is labelled."""
