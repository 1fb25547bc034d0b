"""How likely a hit is worth its place in the prompt: evidence as numbers, learnt weights, a probability.

`evidence` turns a question and its hits into numbers that depend on no embedder's scale and `model` makes a probability
of them; `read_hits` adds what a model says that has read both together. The weights in ``weights/`` are learnt by
``python -m training.relevance``, ``training.answers`` and ``training.outdated`` from the examples beside them.
"""
