"""Frostglass in the browser: ``streamlit run app.py``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from threading import Thread
from time import sleep

import streamlit as st
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from pages.components import access, faults

SECONDS_FOR_THE_FIRST_PAGE = 4


async def health(_request: Request) -> JSONResponse:
    return JSONResponse({"status": "ok"})


def start_engine() -> None:
    """Open the data base at once; what later pages and runs need once the first page is out."""
    service = access.installation()
    sleep(SECONDS_FOR_THE_FIRST_PAGE)
    import_module("dpcore.plots")
    service.warm_up()


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Start the engine beside the server, so that neither waits for the other."""
    Thread(target=start_engine, name="start-engine", daemon=True).start()
    yield
    access.installation().close()


faults.quiet_log()
app = st.App(
    "pages/navigation.py",
    lifespan=lifespan,
    on_script_error=faults.report,
    routes=[Route("/health", health)],
)
