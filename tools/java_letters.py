"""Write src/recrawl/signatures/_java_letters.py from a recorded character table.

Usage: ``python tools/java_letters.py tests/golden/data/nutch/chartable.json``
"""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path

TARGET = Path(__file__).parent.parent / "src/recrawl/signatures/_java_letters.py"

HEAD = '''"""Letters, digits and their lower case in Java 17 (Unicode 13), UTF-16 unit by unit.

Written by ``tools/java_letters.py`` from a recorded table; do not edit.
"""

from __future__ import annotations

__all__ = ["LETTERS_AND_DIGITS", "LOWER_CASE"]

# "first-last" or "unit", hexadecimal: Character.isLetterOrDigit(char) is true.
LETTERS_AND_DIGITS = """
{letters}
"""

# "first-last/step:difference", decimal step and difference: Character.toLowerCase(char) of these
# letters is the unit plus the difference.
LOWER_CASE = """
{lower}
"""
'''


def lower_runs(lower: dict[int, int]) -> list[str]:
    """Return runs of equal difference and equal step, the longest first from each start."""
    units = sorted(lower)
    runs, start = [], 0
    while start < len(units):
        difference = lower[units[start]] - units[start]
        ends = []
        for step in (1, 2):
            end = start
            while (
                end + 1 < len(units)
                and units[end + 1] - units[end] == step
                and lower[units[end + 1]] - units[end + 1] == difference
            ):
                end += 1
            ends.append((end, step))
        end, step = max(ends, key=lambda found: found[0])
        runs.append(f"{units[start]:X}-{units[end]:X}/{step}:{difference}")
        start = end + 1
    return runs


def wrap(items: list[str]) -> str:
    """Return the items in lines of at most 99 characters, unbroken."""
    return textwrap.fill(" ".join(items), 99, break_long_words=False, break_on_hyphens=False)


def main() -> None:
    """Read the table named on the command line and write the module."""
    table = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    letters = [
        f"{first:X}" if first == last else f"{first:X}-{last:X}"
        for first, last in table["letter_or_digit"]
    ]
    lower = lower_runs({int(unit): to for unit, to in table["to_lower"].items()})
    TARGET.write_text(HEAD.format(letters=wrap(letters), lower=wrap(lower)), encoding="utf-8")


if __name__ == "__main__":
    main()
