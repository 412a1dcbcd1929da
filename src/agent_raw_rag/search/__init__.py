"""Use case: query -> passages. Filter, rank coarsely, rerank, put in time order, expand to whole turns."""
