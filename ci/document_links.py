#!/usr/bin/env python3
"""Prints the links of documents that lead to no file or to no heading.

    ci/document_links.py [FOLDER]

Reads the repository's documents, or all documents below FOLDER."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LINK = re.compile(r"\]\(([^)\s]+)\)")


def text_of(path):
    """Returns the document without its code blocks, where brackets are no links."""
    with open(path, encoding="utf-8") as file:
        return re.sub(r"^```.*?^```", "", file.read(), flags=re.S | re.M)


def anchors(path):
    """Returns the headings as links spell them."""
    headings = re.findall(r"^#+ (.*)$", text_of(path), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def documents(folder):
    """Returns the names of all documents below the folder."""
    return [os.path.relpath(os.path.join(place, name), folder) for place, _, names in os.walk(folder) for name in names if name.endswith(".md")]


def lost(root, document):
    for target in LINK.findall(re.sub(r"`[^`]*`", "", text_of(os.path.join(root, document)))):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(root, os.path.dirname(document), file)) if file else os.path.join(root, document)
        if not os.path.exists(path) or (anchor and anchor not in anchors(path)):
            yield target


def main():
    if len(sys.argv) > 1:
        root, names = sys.argv[1], documents(sys.argv[1])
    else:
        listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True)
        root, names = ROOT, [name for name in listed.stdout.split() if os.path.exists(os.path.join(ROOT, name))]
    if not names:
        sys.exit(f"there is no document in {root}")
    failed = 0
    for document in sorted(set(names)):
        for target in lost(root, document):
            print(f"{document}: {target} leads nowhere")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
