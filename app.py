"""Frostglass in the browser: ``streamlit run app.py``."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from threading import Event, Thread
from time import sleep

import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from dpcore.errors import InstallationError
from dpcore.workspace.files.staging import spool
from pages.components.kit import faults
from pages.components.server import delivery, gate, programs, shell, sweeping
from pages.components.server.upload_gate import UploadGate
from pages.components.visitor import access, remembered

SECONDS_FOR_THE_FIRST_PAGE = 4
_log = logging.getLogger("frostglass.app")


async def health(_request: Request) -> JSONResponse:
    return JSONResponse({"status": "ok"})


def start_engine() -> None:
    """Open the database at once; what later pages and runs need once the first page is out."""
    try:
        service = access.installation()
    except InstallationError as error:  # Every page says so too, and tries again.
        _log.error("%s", error)
        return
    import_module("pages.components.families.registry")  # Every page needs it.
    sleep(SECONDS_FOR_THE_FIRST_PAGE)
    import_module("dpcore.plots")
    service.warm_up()


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Start the engine beside the server, so that neither waits for the other."""
    ended = Event()
    Thread(target=start_engine, name="start-engine", daemon=True).start()
    Thread(target=sweeping.sweep, args=(ended, access.installation), name="sweep", daemon=True).start()
    yield
    ended.set()
    with suppress(InstallationError):
        access.installation().close()


# Files that are being received, or are large, are written down while they come: inside the home.
tempfile.tempdir = str(spool())
faults.quiet_log()
delivery.install()
app = st.App(
    "pages/navigation.py",
    lifespan=lifespan,
    on_script_error=faults.report,
    routes=[
        Route("/health", health),
        Route(f"/{remembered.ADDRESS}", remembered.answer),
        *programs.ROUTES,
    ],
    middleware=[Middleware(gate.Gate), Middleware(UploadGate), Middleware(shell.Shell)],
)
