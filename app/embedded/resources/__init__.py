"""Documents and skills on local files: where they lie, their index, and the port to them."""
