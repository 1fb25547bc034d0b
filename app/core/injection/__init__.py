"""The injected block: writing it, putting it into a prompt, finding it and taking it out again."""
