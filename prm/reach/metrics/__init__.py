"""How far runs got: Reach@K, node rates, stability, and two agents or variants compared."""
