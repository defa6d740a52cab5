from tests.web.conftest import behind_guard, serving

__all__ = ["behind_guard", "serving"]
