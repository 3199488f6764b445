"""``python -m recrawl``."""

from __future__ import annotations

from recrawl.cli.main import main

if __name__ == "__main__":
    main()
