"""How the data directory's contents stand on disk: private, plain or encrypted, or gone. See ``docs/at-rest.md``."""
