"""The page's own modules without a browser: `node --test`, and their view held against the server's."""
