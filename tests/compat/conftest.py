from tests.support.postgres import postgres_url

__all__ = ["postgres_url"]
