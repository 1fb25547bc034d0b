"""The use cases of documents and skills."""
