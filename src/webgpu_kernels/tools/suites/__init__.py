"""test.json: its cases, the values they stand for, and whether a package's variants compute them."""
