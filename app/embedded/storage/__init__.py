"""Files: session files, memory records, and how they get to disk whole."""
