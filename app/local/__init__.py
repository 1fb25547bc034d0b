"""Local mode: an installed OpenViking that runs as a child process of ``serve`` and ends with it."""
