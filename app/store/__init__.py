"""Turns, deliveries and ledgers in SQL."""
