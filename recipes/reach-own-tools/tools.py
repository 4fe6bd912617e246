"""A lending desk over a real database (SQLite, in memory): plain functions with type hints and docstrings.

Nothing here knows of prm. The class is made anew for each run, with the task; its public methods are the tools, and
`final_success` tells at the end whether the right loan stands in the database.
"""

from __future__ import annotations

import sqlite3
from datetime import date, timedelta
from typing import Any, Literal

TODAY = date(2026, 3, 2)
BOOKS = [("B-301", "The Left Hand of Darkness", 2), ("B-417", "Middlemarch", 0), ("B-522", "Kokoro", 1)]
MEMBERS = [("M-81", "Ana Lima", 1), ("M-94", "Tom Okafor", 1), ("M-96", "Tom Berg", 0)]

SCHEMA = """
CREATE TABLE books (id TEXT PRIMARY KEY, title TEXT, copies_in INTEGER);
CREATE TABLE members (id TEXT PRIMARY KEY, name TEXT, active INTEGER);
CREATE TABLE loans (book_id TEXT, member_id TEXT, kind TEXT, due TEXT);
"""


class LendingDesk:
    """One library."""

    def __init__(self, task: dict[str, Any]) -> None:
        self._task = task
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        self._database.executescript(SCHEMA)
        self._database.executemany("INSERT INTO books VALUES (?, ?, ?)", BOOKS)
        self._database.executemany("INSERT INTO members VALUES (?, ?, ?)", MEMBERS)

    def find_book(self, title: str) -> dict[str, Any]:
        """Find a book by its title.

        Args:
            title: The title, or a part of it.

        Returns:
            book_id, title and the number of copies that are in.
        """
        row = self._row("SELECT id, title, copies_in FROM books WHERE title LIKE ?", f"%{title}%")
        return _found(row, ("book_id", "title", "copies_in"))

    def find_member(self, name: str) -> dict[str, Any]:
        """Find a member by name.

        Args:
            name: The full name.

        Returns:
            member_id, name and whether the membership is active.
        """
        row = self._row("SELECT id, name, active FROM members WHERE name = ? COLLATE NOCASE", name)
        return _found(row, ("member_id", "name", "active"))

    def lend(
        self, book_id: str, member_id: str, kind: Literal["loan", "reservation"] = "loan", days: int = 14
    ) -> dict[str, Any]:
        """Lend a book, or reserve it where no copy is in.

        Args:
            book_id: As find_book returned it.
            member_id: As find_member returned it.
            kind: A loan needs a copy that is in.
            days: How long a loan lasts.

        Returns:
            The kind and the date it is due.
        """
        copies = self._row("SELECT copies_in FROM books WHERE id = ?", book_id)
        active = self._row("SELECT active FROM members WHERE id = ?", member_id)
        if copies is None or active is None:
            return {"status": "not_found", "record": {"error": "no such book or member"}}
        if not active[0] or (kind == "loan" and not copies[0]):
            reason = "no copy is in" if active[0] else "the membership has ended"
            return {"status": "refused", "record": {"error": reason}}
        due = (TODAY + timedelta(days=days)).isoformat()
        self._database.execute("INSERT INTO loans VALUES (?, ?, ?, ?)", (book_id, member_id, kind, due))
        if kind == "loan":
            self._database.execute("UPDATE books SET copies_in = copies_in - 1 WHERE id = ?", (book_id,))
        return {"kind": kind, "due": due}

    def final_success(self) -> bool:
        """Whether exactly what the task wants stands in the database; no tool."""
        rows = self._database.execute("SELECT book_id, member_id, kind FROM loans").fetchall()
        return [list(row) for row in rows] == self._task["wanted"]

    def _row(self, query: str, value: str) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._database.execute(query, (value,)).fetchone()
        return row


def _found(row: tuple[Any, ...] | None, names: tuple[str, ...]) -> dict[str, Any]:
    if row is None:
        return {"status": "not_found", "record": None}
    return dict(zip(names, row, strict=True))
