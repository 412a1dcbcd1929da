"""Use case: logs -> store. Incremental, exactly once, one transaction per source and batch."""
