"""Decisions about a message that depend on what it means: is it a task, is there anything to look up?

A decision is a linear model over the words of a message and, where an embedder is there, its vector. The weights are
learnt from the examples in ``training/`` and ship as data in ``weights/``; ``python -m training.train`` makes them.
"""
