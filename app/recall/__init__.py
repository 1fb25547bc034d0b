"""Recall: what is worth knowing for the latest user message, searched for, chosen from and written as the block."""
