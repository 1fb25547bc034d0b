"""The search index: SQLite, words, vectors and the embedders that make them."""
