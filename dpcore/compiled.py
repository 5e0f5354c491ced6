"""The one decorator of compiled kernels."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar, ParamSpec, TypeVar

from numba import njit
from numba.core.caching import FunctionCache

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def kernel(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Compile a function when first called, keep it on disk, let threads run it side by side."""
    compiled: Any = njit(nogil=True)(function)
    compiled._cache = _Cache(function)  # What cache=True does, with a cache that may fail.
    kept: Callable[_Parameters, _Result] = compiled
    return kept


def compilations() -> int:
    """How many kernels this process has compiled, and not found on disk."""
    return _Cache.compiled


class _Cache(FunctionCache):  # type: ignore[misc]
    """Compiled code on disk. Without room for it, it is compiled again the next time: no run ends for that."""

    compiled: ClassVar[int] = 0

    def save_overload(self, sig: object, data: object) -> None:
        """Keep what was compiled, if there is room."""
        _Cache.compiled += 1
        with suppress(OSError):
            super().save_overload(sig, data)
