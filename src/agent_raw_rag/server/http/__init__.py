"""The HTTP door: one application, one guard before every route of it, and MCP over streamable HTTP behind it."""
