"""Large requests in another process: what takes seconds of computing must not delay other answers."""
