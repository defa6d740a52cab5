"""The other front doors, used by clients that know nothing but the documents which describe them."""
