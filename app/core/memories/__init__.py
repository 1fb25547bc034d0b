"""Memories one by one: what a memory is, which of them are asked for, and what becomes of them."""
