"""Memories on purpose: the use cases that HTTP, tools, MCP and the command line call."""
