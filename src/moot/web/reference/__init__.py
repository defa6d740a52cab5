"""The description of the API: OpenAPI, and the page at /docs."""
