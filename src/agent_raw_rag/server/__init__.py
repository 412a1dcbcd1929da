"""The doors that others knock at: MCP over stdio and HTTP, REST, the capture proxy, chat and the page, over one runtime."""
