"""OpenViking over HTTP: the only package that knows its URLs, its errors and httpx."""
