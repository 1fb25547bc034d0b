"""A host's messages: reading them, pairing calls with results, counting tokens, knowing a message again."""
