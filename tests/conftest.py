"""What holds for every test."""

from __future__ import annotations

import os

from hypothesis import settings

# A slow core is no fault of the code, so examples have no deadline; CI draws the same examples
# each time, so that a change is never refused for what another one brought in.
settings.register_profile("recrawl", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("recrawl")
