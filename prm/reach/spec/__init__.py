"""What is judged: tools, facts, milestones and minefields as YAML, and the check of a spec against its own logs."""
