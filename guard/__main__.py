"""`python -m guard`, the same as the `guard` command."""

from guard.cli import main

if __name__ == "__main__":
    main()
