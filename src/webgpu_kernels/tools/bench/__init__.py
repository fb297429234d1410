"""bench.json: which calls of a package matter for speed, how fast each variant does them, and others beside it."""
