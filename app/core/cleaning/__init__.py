"""Taking a host's decoration off the words of a person, a model or a tool."""
