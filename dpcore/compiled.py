"""The one decorator of compiled kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from numba import njit

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def kernel(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Compile a function when first called, keep it on disk, let threads run it side by side."""
    compiled: Callable[_Parameters, _Result] = njit(cache=True, nogil=True)(function)
    return compiled
