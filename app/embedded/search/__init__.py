"""From what words and vectors find to hits: scores, variety, excerpts."""
