"""The page in a real browser, on a real server: what people see, press and type."""
