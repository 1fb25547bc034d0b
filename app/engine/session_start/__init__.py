"""What a session begins with: read, made, kept as long as its epoch lasts, and shown by each of its requests."""
