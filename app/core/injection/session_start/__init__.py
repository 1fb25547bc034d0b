"""What a session begins with: the stable addition to its system prompt, a file for each of its sections."""
