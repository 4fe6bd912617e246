"""Judges in training: what they are asked, supervised fine-tuning, and what GRPO shares with it."""
