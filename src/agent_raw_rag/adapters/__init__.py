"""Arrow 2: record -> events. Pure: no I/O, clock, log or chance. One module and one registry row per agent."""
