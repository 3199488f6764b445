"""Which of two originals is followed: the code of a program, or its published description."""

from __future__ import annotations

from typing import Final

from recrawl.errors import InputError

__all__ = ["CODE", "DOCUMENTED", "VARIANTS", "require_variant"]

#: As the program does.
CODE: Final = "code"
#: As its documentation says, where that is something else.
DOCUMENTED: Final = "documented"
VARIANTS: Final = (CODE, DOCUMENTED)


def require_variant(owner: str, variant: str) -> None:
    """Raise InputError for a variant that there is not."""
    if variant not in VARIANTS:
        raise InputError(
            f"{owner}: variant is {variant!r}, allowed is {' or '.join(VARIANTS)}", value=variant
        )
