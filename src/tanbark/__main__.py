"""``python -m tanbark``: the command line."""

from tanbark.cli import main

if __name__ == "__main__":
    main()
