"""Recall in plain data: the query, the hits, and the trace of what became of them."""
