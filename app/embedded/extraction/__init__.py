"""What is learnt from archived messages: statements, records, experiences, by rules or by a chat model."""
