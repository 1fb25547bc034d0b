"""The processes of this machine: how they are named, and an installed OpenViking that runs as a child of ``serve``."""
