"""The tools, the profile and recall by the Model Context Protocol, over Streamable HTTP (`app/api/mcp.py`).

Messages and their checks are the official SDK's own (``mcp-types``). Its server is not used: with what it depends on
(an OAuth client's cryptography above all) it would add 20 MB to an install of 53, and what this service needs of it is
small: it keeps no sessions and sends nothing by itself, so each request is answered by one JSON message. The official
client is what the tests speak with.

Loaded with the first request: building the models of the protocol takes as long as all the rest of a start.
"""
