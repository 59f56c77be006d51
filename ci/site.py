#!/usr/bin/env python3
"""Builds the manual as a web site in build/site/html: make site. Needs build/docs/html (make docs) and PyPI.

Copies the pages into build/site/pages, as an installation has them, so that links to sources become text.
Appends the pages of docs/lab to the navigation of mkdocs.yml, writes llms.txt, and runs mkdocs with `strict`.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SITE = ROOT / "build" / "site"
PAGES = SITE / "pages"
LOOSE = ["README.md", "SECURITY.md", "CONTRIBUTING.md", "CODING_STYLE.md", "RELEASING.md", "bench/README.md",
         "packaging/README.md"]


def copy_pages():
    """Copies the documents, mends links to files that are not pages, and adds the C reference."""
    shutil.rmtree(PAGES, ignore_errors=True)
    files = [path for kind in ("md", "svg", "css") for path in (ROOT / "docs").rglob(f"*.{kind}")]
    names = LOOSE + [str(path.relative_to(ROOT)) for path in files]
    for name in names:
        (PAGES / name).parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / name).read_text(encoding="utf-8")
        # ci/document_outputs.py marks blocks whose numbers may differ; mkdocs knows no such mark.
        (PAGES / name).write_text(text.replace("```console figures", "```console"), encoding="utf-8")
    settings = [f"-DTESELA_SOURCE={ROOT}", f"-DTESELA_DOCUMENTS={PAGES}"]
    settings += ["-DTESELA_HEADERS=none", "-DCMAKE_INSTALL_PREFIX=/"]
    subprocess.run(["cmake", *settings, "-P", str(ROOT / "cmake" / "documents.cmake")], check=True)
    reference = ROOT / "build" / "docs" / "html"
    if not (reference / "index.html").is_file():
        sys.exit("ci/site.py: build/docs/html is missing: make docs")
    shutil.copytree(reference, PAGES / "reference")


def title_and_summary(name):
    """Returns a page's heading and its first sentence."""
    text = (PAGES / name).read_text(encoding="utf-8")
    title = re.search(r"^# (.*)$", text, re.M)[1]
    body = text[text.index(title) + len(title) :].strip()
    sentence = re.split(r"(?<=\.)\s", " ".join(body.split("\n\n")[0].split()))[0]
    return title, sentence.replace("**", "")


def configuration():
    """Returns mkdocs.yml with the lab pages in its navigation and with its folders."""
    lab = sorted(path.relative_to(PAGES).as_posix() for path in (PAGES / "docs" / "lab").rglob("*.md"))
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    folders = f"docs_dir: {PAGES}\nsite_dir: {SITE / 'html'}\n"
    return folders + text + "".join(f"      - {name}\n" for name in lab)


def write_overview(text):
    """Writes llms.txt: the pages in their reading order, each with its first sentence."""
    title, summary = title_and_summary("README.md")
    lines = [f"# {title}", "", f"> {summary}", ""]
    for row in text[text.index("nav:") :].splitlines():
        section, page = re.match(r"  - (\w+):$", row), re.match(r"      - (\S+\.md)$", row)
        if section:
            lines += [f"## {section[1]}", ""] if lines[-1] == "" else ["", f"## {section[1]}", ""]
        elif page:
            title, summary = title_and_summary(page[1])
            target = page[1].replace("README.md", "index.md").replace(".md", ".html")
            lines.append(f"- [{title}]({target}): {summary}")
    (PAGES / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def environment():
    """Returns the folder with mkdocs, which pip fills from PyPI at the first run."""
    folder, wanted = SITE / "venv", (ROOT / "docs" / "requirements.txt").read_text(encoding="utf-8")
    done = folder / "requirements.txt"
    if not done.is_file() or done.read_text(encoding="utf-8") != wanted:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        pip = [str(folder / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "-r", str(ROOT / "docs" / "requirements.txt")], check=True)
        done.write_text(wanted, encoding="utf-8")
    return folder / "bin"


def main():
    copy_pages()
    text = configuration()
    (SITE / "mkdocs.yml").write_text(text, encoding="utf-8")
    write_overview(text)
    # Material prints an advertisement unless this variable is set.
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = [str(environment() / "mkdocs"), "build", "--quiet", "-f", str(SITE / "mkdocs.yml")]
    subprocess.run(command, check=True, env=quiet)
    for page in (SITE / "html").rglob("*.html"):
        if re.search(r"<p>(```|\|)", page.read_text(encoding="utf-8")):
            sys.exit(f"ci/site.py: {page} shows a block of code or a table as text")
    print("build/site/html/index.html")


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"ci/site.py: this failed: {' '.join(error.cmd)}")
