#!/usr/bin/env python3
"""Prints the links of documents that lead to no file or to no heading: ci/document_links.py [FOLDER]

Reads the repository's documents, or all documents below FOLDER. In the repository it also checks the manual
for files and symbols that do not exist, and pages that are too long.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LINK = re.compile(r"\]\(([^)\s]+)\)")
MANUAL = re.compile(r"(README|SECURITY|docs/[A-Z_]+)\.md$")
LINES_MAX = 200
SOURCES = ("bench", "ci", "cmake", "examples", "include", "python", "src", "tests", "tools", "CMakeLists.txt")
FILE = re.compile(rf"`((?:{'|'.join(SOURCES[:9])}|docs)/[\w./-]*(?:/|\.\w+))`")
SYMBOL = re.compile(r"\b(?:tesela|TESELA|tsl|TSL|test|bench)_\w*[^\W_](?![\w<]|_<|\*)")


def text_of(path):
    """The document without its blocks of code, where brackets are something else."""
    with open(path, encoding="utf-8") as file:
        return re.sub(r"^```.*?^```", "", file.read(), flags=re.S | re.M)


def anchors(path):
    """Headings as links spell them."""
    headings = re.findall(r"^#+ (.*)$", text_of(path), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def documents(folder):
    """Names of all documents below the folder."""
    paths = [os.path.join(place, name) for place, _, names in os.walk(folder) for name in names]
    return [os.path.relpath(path, folder) for path in paths if path.endswith(".md")]


def lost(root, document):
    for target in LINK.findall(re.sub(r"`[^`]*`", "", text_of(os.path.join(root, document)))):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        near = os.path.join(os.path.dirname(document), file) if file else document
        path = os.path.normpath(os.path.join(root, near))
        if not os.path.exists(path) or (anchor and anchor not in anchors(path)):
            yield target


def git(*arguments):
    """Returns the words that a command of git prints."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.split()


def symbols_of_sources():
    """Returns the symbols in sources, scripts and builds, and the names of their files and programs."""
    pattern = r"\b(tesela|TESELA|tsl|TSL|test|bench)_\w+"
    found = git("grep", "-hoEI", "--untracked", pattern, "--", *SOURCES, ":!*.md")
    stems = [os.path.splitext(os.path.basename(name))[0] for name in git("ls-files", "--", *SOURCES)]
    return {*found, *stems, *(f"bench_{stem}" for stem in stems)}


def stale(document, symbols):
    """Yields the complaints about a page of the manual."""
    with open(os.path.join(ROOT, document), encoding="utf-8") as file:
        text = file.read()
    if text.count("\n") > LINES_MAX:
        yield f"{text.count(chr(10))} lines, at most {LINES_MAX}"
    for name in sorted(set(FILE.findall(text))):
        if not os.path.exists(os.path.join(ROOT, name)):
            yield f"there is no file {name}"
    # Blocks of shell are run, and may add names.
    unrun = re.sub(r"^```sh$.*?^```$", "", text, flags=re.S | re.M)
    for name in sorted(set(SYMBOL.findall(unrun)) - symbols):
        yield f"no source has the name {name}"


def main():
    if len(sys.argv) > 1:
        root, names = sys.argv[1], documents(sys.argv[1])
    else:
        listed = git("ls-files", "--cached", "--others", "--exclude-standard", "*.md")
        root, names = ROOT, [name for name in listed if os.path.exists(os.path.join(ROOT, name))]
    if not names:
        sys.exit(f"there is no document in {root}")
    failed = 0
    for document in sorted(set(names)):
        for target in lost(root, document):
            print(f"{document}: {target} leads nowhere")
            failed = 1
    symbols = symbols_of_sources() if root == ROOT else set()
    for document in sorted(filter(MANUAL.match, names)) if root == ROOT else []:
        for complaint in stale(document, symbols):
            print(f"{document}: {complaint}")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
