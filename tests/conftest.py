"""Settings of the whole test run."""

from __future__ import annotations

from hypothesis import settings

# Machines differ, and the first call of a kernel compiles it: no deadline for one example.
settings.register_profile("frostglass", deadline=None)
settings.load_profile("frostglass")
