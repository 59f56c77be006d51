#!/usr/bin/env python3
"""Runs the commands of a document and compares their output with the document.

    ci/document_outputs.py docs/COURSES.md            prints the differences
    ci/document_outputs.py docs/COURSES.md --write    writes the present output into the document

It runs, in order and in one empty folder:

- blocks that begin with ```console: lines that begin with "$ " are commands; the lines below a command are
  lines of its output, in their order; "..." stands for lines that are left out;
- rows of tables with the columns "command" and "what came out": the text in backquotes in the first column is
  run; the text in backquotes in the second column is part of a line of its output.

Measured numbers may differ: times, rates, shares, all numbers with a point or a "~". The prefixes of their
units may differ, too. All else must be equal. In a block that begins with ```console figures, all numbers may
differ.
"""
import os
import re
import subprocess
import sys
import tempfile

UNIT = r"\s?(?:ns|us|ms|s|min|[kMGTP]?FLOP/s|[kMGT]?B/s|%)(?![\w/])"
NUMBER = r"~?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
MEASURED = re.compile(rf"{NUMBER}{UNIT}|~?\d+\.\d+(?:e[+-]?\d+)?|~\d+|\d+e[+-]?\d+")
FIGURE = re.compile(rf"{NUMBER}(?:{UNIT})?")
CODE = re.compile(r"`([^`]+)`")


def literally(text):
    """Returns a pattern for the text that accepts any blanks and any prefix of a unit of rates."""
    words = (re.escape(word) for word in re.split(r"\s+", text))
    return re.sub(r"[kMGTP](FLOP/s|B/s)", r"[kMGTP]?\1", r"\s+".join(words))


class Expected:
    """Part of a line of output, and its place in the document."""

    def __init__(self, line, text, figures=False):
        self.line, self.text, self.figures = line, text, figures

    def pattern(self):
        """Returns a pattern for the text that accepts any blanks, and any number for a measured number."""
        parts, end = [], 0
        for match in (FIGURE if self.figures else MEASURED).finditer(self.text):
            parts += [self.text[end : match.start()], None]
            end = match.end()
        parts.append(self.text[end:])
        number = rf"{NUMBER}(?:{UNIT})?"
        return re.compile("".join(number if part is None else literally(part) for part in parts))


def blocks_and_rows(lines):
    """Returns (line, command, expected output) in the document's order."""
    fence, figures, columns, steps = None, False, None, []
    for number, line in enumerate(lines):
        if line.startswith("```"):
            fence = None if fence is not None else line[3:].strip()
            figures = fence == "console figures"
        elif fence is not None:
            if not fence.startswith("console"):
                continue
            if line.startswith("$ "):
                steps.append((number, line[2:], []))
            elif line.strip() not in ("", "..."):
                steps[-1][2].append(Expected(number, line, figures))
        elif line.startswith("|"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if {"command", "what came out"} <= set(cells):
                columns = cells.index("command"), cells.index("what came out")
            elif columns and max(columns) < len(cells) and CODE.search(cells[columns[0]]):
                command = "; ".join(CODE.findall(cells[columns[0]]))
                steps.append((number, command,
                              [Expected(number, text) for text in CODE.findall(cells[columns[1]])]))
        else:
            columns = None
    return steps


def run(command, folder):
    done = subprocess.run(["bash", "-uo", "pipefail", "-c", command], cwd=folder, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          check=False)
    return done.returncode, done.stdout


def compare(step, output, lines):
    """Puts the command's output into `lines`; returns complaints about missing output."""
    complaints, printed, next_line = [], output.split("\n"), 0
    _, _, expected = step
    for one in expected:
        pattern = one.pattern()
        whole = lines[one.line].startswith("|")
        found = next(((index, match) for index, text in enumerate(printed) if (whole or index >= next_line)
                      for match in [pattern.search(text)] if match), None)
        if not found:
            complaints.append(f"line {one.line + 1}: it does not print: {one.text}")
            continue
        index, match = found
        if whole:
            lines[one.line] = lines[one.line].replace(f"`{one.text}`", f"`{' '.join(match[0].split())}`", 1)
        else:
            lines[one.line] = printed[index].rstrip()
            next_line = index + 1
    return complaints


def main():
    path, write = sys.argv[1], "--write" in sys.argv[2:]
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    steps = blocks_and_rows(lines)
    if not steps:
        sys.exit(f"{path} has no commands")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for step in steps:
            code, output = run(step[1], folder)
            complaints = compare(step, output, lines)
            if code:
                complaints.insert(0, f"line {step[0] + 1}: exit code {code}")
            if complaints:
                failed += 1
                print(f"{path}: {step[1]}\n" + "\n".join(complaints) + f"\nit prints:\n{output}",
                      file=sys.stderr)
    if write:
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
    print(f"{path}: {len(steps)} commands, {sum(len(step[2]) for step in steps)} lines of output, "
          f"{failed} that differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
