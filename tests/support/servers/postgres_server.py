"""A PostgreSQL server of a test's own, which it may stop in the middle of something."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.servers.ports import free_port

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))


class Server:
    """One server with its files in a folder that the user postgres may enter."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._port = folder, free_port()
        self._call("initdb", "-A", "trust", "-U", "postgres")

    @property
    def url(self) -> str:
        return f"postgresql+psycopg://postgres@127.0.0.1:{self._port}/postgres"

    def start(self) -> None:
        options = f"-p {self._port} -c listen_addresses=127.0.0.1 -c fsync=off"
        options += f" -c unix_socket_directories={self._folder}"
        log = str(self._folder / "log")
        self._call("pg_ctl", "-l", log, "-w", "-s", "-o", options, "start")

    def stop(self) -> None:
        """Stop it at once: connections break, as when its machine is switched off."""
        self._call("pg_ctl", "-s", "-m", "immediate", "stop")

    def _call(self, program: str, *arguments: str) -> None:
        command = [str(PROGRAMS[-1].with_name(program)), "-D", str(self._folder / "data")]
        if os.getuid() == 0:  # The server refuses to be started by root.
            command = ["runuser", "-u", "postgres", "--", *command]
        subprocess.run([*command, *arguments], cwd=self._folder, check=True, timeout=120, stdout=subprocess.DEVNULL)


@contextmanager
def server() -> Iterator[Server]:
    folder = Path(tempfile.mkdtemp(prefix="frostglass-postgres-"))
    if os.getuid() == 0:
        shutil.chown(folder, "postgres")
    try:
        made = Server(folder)
        made.start()
        try:
            yield made
        finally:
            made.stop()
    finally:
        shutil.rmtree(folder)
