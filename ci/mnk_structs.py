#!/usr/bin/env python3
"""Counts structs with integer members m, n and k outside of src/strategy/gemm.

Each is a copy of a product's description, and code that fills one from another. Prints them; exits with 1
when there are more than MAX. --self-test checks that planted structs are found.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX = 17  # lower it when a struct goes
STRUCT = re.compile(r"struct\s*(\w*)\s*\{([^{}]*)\}\s*(\w*)")


def structs_of(text):
    """Names of the structs of a text that have integer members m, n and k."""
    for match in STRUCT.finditer(text):
        body = re.sub(r"/\*.*?\*/", "", match[2], flags=re.S)
        lists = re.findall(r"(?:int64_t|int|size_t)\s+([^;]*);", body)
        if {"m", "n", "k"} <= set(re.findall(r"\w+", " ".join(lists))):
            yield match[1] or match[3]


def self_test():
    text = "typedef struct a {\n int64_t m, n; /* k */\n size_t k;\n} a;\nstruct b { int m, n; };\n"
    return list(structs_of(text)) != ["a"]


def main():
    if "--self-test" in sys.argv:
        return self_test()
    count = 0
    for folder in ("src", "include"):
        for file in sorted((ROOT / folder).rglob("*.[ch]")):
            if "strategy/gemm" not in file.as_posix():
                for name in structs_of(file.read_text(encoding="utf-8")):
                    count += 1
                    print(f"{file.relative_to(ROOT)}: {name}")
    print(f"mnk_structs: {count} of at most {MAX}")
    return count > MAX


if __name__ == "__main__":
    sys.exit(main())
