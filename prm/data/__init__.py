"""From files of annotated runs to encoded rows: read, check, split, render, budget, encode."""
