"""``python -m skauc.cli``."""

from skauc.cli import main

main()
