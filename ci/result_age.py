#!/usr/bin/env python3
"""Marks measurements that are more than a year older than the newest committed result.

    ci/result_age.py --mark <PAGE     prints the page; lines that begin with an old date get the mark
    ci/result_age.py --self-test      checks the mark

The newest result is the reference, not today, so that a page changes only with the results.
"""
import datetime
import json
import pathlib
import re
import sys

RESULTS = pathlib.Path(__file__).resolve().parent.parent / "bench" / "results"
MARK = " (older than a year)"
YEAR = datetime.timedelta(days=365)
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def newest():
    """Returns the date of the newest committed result."""
    dates = (json.loads(path.read_text(encoding="utf-8"))["date"] for path in RESULTS.rglob("*.json"))
    return max(dates)[:10]


def mark(date, reference=None):
    """Returns the mark of a result of this date, "" for a result of the last year."""
    day = lambda text: datetime.date.fromisoformat(text[:10])
    return MARK if day(reference or newest()) - day(date) > YEAR else ""


def marked(text, reference=None):
    """Returns the text with the mark after each old date at the begin of a line."""
    reference = reference or newest()
    return "".join(line[:10] + mark(line[:10], reference) + line[10:] if DAY.match(line) else line
                   for line in text.splitlines(keepends=True))


def self_test():
    text = "2025-11-20, commit 1\nin 2024-01-01\n2025-11-22, commit 2\n"
    wanted = "2025-11-20 (older than a year), commit 1\nin 2024-01-01\n2025-11-22, commit 2\n"
    return marked(text, "2026-11-21T10:00:00Z") != wanted


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if sys.argv[1:] != ["--mark"]:
        sys.exit(__doc__)
    sys.stdout.write(marked(sys.stdin.read()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
