"""Backups as an operator makes them, and what is restored of them."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import sqlalchemy as sa


def back_up(url: str, folder: Path) -> Path:
    """A copy of a database that is in use, as an operator makes it."""
    copy = folder / "copy"
    if url.startswith("sqlite"):
        database = sa.make_url(url).database or ""
        with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
        return copy
    _postgres("pg_dump", url, "--format=custom", f"--file={copy}")
    return copy


def restore(url: str, copy: Path) -> None:
    if url.startswith("sqlite"):
        database = sa.make_url(url).database or ""
        for ending in ("-wal", "-shm"):  # They belong to the broken database.
            Path(f"{database}{ending}").unlink(missing_ok=True)
        shutil.copy(copy, database)
        return
    _postgres("pg_restore", url, "--clean", "--if-exists", str(copy), option="--dbname")


def _postgres(program: str, url: str, *arguments: str, option: str = "") -> None:
    [*_, newest] = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"))
    plain = sa.make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    target = [f"{option}={plain}"] if option else [plain]
    subprocess.run([newest, *target, *arguments], check=True, env={**os.environ}, timeout=60)
