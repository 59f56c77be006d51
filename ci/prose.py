#!/usr/bin/env python3
"""Checks the language of comments, documents, messages and help texts (CODING_STYLE.md, "Words").

    ci/prose.py                    compares each folder's count with ci/prose.txt; a count may only fall
    ci/prose.py --update           lowers the counts in ci/prose.txt to those of today
    ci/prose.py --count PATH...    prints the number of findings in files and folders
    ci/prose.py --list PATH...     prints each finding: file, line, rule, text
    ci/prose.py --since COMMIT     prints the findings in lines that changed after a commit
    ci/prose.py --self-test        plants one breach of each rule and checks that each is found

Rules: the first word of a comment; words that point to nothing; at most 25 words a sentence; at most 110
columns a line; at most 120 characters a cell of a table. Exits with 1 when a count rose.
"""

import argparse
import ast
import io
import pathlib
import re
import subprocess
import sys
import tempfile
import tokenize

ROOT = pathlib.Path(__file__).resolve().parent.parent
RATCHET = ROOT / "ci" / "prose.txt"
COLUMNS_MAX = 110
WORDS_MAX = 25
CELL_MAX = 120

C_FILES = {".c", ".h", ".cl", ".cu", ".cpp", ".hpp"}
HASH_FILES = {".sh", ".cmake", ".py"}

OPENING = re.compile(
    r"(Of|What|Whether|Who|Whoever|Whose|Likewise|The same|Those|That which|Beside|Behind|By whom|Such)\b"
)
# Words that point to a thing without its name, and everyday words with a private meaning.
VAGUE = re.compile(
    r"""\b(?:
      whoever | nobody | somebody | likewise | sooner | beside | elsewhere
    | (?:is|are|was|were)\ told
    | those\ (?:that|of|which|who|whose|in|for)
    | (?:one|ones)\ that | the\ ones? | of\ them | as\ it\ is
    | what\ (?:it|that|they|is|a|an|the|was|has|comes|lies|stands)
    | the\ same\ (?:of|for|by|as|in|with|goes|holds)
    | (?:goes|come|comes)\ by | lies\ (?:beside|behind|apart) | stands?\ (?:behind|beside)
    | (?<!,\ )who\ (?!is\b)\w+
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)
ABBREVIATION = re.compile(r"\b(e\.g|i\.e|etc|cf|vs|Fig|no|approx)\.$")
CODE = re.compile(r"`[^`]*`|\bhttps?://\S+|<[^<>\s]+>|\[([^\]]*)\]\([^)]*\)")


def sentences(text):
    """Yields the sentences of a paragraph, code and links taken out."""
    text = CODE.sub(lambda match: match.group(1) or "Code", text)
    begin = 0
    for match in re.finditer(r"[.!?:](?=\s+[\"'(]?[A-Z0-9`*])|\n\s*\n|[;]\s", text):
        piece = text[begin : match.end()]
        if not ABBREVIATION.search(piece.rstrip()):
            yield piece
            begin = match.end()
    yield text[begin:]


def words(sentence):
    return re.findall(r"[A-Za-z][A-Za-z'-]+|[A-Za-z]\b", sentence)


def is_picture(line):
    """Tells drawings and code in a comment from sentences."""
    return bool(re.search(r"[|+]--|--[|+>]|─|│|└|->.*->|\s{4,}\S|^\s*[#$]|[{};]\s*$|==|&&|\w\(\w*\)", line))


class Findings:
    def __init__(self):
        self.rows = []

    def add(self, path, line, rule, text):
        self.rows.append((path, line, rule, " ".join(text.split())[:140]))

    def check(self, path, line, text, is_comment):
        """Checks one comment, paragraph or message that begins at a line."""
        lines = text.split("\n")
        kept = "\n".join("" if is_picture(row) else row for row in lines)
        stripped = kept.strip()
        if is_comment and OPENING.match(stripped):
            self.add(path, line, "opening", stripped)
        plain = re.sub(r"`[^`\n]*`", lambda match: "_" * len(match.group(0)), kept)
        for match in VAGUE.finditer(plain):
            at = line + kept.count("\n", 0, match.start())
            self.add(path, at, "vague: " + " ".join(match.group(0).split()),
                     kept[max(0, match.start() - 30) : match.end() + 40])
        offset = 0
        for sentence in sentences(kept):
            count = len(words(sentence))
            if count > WORDS_MAX:
                at = line + kept.count("\n", 0, kept.find(sentence.strip()[:30], offset))
                self.add(path, at, f"{count} words", sentence)
            offset += len(sentence) // 2


def c_texts(source):
    """Yields (line, text, is_comment) for comments and string literals of a C-like source."""
    pattern = re.compile(
        r"/\*(?P<block>.*?)\*/|(?P<line>//[^\n]*(?:\n[ \t]*//[^\n]*)*)|"
        r"(?P<string>\"(?:\\.|[^\"\\\n])*\"(?:\s*(?:[A-Z][A-Za-z0-9_]*\s*)?\"(?:\\.|[^\"\\\n])*\")*)|"
        r"'(?:\\.|[^'\\\n])*'",
        re.DOTALL,
    )
    for match in pattern.finditer(source):
        line = source.count("\n", 0, match.start()) + 1
        if match.group("block") is not None:
            yield line, re.sub(r"\n[ \t]*\* ?", "\n", match.group("block").strip("*!< ")), True
        elif match.group("line") is not None:
            yield line, re.sub(r"(?m)^[ \t]*/{2,}[!<]* ?", "", match.group("line")), True
        elif match.group("string") is not None:
            start = source.rfind("\n", 0, match.start()) + 1
            if source[start : match.start()].lstrip().startswith("#include"):
                continue
            text = "".join(re.findall(r"\"((?:\\.|[^\"\\\n])*)\"", match.group("string")))
            text = text.replace("\\n", "\n").replace('\\"', '"')
            if len(words(text)) >= 4:
                yield line, text, False


def python_texts(source):
    """Yields (line, text, is_comment) for comments and docstrings of a Python source."""
    block, first = [], 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            if block and token.start[0] == first + len(block):
                block.append(token.string.lstrip("#! "))
            else:
                if block:
                    yield first, "\n".join(block), True
                block, first = [token.string.lstrip("#! ")], token.start[0]
    if block:
        yield first, "\n".join(block), True
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(words(node.value)) >= 5:
            yield node.lineno, node.value, False


def hash_texts(source):
    """Yields comments of shell, CMake and Make sources; lines that follow each other are one comment."""
    block, first = [], 0
    for number, row in enumerate(source.split("\n"), 1):
        match = re.match(r"\s*#(?!!) ?(.*)", row)
        if match:
            first = first if block else number
            block.append(match.group(1))
        elif block:
            yield first, "\n".join(block), True
            block = []
    if block:
        yield first, "\n".join(block), True


def markdown_texts(source, findings, path):
    """Yields paragraphs and items of a document, and checks the cells of its tables."""
    fenced, block, first = False, [], 0
    for number, row in enumerate(source.split("\n") + [""], 1):
        if row.lstrip().startswith("```"):
            fenced = not fenced
            row = ""
        if fenced:
            row = ""
        is_table = row.lstrip().startswith("|")
        starts_item = bool(re.match(r"\s*([-*]|\d+\.)\s|#", row))
        if block and (not row.strip() or is_table or starts_item):
            yield first, "\n".join(block), False
            block = []
        if is_table:
            for cell in row.strip().strip("|").split("|"):
                if len(cell.strip()) > CELL_MAX:
                    findings.add(path, number, f"cell of {len(cell.strip())} characters", cell)
                elif len(words(cell)) >= 4:
                    yield number, cell, False
        elif row.strip():
            first = first if block else number
            block.append(re.sub(r"^\s*(#+|[-*]|\d+\.)\s+", "", row))


def check_file(path, findings):
    name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    source = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".md":
        texts = list(markdown_texts(source, findings, name))
    elif path.suffix == ".py":
        texts = list(python_texts(source))
    elif path.suffix in C_FILES or path.name.endswith(".h.in"):
        texts = list(c_texts(source))
    else:
        texts = list(hash_texts(source))
    for line, text, is_comment in texts:
        findings.check(name, line, text, is_comment)
    if path.suffix != ".md":
        for number, row in enumerate(source.split("\n"), 1):
            if len(row) > COLUMNS_MAX and "http" not in row:
                findings.add(name, number, f"{len(row)} columns", row)


def is_prose(path):
    suffixes = C_FILES | HASH_FILES | {".md"}
    return path.suffix in suffixes or path.name in ("Makefile", "CMakeLists.txt") or path.name.endswith(".h.in")


def files_below(paths):
    """Returns the tracked or new files with prose below files and folders."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--",
               *paths]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")
    found = (ROOT / name for name in sorted(set(listed)) if name)
    skipped = ("docs/lab/", "tests/data/", "bench/results/", "examples/data/", "ci/prose")
    return [f for f in found if f.is_file() and is_prose(f)
            and not str(f.relative_to(ROOT)).startswith(skipped)]


def findings_of(paths):
    findings = Findings()
    for path in files_below(paths):
        check_file(path, findings)
    return findings.rows


def changed_lines(commit):
    """Returns the numbers of the lines that changed after a commit, by file."""
    command = ["git", "-C", str(ROOT), "diff", "--unified=0", commit]
    diff = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines, name = {}, ""
    for row in diff.splitlines():
        hunk = re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", row)
        if row.startswith("+++ b/"):
            name = row[6:]
        elif hunk:
            first, count = int(hunk[1]), int(hunk[2] or 1)
            lines.setdefault(name, set()).update(range(first, first + count))
    return lines


def folder_of(name):
    """Returns the folder that a file counts for: two levels below src, one elsewhere."""
    parts = pathlib.PurePath(name).parts
    depth = 3 if parts[0] == "src" and len(parts) > 3 else 2 if parts[0] in ("src", "tests", "tools") else 1
    return "/".join(parts[: min(depth, len(parts) - 1)]) or "."


def counts_today():
    counts = {}
    for row in findings_of(["."]):
        folder = folder_of(row[0])
        counts[folder] = counts.get(folder, 0) + 1
    return counts


def read_ratchet():
    rows = (row.split() for row in RATCHET.read_text().splitlines() if row and not row.startswith("#"))
    return {folder: int(count) for folder, count in rows}


def write_ratchet(counts):
    head = "# Findings of ci/prose.py by folder. A count may only fall: ci/prose.py --update\n"
    RATCHET.write_text(head + "".join(f"{folder} {counts[folder]}\n" for folder in sorted(counts)))


def compare():
    today, allowed, failed = counts_today(), read_ratchet(), False
    for folder in sorted(today):
        if today[folder] > allowed.get(folder, 0):
            failed = True
            print(f"{folder}: {today[folder]} findings, {allowed.get(folder, 0)} allowed: "
                  f"ci/prose.py --list {folder}")
    fallen = sum(allowed.values()) - sum(today.values())
    if not failed:
        print(f"prose: {sum(today.values())} findings"
              + (f", {fallen} fewer than recorded: ci/prose.py --update" if fallen > 0 else ""))
    return 1 if failed else 0


def self_test():
    samples = {
        ".c": [
            ("opening", "/* Of threads the first one. */\nint x;\n"),
            ("vague", "/* Returns those that are held. */\nint x;\n"),
            ("words", "/* " + "word " * 26 + ". */\nint x;\n"),
            ("columns", "int x; " + "y" * 110 + "\n"),
            ("vague", 'const char *m = "it goes to whoever asks first";\n'),
            (None, "/* Returns the first thread. */\nint x; /* Number of threads. */\n"),
        ],
        ".md": [("cell", "| a | b |\n|---|---|\n| " + "long text " * 13 + "| c |\n"),
                ("words", "word " * 26 + "\n"), (None, "Plain.\n")],
        ".py": [("opening", "# What is read\nx = 1\n"), ("vague", 'x = "nobody reads the file here"\n')],
        ".sh": [("opening", "# Whether it runs\nx=1\n")],
    }
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for suffix, cases in samples.items():
            for number, (rule, text) in enumerate(cases):
                path = pathlib.Path(folder) / f"sample{number}{suffix}"
                path.write_text(text)
                findings = Findings()
                check_file(path, findings)
                rules = [row[2] for row in findings.rows]
                right = not rules if rule is None else any(rule in found for found in rules)
                if not right:
                    failed += 1
                    print(f"self-test: {suffix} sample {number}: wanted {rule}, found {rules}")
    print("self-test: " + ("passed" if not failed else f"{failed} failed"))
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--count", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--since", metavar="COMMIT")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("paths", nargs="*")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    if arguments.count or arguments.list:
        rows = findings_of(arguments.paths or ["."])
        if arguments.list:
            for path, line, rule, text in rows:
                print(f"{path}:{line}: {rule}: {text}")
        print(len(rows))
        return 0
    if arguments.since:
        lines = changed_lines(arguments.since)
        for path, line, rule, text in findings_of(list(lines) or ["."]):
            if line in lines.get(str(path), ()):
                print(f"{path}:{line}: {rule}: {text}")
        return 0
    if arguments.update:
        today = counts_today()
        allowed = read_ratchet() if RATCHET.exists() else today
        write_ratchet({folder: min(today[folder], allowed.get(folder, today[folder])) for folder in today})
        return 0
    return compare()


if __name__ == "__main__":
    sys.exit(main())
