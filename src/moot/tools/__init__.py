"""Tools that the seats of a debate may use, over the Model Context Protocol."""
