"""Files: transcripts, memory records, and how they get to disk whole."""
