"""Pure decisions: no I/O, no framework."""
