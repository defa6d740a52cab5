from tests.web.conftest import behind_guard, served, serving

__all__ = ["behind_guard", "served", "serving"]
