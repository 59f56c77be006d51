#!/usr/bin/env python3
"""Checks that the calls between files of the library and the tool form no circle.

Reads the objects of a build by nm. A source with its header is a node; each symbol that one node defines and
another uses is an arrow. --self-test compiles a few files with a circle and looks for it.

    ci/symbol_graph.py [--build build/release]
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# CMake targets whose objects are examined together.
TARGETS = ("tesela_objects", "tesela_io", "tesela_blas", "tesela_cublas", "tesela_scalapack",
           "tesela_tool_objects", "tesela_tool")
DEFINES, USES = "TDBRCVWGS", "Uw"


def objects_of(build):
    """Yields (node, object) of the targets' sources that the build has at present."""
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        output = pathlib.Path(entry.get("output") or entry["command"].split(" -o ")[1].split()[0])
        target = next((part[: -len(".dir")] for part in output.parts if part.endswith(".dir")), None)
        if target not in TARGETS:
            continue
        file = (pathlib.Path(entry["directory"]) / entry["file"]).resolve()
        is_built = file.is_relative_to(build.resolve()) or not file.is_relative_to(ROOT)
        folder = build.resolve() if is_built else ROOT
        found = output if output.is_absolute() else pathlib.Path(entry["directory"]) / output
        yield file.relative_to(folder).with_suffix("").as_posix(), found


def symbols_of(objects):
    """Returns the symbols that each node defines, and the symbols that it uses."""
    defined, used = {}, {}
    nodes = {str(file): node for node, file in objects}
    lines = subprocess.run(["nm", "-A", "-P", "-g", *nodes], check=True, capture_output=True,
                           text=True).stdout
    for line in lines.splitlines():
        file, symbol, kind = line.split()[:3]
        node = nodes[file.rstrip(":").removesuffix("[]")]
        if kind in DEFINES:
            defined.setdefault(symbol, node)
        elif kind in USES:
            used.setdefault(node, set()).add(symbol)
    return defined, used


def arrows_of(defined, used):
    """Returns, from node to node, the symbols that are used."""
    arrows = {}
    for node, symbols in used.items():
        for symbol in sorted(symbols):
            there = defined.get(symbol, node)
            if there != node:
                arrows.setdefault(node, {}).setdefault(there, []).append(symbol)
    return arrows


def circles_of(arrows):
    """Sets of nodes that reach each other (R. E. Tarjan, 1972), each sorted."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for there in arrows.get(node, {}):
            if there not in index:
                visit(there)
                low[node] = min(low[node], low[there])
            elif there in stack:
                low[node] = min(low[node], index[there])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    sys.setrecursionlimit(10000)
    for node in sorted(arrows):
        if node not in index:
            visit(node)
    return sorted(found)


def tell(circle, arrows):
    """Prints a circle with the symbols of its arrows, one a line."""
    print(f"a circle of {len(circle)}: {', '.join(circle)}")
    for node in circle:
        for there in circle:
            symbols = arrows.get(node, {}).get(there)
            if symbols:
                print(f"    {node} -> {there}: {', '.join(symbols[:4])}{' ...' if len(symbols) > 4 else ''}")


def check(build):
    arrows = arrows_of(*symbols_of(list(objects_of(build))))
    found = circles_of(arrows)
    for circle in found:
        tell(circle, arrows)
    return 1 if found else 0


def self_test():
    texts = {
        "one": "int two(void); int one(void) { return two(); }",
        "two": "int three(void); int two(void) { return three(); }",
        "three": "int one(void); int three(void) { return one(); }",
        "apart": "int one(void); int apart(void) { return one(); }",
    }
    with tempfile.TemporaryDirectory() as folder:
        objects = []
        for name, text in texts.items():
            file = pathlib.Path(folder) / f"{name}.c"
            file.write_text(text + "\n", encoding="utf-8")
            subprocess.run(["cc", "-c", file, "-o", file.with_suffix(".o")], check=True)
            objects.append((name, file.with_suffix(".o")))
        arrows = arrows_of(*symbols_of(objects))
    found = circles_of(arrows)
    right = found == [["one", "three", "two"]] and arrows["apart"] == {"one": ["one"]}
    print(f"self-test: {'found' if right else f'wrong: {found}'}")
    return 0 if right else 1


def main():
    parser = argparse.ArgumentParser(description="checks that calls between files form no circle")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--self-test", action="store_true", help="check that a planted circle is found")
    arguments = parser.parse_args()
    return self_test() if arguments.self_test else check(arguments.build)


if __name__ == "__main__":
    sys.exit(main())
