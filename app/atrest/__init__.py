"""How the data directory's contents stand on disk: in plain, or encrypted. See ``docs/at-rest.md``."""
