"""Runs the tool: ``python -m tesela``. With ``run script.py`` a Python script uses the BLAS drop-in."""

from __future__ import annotations

import os
import sys

from ._tool import TOOL


def words(arguments: list) -> list:
    """Returns the tool's arguments: a Python script after `run` is run by this Python."""
    if not arguments or arguments[0] != "run":
        return arguments
    at = 1
    while at < len(arguments) and arguments[at].startswith("-") and arguments[at] != "--":
        at += 2 if arguments[at] in ("--device", "--threads", "--library") else 1
    program = at + 1 if at < len(arguments) and arguments[at] == "--" else at
    given = arguments[program] if program < len(arguments) else ""
    if given.endswith(".py") and not os.access(given, os.X_OK):
        return [*arguments[:at], "--", sys.executable, *arguments[program:]]
    return arguments


def main() -> None:
    sys.stdout.flush()
    os.execv(TOOL, [str(TOOL), *words(sys.argv[1:])])


if __name__ == "__main__":
    main()
