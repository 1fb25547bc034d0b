"""Decisions that depend on what a text means: is it a task, is there anything to look up, does it replace another?

A decision is a linear model over the words of a message and, where an embedder is there, its vector. The weights are
learnt from the examples in ``training/`` and ship as data in ``weights/``; ``make train`` makes them.
"""
