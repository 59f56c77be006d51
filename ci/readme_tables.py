#!/usr/bin/env python3
"""The README's tables of measurements, from the results that are committed.

    ci/readme_tables.py            prints them
    ci/readme_tables.py --check    says whether the README has them
    ci/readme_tables.py --write    puts them there

Each stands between two comments in README.md, which name the module that makes it; nothing between them is written by hand.
"""
import os
import sys

import host_table
import ladder_table

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MODULES = (ladder_table, host_table)


def with_table(readme, module):
    """The README with the module's table; None where there is no place for it."""
    begin, end = f"<!-- ci/{module.__name__}.py -->", f"<!-- end of ci/{module.__name__}.py -->"
    if begin not in readme or end not in readme:
        print(f"README.md has not both of {begin} and {end}", file=sys.stderr)
        return None
    before, rest = readme.split(begin, 1)
    return f"{before}{begin}\n{module.table()}\n{end}{rest.split(end, 1)[1]}"


def main():
    if len(sys.argv) < 2:
        print("\n\n".join(module.table() for module in MODULES))
        return 0
    path = os.path.join(ROOT, "README.md")
    with open(path, encoding="utf-8") as file:
        readme = wanted = file.read()
    for module in MODULES:
        wanted = with_table(wanted, module)
        if wanted is None:
            return 1
    if sys.argv[1] == "--check":
        return 0 if wanted == readme else 1
    with open(path, "w", encoding="utf-8") as file:
        file.write(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
