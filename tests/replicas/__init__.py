"""Services rebuilt for tests: small, on loopback, and as strict as the real ones."""
