#!/usr/bin/env python3
"""Lists function parameters whose name says nothing: of, at, to, given, own, one, made (CODING_STYLE.md).

    ci/parameter_names.py [PATH...]     prints file:line, function and parameter; exits with 1 if there is any
    ci/parameter_names.py --self-test   plants parameters in samples and checks that exactly these are found

Reads the declarations and definitions of functions, function pointers included, in the .c, .h, .cl and .cu
files below src, include, tools, bench and tests. A macro's parameter counts where a function in the macro's
body has it as a parameter. Calls and casts do not count.
"""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src", "include", "tools", "bench", "tests")
SUFFIXES = {".c", ".h", ".cl", ".cu"}
NAMES = {"of", "at", "to", "given", "own", "one", "made"}
NAME = re.compile(r"\b(?:" + "|".join(sorted(NAMES)) + r")\b")
# Words that begin a statement or an expression: a name after them is called, not declared.
STATEMENTS = {"return", "else", "case", "goto", "sizeof", "if", "while", "for", "switch", "do"}

COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
DIRECTIVE = re.compile(r"(?m)^[ \t]*#[ \t]*(\w*)(?:[ \t]+\w+(?:\([^)\n]*\))?)?((?:[^\n]*\\\n)*[^\n]*)")
# Text that may stand before a function's name: a type, specifiers and attributes.
TYPE = re.compile(r"(?:[\w\s*&]|##|::|<[\w\s,*]*>)+")
ATTRIBUTE = re.compile(r"\b(?:alignas|_Alignas|__\w+)\s*\((?:[^()]|\([^()]*\))*\)")
RETURNS_POINTER = re.compile(r"\s\(\s*\*\s*(?=\w+\s*$)")
POINTER = re.compile(r"\(\s*(?:\*|const|restrict|\s)+(\w*)(?:\[\w*\])?\s*\)\s*$")
PARAMETER = re.compile(r"[\w*&>]\s*[*&\s]\s*(?:const\s+|restrict\s+)?\b(\w+)\s*(?:\[[^\]]*\]\s*)*$")


def blank(text):
    """Returns as many lines of spaces."""
    return re.sub(r"[^\n]", " ", text)


def code_of(source):
    """Returns the source without comments, texts and directives; of a macro, its body stays as statements."""
    source = COMMENT_OR_TEXT.sub(lambda match: blank(match.group(0)), source)

    def keep_body(match):
        begin = match.start(2) - match.start(0)
        whole = match.group(0)
        if match.group(1) != "define":
            return blank(whole)
        return blank(whole[: begin - 1]) + ";" + whole[begin:].replace("\\\n", " \n") + ";"

    return DIRECTIVE.sub(keep_body, source)


def closing(code, begin):
    """Returns the place of the bracket that closes the bracket at begin, or -1."""
    depth = 0
    for place in range(begin, len(code)):
        depth += {"(": 1, ")": -1}.get(code[place], 0)
        if depth == 0:
            return place
    return -1


def parameters_of(text):
    """Yields (offset, name) of each parameter in the text between a function's brackets."""
    depth, begin = 0, 0
    for place, letter in enumerate(text + ","):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parameter = text[begin:place]
            pointer = re.search(r"\w[\s*]*\(\s*\*\s*(?:const\s+)?(\w+)\s*\)\s*\(", parameter)
            match = pointer or PARAMETER.search(parameter.rstrip())
            if match:
                yield begin + match.start(1), match.group(1)
            begin = place + 1


def function_declared(before):
    """Returns by the text before a bracket which function or function pointer is declared there, if any."""
    head = re.split(r"[;{}]", before)[-1]
    pointer = POINTER.search(head)
    if pointer:
        # A function pointer may be a parameter: its type begins after a bracket or a comma.
        head = re.split(r"[(,]", head[: pointer.start()])[-1] + " pointer"
    head = ATTRIBUTE.sub("", re.sub(r"\btemplate\s*<[^;{}]*?>\s*(?=\w)", "", head)).strip()
    head = RETURNS_POINTER.sub(" ", head)
    words = re.findall(r"\w+", head)
    if not TYPE.fullmatch(head) or len(words) < 2 or STATEMENTS & set(words):
        return ""
    return pointer.group(1) or "pointer" if pointer else words[-1]


def findings_of(source):
    """Yields (line, function, parameter) of the names that a source should not have."""
    code = code_of(source)
    for match in re.finditer(r"\(", code):
        end = closing(code, match.start())
        text = code[match.end() : end]
        if end < 0 or text.lstrip().startswith("*") or not NAME.search(text):
            continue
        function = function_declared(code[max(0, match.start() - 2000) : match.start()])
        if function:
            for offset, name in parameters_of(text):
                if name in NAMES:
                    yield code.count("\n", 0, match.end() + offset) + 1, function, name


def files_below(paths):
    """Returns the tracked and the new source files below paths."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"]
    listed = subprocess.run([*command, *paths], check=True, capture_output=True, text=True).stdout
    found = (ROOT / name for name in sorted(set(listed.split("\0"))) if pathlib.Path(name).suffix in SUFFIXES)
    return [path for path in found if path.is_file()]


def self_test():
    samples = [
        ("static int f(const thing *of) { return 0; }", ["of"]),
        ("int f(int a, int at);\nlong *g(double to[3],\n  const char *const given);", ["at", "to", "given"]),
        ("struct s { status (*run)(void *state, int own); };", ["own"]),
        ("void f(void (*one)(int), void *made);", ["one", "made"]),
        ("void f(void (*visit)(void *, int made), int n);", ["made"]),
        ("#define DEFINE(type, of) \\\n  static void f_##type(type *of) { *of = 0; }\nint g(int a);", ["of"]),
        ("#define PICK(of, at) ((of)->list[at])\nint x;", []),
        ("template <int N> __global__ void __launch_bounds__(N) f(float *__restrict__ to) {}", ["to"]),
        ("static void (*routine(const type *of, const char *name))(void) { return 0; }", ["of"]),
        ("void g(int n) { const t *at = h(n); use(n * to); g(*f(n * of)); x = y * f(n * one); }", []),
        ("int g(int n) { return f(n * of, (char *)at); }", []),
        ('/* int f(int of); */ const char *text = "int f(int of)"; // int f(int at)', []),
        ("int f(int profile, const list *list, int to_end);", []),
        ("static thing *(*const own[N])(const list *list) = {0};", []),
        ("void g(void) { if (n) { (*run)(n * of); } else f(n * at); sizeof(n * to); }", []),
    ]
    failed = 0
    for source, wanted in samples:
        found = [name for _, _, name in findings_of(source)]
        if found != wanted:
            failed += 1
            print(f"self-test: wanted {wanted}, found {found}: {source}")
    print("self-test: " + ("passed" if not failed else f"{failed} failed"))
    return 1 if failed else 0


def main():
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("paths", nargs="*", default=FOLDERS)
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    count = 0
    for path in files_below(arguments.paths):
        for line, function, name in findings_of(path.read_text(encoding="utf-8", errors="replace")):
            print(f"{path.relative_to(ROOT)}:{line}: {function}: parameter {name}")
            count += 1
    if count:
        print(f"parameter names: {count}; use a noun of the parameter's type, such as list for a listing")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
