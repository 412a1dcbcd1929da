"""The MCP door: five tools over one runtime. Nothing else of the product imports ``mcp``."""
