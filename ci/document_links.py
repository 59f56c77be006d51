#!/usr/bin/env python3
"""Whether the documents' links lead to files that are there, and to headings that they have. Prints those that do not."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LINK = re.compile(r"\]\(([^)\s]+)\)")


def text_of(path):
    """The document without its blocks of code, where brackets are something else."""
    with open(path, encoding="utf-8") as file:
        return re.sub(r"^```.*?^```", "", file.read(), flags=re.S | re.M)


def anchors(path):
    """Headings as links spell them."""
    headings = re.findall(r"^#+ (.*)$", text_of(path), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def lost(document):
    for target in LINK.findall(re.sub(r"`[^`]*`", "", text_of(os.path.join(ROOT, document)))):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(ROOT, os.path.dirname(document), file)) if file else os.path.join(ROOT, document)
        if not os.path.exists(path) or (anchor and anchor not in anchors(path)):
            yield target


def main():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True)
    failed = 0
    for document in sorted(set(listed.stdout.split())):
        for target in lost(document) if os.path.exists(os.path.join(ROOT, document)) else ():
            print(f"{document}: {target} leads nowhere")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
