"""Many machines on one: PostgreSQL, Redis, nodes and workers, and what becomes of it when one dies."""
