#!/usr/bin/env python3
"""The documents' tables of measurements, from the results that are committed.

    ci/result_tables.py            prints them
    ci/result_tables.py --check    says whether the documents have them
    ci/result_tables.py --write    puts them there

Each table is between two comments that name the module that makes it; no line of a table is written by hand.
"""
import os
import sys

import courses_table
import host_table
import ladder_table
import summary_table

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCUMENTS = (
    ("README.md", (summary_table,)),
    ("docs/lab/results.md", (ladder_table, host_table)),
    ("docs/lab/courses.md", (courses_table,)),
)


def table_for(document, module):
    """The module's table, whose links lead from the document's folder."""
    up = "../" * document.count("/")
    return module.table().replace("](bench/", f"]({up}bench/")


def with_table(document, text, module):
    """The text with the module's table; None where there is no place for it."""
    begin, end = f"<!-- ci/{module.__name__}.py -->", f"<!-- end of ci/{module.__name__}.py -->"
    if begin not in text or end not in text:
        print(f"{document} has not both of {begin} and {end}", file=sys.stderr)
        return None
    before, rest = text.split(begin, 1)
    return f"{before}{begin}\n\n{table_for(document, module)}\n\n{end}{rest.split(end, 1)[1]}"


def treat(document, modules, write):
    """Whether the document has its tables, now that they were written where that is asked for."""
    path = os.path.join(ROOT, document)
    with open(path, encoding="utf-8") as file:
        text = wanted = file.read()
    for module in modules:
        wanted = with_table(document, wanted, module)
        if wanted is None:
            return False
    if write and wanted != text:
        with open(path, "w", encoding="utf-8") as file:
            file.write(wanted)
    if not write and wanted != text:
        print(f"{document} has tables that are stale", file=sys.stderr)
    return write or wanted == text


def main():
    if len(sys.argv) < 2:
        print("\n\n".join(table_for(document, module) for document, modules in DOCUMENTS
                          for module in modules))
        return 0
    fresh = [treat(document, modules, sys.argv[1] == "--write") for document, modules in DOCUMENTS]
    return 0 if all(fresh) else 1


if __name__ == "__main__":
    sys.exit(main())
