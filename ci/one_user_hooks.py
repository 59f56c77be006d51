#!/usr/bin/env python3
"""Finds hooks of tsl_strategy (src/strategy/strategy.h) that exactly one strategy sets.

A hook with one user is a mechanism for one case. Prints each with its strategy; exits with 1 when there are
more than MAX. --self-test checks that planted hooks are found.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX = 1  # lower it when a hook goes
HOOK = re.compile(r"\(\*(\w+)\)\(")


def body_at(text, start):
    """The text from `start`, behind an opening brace, to its closing brace."""
    depth, end = 1, start
    while depth and end < len(text):
        depth += (text[end] == "{") - (text[end] == "}")
        end += 1
    return text[start:end]


def hooks_of(header):
    """Names of the function pointers in struct tsl_strategy."""
    match = re.search(r"\nstruct tsl_strategy \{", header)
    return HOOK.findall(body_at(header, match.end()))


def descriptors_of(texts):
    """Maps each strategy to the text of its descriptor."""
    return {match[1]: body_at(text, match.end()) for text in texts
            for match in re.finditer(r"const tsl_strategy (tsl_\w+)\s*=\s*\{", text)}


def single_users(header, texts):
    """Pairs of a hook and the only strategy that sets it."""
    descriptors = descriptors_of(texts)
    for hook in hooks_of(header):
        users = [name for name, body in descriptors.items() if re.search(rf"\.{hook}\s*=", body)]
        if len(users) == 1:
            yield hook, users[0]


def self_test():
    header = "int x;\nstruct tsl_strategy {\n int (*run)(int); struct { void (*pack)(void); } a;\n};\n"
    texts = ["const tsl_strategy tsl_gemm_one = {.run = r, .a = {.pack = p}};",
             "const tsl_strategy tsl_gemm_two = {.run = r};"]
    return list(single_users(header, texts)) != [("pack", "tsl_gemm_one")]


def main():
    if "--self-test" in sys.argv:
        return self_test()
    header = (ROOT / "src/strategy/strategy.h").read_text(encoding="utf-8")
    texts = [file.read_text(encoding="utf-8") for file in sorted((ROOT / "src/strategy").rglob("*.c"))]
    found = list(single_users(header, texts))
    for hook, name in found:
        print(f"{hook}: only {name}")
    print(f"one_user_hooks: {len(found)} of at most {MAX}")
    return len(found) > MAX


if __name__ == "__main__":
    sys.exit(main())
