"""The tables that are made are those that the program knows; databases of other versions are told apart."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from dpcore.errors import InstallationError
from dpcore.workspace.database.database import HEAD, open_database
from dpcore.workspace.database.database_tables import metadata
from dpcore.workspace.database.transactions import read
from tests.support.servers.databases import KINDS, fresh_url


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("revision", "words"), [("9999", "newer version"), ("0010", "before the first release")])
def test_tables_of_another_version_are_refused_unchanged(kind: str, revision: str, words: str, tmp_path: Path) -> None:
    url = fresh_url(kind, tmp_path)
    engine = open_database(url)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"UPDATE alembic_version SET version_num = '{revision}'")
    with pytest.raises(InstallationError, match=words):
        open_database(url)
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar() == revision
    engine.dispose()


@pytest.mark.parametrize("kind", KINDS)
def test_the_tables_made_are_those_that_the_program_knows(kind: str, tmp_path: Path) -> None:
    engine = open_database(fresh_url(kind, tmp_path))
    version = sa.text("SELECT version_num FROM alembic_version")
    assert read(engine, lambda connection: connection.execute(version).scalar()) == HEAD

    def shape(connection: sa.Connection) -> dict[str, tuple[set[str], set[str]]]:
        inspector = sa.inspect(connection)
        return {
            table: (
                {column["name"] for column in inspector.get_columns(table)},
                {str(index["name"]) for index in inspector.get_indexes(table)},
            )
            for table in inspector.get_table_names()
            if table != "alembic_version"
        }

    made = read(engine, shape)
    assert set(made) == set(metadata.tables)
    for name, table in metadata.tables.items():
        columns, indexes = made[name]
        assert columns == {column.name for column in table.columns}
        assert {str(index.name) for index in table.indexes} <= indexes
