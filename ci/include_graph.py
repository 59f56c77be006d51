#!/usr/bin/env python3
"""Checks that includes point one way:

    core <- device <- host <- problem <- copy <- strategy <- plan <- judge <- planner <- dispatch
    dispatch <- tune <- explain <- api <- tools (every room above core may include dispatch/crossovers.h)
    core <- device <- host <- vector
    core <- interpose
    core, vector, dispatch, interpose <- blas (apart from the public header and api/fast_path.h)
    core, interpose <- cublas (apart from the public header and api/queue.h)
    core, interpose <- scalapack (apart from the public headers)
    core <- comm <- tools (apart from the public header and api's headers for structs that grow)
    core <- io <- tools

that no modules (a header with the .c of its name) form a circle, and that the tool computes by the public
header. A table names the rooms that its folders about the library itself may use.

Prints each breach with its file and line; exits with 1 when there is one.

--self-test plants breaches in a scratch tree and checks that each is found.
"""

import argparse
import pathlib
import re
import sys
import tempfile

# Rooms whose headers a room may include, apart from its own. All may include <tesela/...>.
FLOORS = ["core", "device", "host", "problem", "copy", "strategy", "plan", "judge", "planner",
          "dispatch", "tune", "explain", "api"]
MAY_INCLUDE = {room: set(FLOORS[: floor + 1]) for floor, room in enumerate(FLOORS)}
MAY_INCLUDE["io"] = {"core", "io"}
MAY_INCLUDE["vector"] = {"core", "device", "host", "vector"}
MAY_INCLUDE["interpose"] = {"core", "interpose"}
MAY_INCLUDE["blas"] = {"core", "vector", "dispatch", "interpose", "blas"}
MAY_INCLUDE["cublas"] = {"core", "interpose", "cublas"}
MAY_INCLUDE["scalapack"] = {"core", "interpose", "scalapack"}
MAY_INCLUDE["comm"] = {"core", "comm"}
MAY_INCLUDE["tools"] = {*FLOORS, "comm", "io", "tools"}

# Texts for devices' compilers: not C of the host, and not included by it.
KERNEL_TEXT = re.compile(r"src/(kernel/|device/[^/]+/include/)|.*\.(cl|cu)$")

# Data that every room above core may include.
CROSSOVERS = "src/dispatch/crossovers.h"

# The drop-in asks a context for its cpu, and on which device it would run a call.
PLACEMENT = {"src/api/fast_path.h"}
# Products of cuBLAS are queued without a buffer for each operand.
QUEUE = {"src/api/queue.h"}
# Headers that src/comm may include: products of several ranks are public calls, whose structs are passed with
# their sizes; and GPUs send to each other.
GROWING_STRUCTS = {"src/api/struct_abi.h", "src/api/device_p2p.h"}
# Grids of ranks need the speed of GPUs; their messages need units that kernels leave free.
GPU_LIMITS = {"src/device/device_rates.h", "src/device/reserved_units.h"}

# Rooms that every folder of the tool may use: texts, clocks, processes, files, messages between ranks, and
# words for problems.
TOOL_ROOMS = {"core", "io", "comm", "problem"}
# More rooms for folders whose subject is the library itself: no program needs calls for it. The folders that
# compute (cli, product) use no other room.
TOOL_FOLDERS = {
    # Lists devices, strategies, compiled kernels and wisdom.
    "inventory": {"device", "strategy", "planner", "tune"},
    # Prints a plan's costs and its candidates.
    "explain": {"api", "explain", "strategy"},
    # Compares results with a reference in higher precision.
    "check": {"api", "judge", "planner", "strategy"},
    # Measures candidates and writes wisdom.
    "tune": {"planner", "strategy", "tune"},
    # Measures strategies against each other, and compares predictions with measurements.
    "explore": {"explain", "planner", "tune"},
    # Runs explore's races for the teaching documents.
    "course": {"explain", "planner", "tune"},
    # Compiles, judges and times a kernel from outside of the library.
    "lab": {"device", "explain", "planner", "strategy", "tune"},
    # Lists the ideas of strategies.
    "page": {"strategy"},
}
TOOL_EXCEPTIONS = {
    # The keys of a plan's text, which the reference page lists.
    "tools/tesela/cli/help.c": {"src/plan/plan_text.h"},
    # The compiler of CUDA kernels, which needs no device.
    "tools/tesela/lab/lab_work.c": {"src/device/cuda/nvrtc.h"},
    # Clock and temperature of a device with a fault.
    "tools/tesela/check/cmd_check.c": {"src/device/device_clock.h"},
    # The text of a kernel, which runs compiled as C to be recorded.
    "tools/tesela/explain/recording.c": {"src/device/source.h"},
    # The form of a device's name, which is checked before there is a context.
    "tools/tesela/cli/options.c": {"src/device/devices.h"},
    "tools/tesela/cli/select.c": {"src/device/devices.h"},
}
# The product folder must not see these headers, not even through another header.
TOOL_COMPUTES = "tools/tesela/product/"
UNSEEN = re.compile(r"src/(api|explain|tune|planner|plan|dispatch|copy)/")

# Headers of one kind of device are its own.
DEVICE_KIND = re.compile(r"src/device/[^/]+/")

INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')


def room_of(path):
    """The room that a file (from the root, '/' between folders) belongs to; None for none."""
    parts = path.split("/")
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    return "tools" if parts[0] == "tools" else None


def tool_rooms(source):
    """The rooms whose headers a file of the tool may include."""
    return TOOL_ROOMS | {"tools"} | TOOL_FOLDERS.get(source.split("/")[2], set())


def find_target(root, source, quoted, name):
    """The file of the tree that an include means, from the root; None when it is no file of the tree."""
    beside = [pathlib.PurePosixPath(source).parent / name] if quoted else []
    folders = ["tools/tesela", "src"] if room_of(source) == "tools" else ["src"]
    for candidate in beside + [pathlib.PurePosixPath(folder) / name for folder in folders]:
        if (root / candidate).is_file():
            return (root / candidate).resolve().relative_to(root.resolve()).as_posix()
    return None


def complaint(root, source, quoted, name):
    """Returns the fault of an include, or None."""
    target = find_target(root, source, quoted, name)
    if target is None:
        return f'there is no "{name}"' if quoted and not name.startswith("tesela/") else None
    here, there = room_of(source), room_of(target)
    if KERNEL_TEXT.match(target):
        return f"{target} is kernel text, not for the host"
    if source.startswith("src/") and target != f"src/{name}":
        return f'"{name}" should be written from src/'
    if target == CROSSOVERS:
        return "the numbers are not for core" if here == "core" else None
    if there not in MAY_INCLUDE[here]:
        if here == "blas" and target in PLACEMENT:
            return None
        if here == "cublas" and target in QUEUE:
            return None
        if here == "comm" and target in GROWING_STRUCTS | GPU_LIMITS:
            return None
        return f"{here} includes {target}, but may only include {', '.join(sorted(MAY_INCLUDE[here]))}"
    if here == "tools" and there not in tool_rooms(source) and target not in TOOL_EXCEPTIONS.get(source, ()):
        return f"{target} is inside of the library: the tool computes by the public header"
    kind = DEVICE_KIND.match(target)
    if kind and not source.startswith(kind.group()) and target not in TOOL_EXCEPTIONS.get(source, ()):
        return f"{target} is private to {kind.group().rstrip('/')}"
    return None


def sources(root):
    """The C files and headers of the host, from the root."""
    files = [file for folder in ("src", "tools") for file in (root / folder).rglob("*")
             if file.suffix in (".c", ".h")]
    names = [file.relative_to(root).as_posix() for file in sorted(files)]
    return [name for name in names if not KERNEL_TEXT.match(name)]


def breaches(root):
    """Yields (file, line number, complaint)."""
    for source in sources(root):
        if room_of(source) not in MAY_INCLUDE:
            yield source, 1, "its room is not in the table of ci/include_graph.py"
            continue
        for number, line in enumerate((root / source).read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            wrong = match and complaint(root, source, match[1] == '"', match[2])
            if wrong:
                yield source, number, wrong


def includes(root):
    """Yields (file, line number, target) for the includes of the host's C files and headers."""
    for source in sources(root):
        for number, line in enumerate((root / source).read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            target = match and find_target(root, source, match[1] == '"', match[2])
            if target and not KERNEL_TEXT.match(target):
                yield source, number, target


def circles(root):
    """Yields (file, line number, complaint) for each include that closes a circle of modules."""
    module = {file: file.rsplit(".", 1)[0] for file in sources(root)}
    edges = {}
    for source, number, target in includes(root):
        if module[source] != module[target]:
            edges.setdefault(module[source], {}).setdefault(module[target], (source, number))
    done, way = set(), []

    def follow(at):
        if at in done:
            return
        if at in way:
            circle = way[way.index(at) :] + [at]
            yield *edges[circle[-2]][at], "a circle: " + " -> ".join(circle)
            return
        way.append(at)
        for there in sorted(edges.get(at, {})):
            yield from follow(there)
        way.pop()
        done.add(at)

    for start in sorted(edges):
        yield from follow(start)


def ways_inside(root):
    """Yields (file, line number, complaint) for includes of forbidden headers by the product folder."""
    targets = {}
    for source, number, target in includes(root):
        targets.setdefault(source, []).append((number, target))
    for source in sorted(targets):
        if not source.startswith(TOOL_COMPUTES):
            continue
        for number, first in targets[source]:
            way, seen = [first], {first}
            while way:
                at = way.pop()
                if UNSEEN.match(at):
                    yield source, number, f"{first} brings {at}: what multiplies files sees the public header"
                    break
                way += [there for _, there in targets.get(at, []) if there not in seen]
                seen.update(way)


def all_breaches(root):
    return list(breaches(root)) + list(circles(root)) + list(ways_inside(root))


def check(root):
    found = all_breaches(root)
    for source, number, wrong in found:
        print(f"{source}:{number}: {wrong}")
    return 1 if found else 0


# Files of the scratch tree: text, and its number of breaches.
PLANTED = {
    "src/core/text.h": ("#include <stddef.h>\n#include <tesela/tesela.h>\n", 0),
    "src/core/locale.h": ("#include <locale.h>\n", 0),
    "src/core/up.c": ('#include "core/text.h"\n#include "device/device.h"\n', 1),
    "src/core/hidden.c": ("#include <plan/plan.h>\n", 1),
    "src/device/device.h": ('#include "core/text.h"\n', 0),
    "src/device/cuda/cuda.h": ('#include "device/device.h"\n', 1),  # a circle with device.c
    "src/device/cuda/own.c": ('#include "device/cuda/cuda.h"\n', 0),
    "src/device/cuda/short.c": ('#include "cuda.h"\n', 1),
    "src/device/cuda/include/dialect_impl.h": ('#include "anything.h"\n', 0),
    "src/device/opencl/other.c": ('#include "device/cuda/cuda.h"\n', 1),
    "src/device/device.c": ('#include "device/cuda/cuda.h"\n', 1),
    "src/device/up.c": ('#  include "strategy/strategy.h"\n', 1),
    "src/host/host_view.h": ('#include "core/text.h"\n#include "device/device.h"\n', 0),
    "src/host/up.c": ('#include "host/host_view.h"\n#include "strategy/strategy.h"\n', 1),
    "src/strategy/gemm/split/kernels/tile.c": ('#include "host/host_view.h"\n', 0),
    "src/kernel/kernel_gemm.h": ('#include "dialect_impl.h"\n', 0),
    "src/strategy/strategy.h": ('#include "device/device.h"\n#include "lost.h"\n', 1),
    "src/strategy/kernel_launch/launch.c": ('#include "plan/plan.h"\n', 1),
    "src/strategy/gemm/split/split.c": ('#include "plan/plan.h"\n', 1),
    "src/strategy/gemm/split/more.c": ('#include "planner/planner.h"\n', 1),
    "src/strategy/gemm/split/text.c": ('#include "kernel/kernel_gemm.h"\n', 1),
    "src/strategy/gemm/split/split.cl": ('#include "gemm.h"\n', 0),
    "src/plan/plan_text.h": ('#include "strategy/strategy.h"\n', 0),
    "src/plan/plan.h": ('#include "strategy/strategy.h"\n', 0),
    "src/judge/check.h": ('#include "plan/plan.h"\n#include "planner/planner_wisdom.h"\n', 1),
    "src/planner/planner_wisdom.h": ('#include "judge/check.h"\n', 1),  # a circle
    "src/planner/planner.h": (
        '#include "judge/check.h"\n#include "api/context.h"\n#include "tune/race.h"\n', 3),
    "src/tune/race.h": ('#include "judge/check.h"\n', 0),
    "src/plan/files.c": ('#include "io/io.h"\n', 1),
    "src/api/context.h": ('#include "planner/planner.h"\n', 0),
    "src/io/io.h": ('#include "core/text.h"\n#include "device/device.h"\n', 1),
    "src/io/chain.c": ('#include "io/chain.h"\n#include "io/ring.h"\n', 0),
    "src/io/chain.h": ("#include <stddef.h>\n", 0),
    "src/io/ring.h": ('#include "io/chain.h"\n', 1),  # a circle with chain.c
    "src/vector/vector.h": ('#include "host/host_view.h"\n#include "strategy/strategy.h"\n', 1),
    "src/blas/blas.h": ('#include <tesela/tesela.h>\n#include "vector/vector.h"\n', 0),
    "src/blas/blas_route.c": ('#include "blas/blas.h"\n#include "core/text.h"\n#include "plan/plan.h"\n', 1),
    "src/scalapack/scalapack_gemm.c": ('#include "core/text.h"\n#include "comm/comm.h"\n', 1),
    "src/api/struct_abi.h": ("#include <stddef.h>\n", 0),
    "src/comm/comm_call.c": (
        '#include "api/struct_abi.h"\n#include "core/text.h"\n#include "api/context.h"\n', 1),
    "src/attic/old.c": ("int old;\n", 1),
    "tools/tesela/cli/main.c": ('#include "cli/tool.h"\n#include "io/io.h"\n#include "api/context.h"\n', 1),
    "tools/tesela/page/page.h": ('#include "cli/tool.h"\n#include "io/io.h"\n#include "page/lost.h"\n', 1),
    "tools/tesela/page/page.c": ('#include "page/page.h"\n#include "planner/planner.h"\n', 1),
    "tools/tesela/cli/help.c": ('#include "plan/plan_text.h"\n#include "plan/plan.h"\n', 1),
    "tools/tesela/inventory/wisdom.c": (
        '#include "planner/planner_wisdom.h"\n#include "judge/check.h"\n', 1),
    "tools/tesela/check/told.c": ('#include "check/told.h"\n#include "api/context.h"\n', 0),
    "tools/tesela/check/told.h": ('#include "core/text.h"\n#include "judge/check.h"\n', 0),
    "tools/tesela/product/run.c": ('#include "core/text.h"\n#include <tesela/tesela.h>\n', 0),
    # By way of told.h, too.
    "tools/tesela/product/plan.c": ('#include "check/told.h"\n#include "api/context.h"\n', 3),
    "tools/tesela/cli/tool.h": ('#include "device/cuda/cuda.h"\n', 1),
}


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, (text, _) in PLANTED.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        found = all_breaches(root)
    failures = 0
    for name, (_, expected) in PLANTED.items():
        seen = [wrong for source, _, wrong in found if source == name]
        if len(seen) != expected:
            failures += 1
            print(f"self-test: {name}: {len(seen)} breaches instead of {expected} {seen}")
    for source, number, _ in found:
        if source == "src/core/up.c" and number != 2:
            failures += 1
            print(f"self-test: {source}: line {number} instead of 2")
    print(f"self-test: {len(PLANTED)} files, {failures} failures")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description="checks that includes point one way")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--self-test", action="store_true", help="check that planted breaches are found")
    arguments = parser.parse_args()
    return self_test() if arguments.self_test else check(arguments.root)


if __name__ == "__main__":
    sys.exit(main())
