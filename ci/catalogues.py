#!/usr/bin/env python3
"""Holds the catalogues of translations in po/ complete, by GNU gettext's tools.

    ci/catalogues.py            fails if a message is missing, untranslated, fuzzy or obsolete in a catalogue,
                                or if conversions such as %s differ
    ci/catalogues.py --self-test
                                plants such faults and fails if one is not found
    ci/catalogues.py --update   writes po/tesela.pot and merges new messages into the catalogues

Messages of the library that people see in translated texts are listed in po/library.h; the sentences of its
sources are searched there. Exits with 77 if gettext is missing."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PO = ROOT / "po"
TOOL = "tools/tesela/"
# Sources with marked messages, and the functions whose argument is one.
C_SOURCES = [
    "course/*.[ch]",
    "lab/*.[ch]",
    "lab/detector/*.[ch]",
    "page/*.[ch]",
    "record/*.[ch]",
    "explore/report.c",
    "explain/cmd_explain.c",
]
C_WORDS = ["N_", "tsl_tr", "tsl_tr_count:1,2"]
LAB_WORDS = [*C_WORDS, "tsl_fail:2", "lab_fail_line:2"]
PAGE_WORDS = ["tr", "trCount:1,2"]
PAGE = TOOL + "page/page.html"
# Sources of the library whose sentences po/library.h lists: by clause, since they are composed.
LIBRARY = ["src/explain/cost_report.c", "src/judge/judge_real.c", "src/judge/judge_transpose.c"]
HEADER = '''# Messages of tesela. Written by ci/catalogues.py.
msgid ""
msgstr ""
"Project-Id-Version: tesela\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
'''


def call(*words, folder=ROOT, fails=False):
    result = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True)
    if result.returncode and not fails:
        sys.exit(f"{words[0]}: {result.stderr}")
    return result


def extract(folder):
    """Returns the template: all messages of the code, in the order of files."""
    common = ["--from-code=UTF-8", "--add-location=file", "--no-wrap", "-o", "-", "-k"]
    files = {
        pattern: sorted(str(path.relative_to(ROOT)) for path in (ROOT / TOOL).glob(pattern))
        for pattern in C_SOURCES
    }
    lab = [name for pattern, names in files.items() if pattern.startswith("lab/") for name in names]
    other = [name for names in files.values() for name in names if name not in lab] + ["po/library.h"]
    parts = []
    for names, words in ((other, C_WORDS), (lab, LAB_WORDS)):
        parts.append(call("xgettext", "-L", "C", *common, *(f"-k{word}" for word in words), *names).stdout)
    # The page's script alone, on the lines where it is in the page.
    text = (ROOT / PAGE).read_text()
    start = text.index("<script>\n") + len("<script>\n")
    script = "\n" * text[:start].count("\n") + text[start : text.rindex("</script>")]
    path = folder / PAGE
    path.parent.mkdir(parents=True)
    path.write_text(script)
    places = ("tr:1", "trCount:1", "trCount:2")
    flags = [f"--flag={place}:javascript-format" for place in places] + [f"-k{word}" for word in PAGE_WORDS]
    parts.append(
        call("xgettext", "-L", "JavaScript", *common, *flags, PAGE, folder=folder).stdout
    )
    names = []
    for i, part in enumerate(parts):
        names.append(folder / f"{i}.pot")
        names[-1].write_text(HEADER + "\n" + part.partition("\n\n")[2])
    return call("msgcat", "--no-wrap", "--sort-by-file", "--add-location=file", *names).stdout


def merge(catalogue, template):
    flags = ["--quiet", "--no-fuzzy-matching", "--no-wrap", "--add-location=file", "-o", "-"]
    return call("msgmerge", *flags, catalogue, template).stdout


def unlisted(path):
    """Returns the pieces of a library source's sentences that po/library.h lacks."""
    listed = re.sub(r'"\s*"|%[-.0-9]*\w', "", (PO / "library.h").read_text())
    text = re.sub(r"/\*.*?\*/", "", (ROOT / path).read_text(), flags=re.S)
    found = []
    for call_ in re.findall(r'tsl_text_add\((?:[^;"]|"(?:[^"\\]|\\.)*")*;', text):
        for literal in re.findall(r'"((?:[^"\\]|\\.)*)"', re.sub(r'"\s*\n\s*"', "", call_)):
            for piece in re.split(r"%[-.0-9]*l*[a-z]|%%|[;:,()]", literal):
                if re.search("[a-z]{3}", piece) and piece.strip() not in listed:
                    found.append(f"{path}: \"{piece.strip()}\" is missing in po/library.h")
    return found


def unlisted_ideas():
    """Returns the ideas and limits that po/library.h lacks."""
    listed, found = re.sub(r'"\s*"', "", (PO / "library.h").read_text()), []
    for path in sorted((ROOT / "src/strategy").glob("*/*/*/*.c")):
        for text in re.findall(r'\.(?:idea|lifts) =\s*((?:"(?:[^"\\]|\\.)*"\s*)+)', path.read_text()):
            message = re.sub(r'"\s*"', "", text.strip())
            if f"N_({message})" not in listed:
                found.append(f"{path.relative_to(ROOT)}: {message} is missing in po/library.h")
    return found


def check(name, text, template, folder):
    """Returns the problems of one catalogue."""
    path, problems = folder / "checked.po", []
    path.write_text(text)
    if text != merge(path, template):
        problems.append(f"{name}: messages are missing or obsolete: run ci/catalogues.py --update")
    flags = ["--check-format", "--check-header", "--check-domain", "--statistics", "-o", "/dev/null"]
    checked = call("msgfmt", *flags, path, fails=True)
    if checked.returncode or re.search("fuzzy|untranslated", checked.stderr):
        lines = [line for line in checked.stderr.splitlines() if "header field" not in line]
        problems.append(f"{name}: " + " ".join(lines))
    if "#~" in text:
        problems.append(f"{name}: it has obsolete messages")
    return problems


def self_test(text, template, folder):
    """Returns the planted faults of a catalogue that no check finds."""
    start = text.index('msgid "%s on %s"\nmsgstr "')
    end = text.index("\n", text.index("msgstr", start))
    block = text[start:end]
    faults = {
        "an untranslated message": text.replace(block, 'msgid "%s on %s"\nmsgstr ""'),
        "another conversion": text.replace(block, 'msgid "%s on %s"\nmsgstr "%s %d"'),
        "a lost conversion": text.replace(block, 'msgid "%s on %s"\nmsgstr "%s"'),
        "a fuzzy message": text.replace("#, c-format\n" + block, "#, fuzzy, c-format\n" + block),
        "a missing message": text.replace("#, c-format\n" + block + "\n\n", ""),
        "an obsolete message": text + '\n#~ msgid "gone"\n#~ msgstr "weg"\n',
        "a message that the code lacks": text + '\nmsgid "gone"\nmsgstr "weg"\n',
    }
    return [
        fault
        for fault, planted in faults.items()
        if planted == text or not check(fault, planted, template, folder)
    ]


def main():
    if not shutil.which("xgettext") or not shutil.which("msgfmt"):
        print("gettext is missing (ci/setup.sh style installs it)")
        return 77
    problems = [line for path in LIBRARY for line in unlisted(path)] + unlisted_ideas()
    catalogues = sorted(PO.glob("*.po"))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        template = folder / "tesela.pot"
        template.write_text(extract(folder))
        if "--self-test" in sys.argv:
            missed = self_test(catalogues[0].read_text(), template, folder)
            print("\n".join(f"not found: {fault}" for fault in missed))
            return 1 if missed else 0
        if "--update" in sys.argv:
            shutil.copy(template, PO / "tesela.pot")
            for path in catalogues:
                path.write_text(merge(path, template))
        elif template.read_text() != (PO / "tesela.pot").read_text():
            problems.append("po/tesela.pot is not the code's: run ci/catalogues.py --update")
        for path in catalogues:
            problems += check(path.relative_to(ROOT), path.read_text(), template, folder)
    print("\n".join(problems) if problems else f"{len(catalogues)} catalogues are complete")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
