"""What is imported: types of documents, and how each becomes titled passages. Pure: bytes in, text out, no I/O."""
