"""The commands that talk to a running sidecar, as any other client does."""
