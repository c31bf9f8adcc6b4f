"""``python -m skauc.app.cli``."""

from skauc.app.cli import main

main()
