"""`python -m moot` is `moot`."""

from moot.cli import main

if __name__ == "__main__":
    main()
