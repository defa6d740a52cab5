from tests.page.conftest import chromium, complaints, context, page, served, watched

__all__ = ["chromium", "complaints", "context", "page", "served", "watched"]
