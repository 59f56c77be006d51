#!/usr/bin/env python3
"""Plants faults of one line each in a copy of the sources and counts the faults that the tests find.

  run.py --check          checks that every planted line occurs exactly once in its file
  run.py [PATTERN...]     runs the mutants whose list or name matches a pattern (wildcards), or all; the
                          environment variable MUTANTS may hold patterns too

The lists tests/mutants/[a-z]*.txt hold two lines for each mutant:

  @ NAME FILE TEST...
  the whole line of the file, with <<<ORIGINAL ==> FAULTY>>> around the part that changes

A TEST is a name of CTest, or NAME:PATTERN for the test functions that match the pattern (--filter;
pytest's -k for python_package). The part is an expression, or a statement with its semicolon. FILE#2/3 is the
second of three equal lines. All mutants of C, C++ and Python are in one build: the environment variable
TESELA_MUTANT enables a single mutant. The mutants of kernels.txt change the text of a kernel, which the
library reads from a scratch folder (TESELA_KERNEL_DIR).
A mutant is caught when one of its tests fails or takes too long. The exit status is 1 if fewer than 95% are
caught.
"""

import fnmatch
import json
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import zlib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SCRATCH = ROOT / "build" / "mutants"
SOURCE = SCRATCH / "source"
# As deep as the release preset's build: a compiler cache knows the files without a mutant.
BUILD = SOURCE / "build" / "release"
LEAST_SCORE = 95
KERNELS = "kernels"


class Mutant:
    def __init__(self, room, name, file, tests, line):
        self.room, self.name, self.tests = room, name, tests
        self.file, _, place = file.partition("#")  # FILE#2/3: of three lines that are alike, the second
        self.place, self.alike = map(int, (place or "1/1").split("/"))
        self.number = zlib.crc32(f"{room}/{name}".encode()) & 0x7FFFFFFF
        parts = re.fullmatch(r"(.*?)<<<(.*?) ==> (.*?)>>>(.*)", line)
        if not parts:
            raise SystemExit(f"{room}/{name}: the line has no <<<ORIGINAL ==> FAULTY>>>: {line}")
        before, self.original, self.faulty, after = parts.groups()
        self.line = before + self.original + after
        self.begin = len(before)
        self.end = self.begin + len(self.original)

    def label(self):
        return f"{self.room}/{self.name}"

    def mutated_line(self):
        return self.line[: self.begin] + self.faulty + self.line[self.end :]

    def switched(self, original):
        """Returns the text with both forms; `original` may hold switches of other mutants already."""
        if self.file.endswith(".py"):
            chosen = f'__import__("os").environ.get("TESELA_MUTANT") == "{self.number}"'
            return f"(({self.faulty}) if {chosen} else ({original}))"
        if self.original.endswith(";"):
            return f"{{ if (TSL_MUTANT({self.number})) {{ {self.faulty} }} else {{ {original} }} }}"
        return f"(TSL_MUTANT({self.number}) ? ({self.faulty}) : ({original}))"


def read_lists():
    mutants = []
    for path in sorted(HERE.glob("[a-z]*.txt")):
        head = None
        for number, line in enumerate(path.read_text().splitlines(), 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            if line.startswith("@ "):
                head = line.split()[1:]
                if len(head) < 3:
                    raise SystemExit(f"{path.name}:{number}: expected @ NAME FILE TEST...")
            elif head:
                mutants.append(Mutant(path.stem, head[0], head[1], head[2:], line))
                head = None
            else:
                raise SystemExit(f"{path.name}:{number}: a line without @ NAME FILE TEST... before it")
    numbers = {}
    for mutant in mutants:
        if mutant.number in numbers:
            raise SystemExit(f"{mutant.label()} and {numbers[mutant.number]} have one number: rename one")
        numbers[mutant.number] = mutant.label()
    return mutants


def find_line(lines, mutant):
    found = [i for i, line in enumerate(lines) if line.strip() == mutant.line]
    if len(found) == mutant.alike:
        return found[mutant.place - 1]
    return f"{mutant.label()}: {len(found)} lines of {mutant.file}, not {mutant.alike}, are: {mutant.line}"


def check(mutants):
    stale = []
    for mutant in mutants:
        path = ROOT / mutant.file
        if not path.exists():
            stale.append(f"{mutant.label()}: there is no {mutant.file}")
            continue
        found = find_line(path.read_text().splitlines(), mutant)
        if isinstance(found, str):
            stale.append(found)
    for message in stale:
        print(f"{message}\n  write the line of today into tests/mutants/{message.split('/')[0]}.txt",
              file=sys.stderr)
    print(f"mutants: {len(mutants) - len(stale)} of {len(mutants)} planted lines are where the "
          "lists have them")
    return 1 if stale else 0


def replace(path, text):
    """Writes a file only where its text changes, so that little is built again."""
    if not path.exists() or path.read_bytes() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)


def rewrite(text, mutants):
    lines = text.splitlines()
    at = {}
    for mutant in mutants:
        found = find_line(lines, mutant)
        if isinstance(found, str):
            raise SystemExit(found)
        at.setdefault(found, {}).setdefault((mutant.begin, mutant.end), []).append(mutant)
    for number, parts in at.items():
        line = lines[number].strip()
        indent = lines[number][: len(lines[number]) - len(lines[number].lstrip())]
        end = len(line) + 1
        for begin, stop in sorted(parts, reverse=True):
            if stop > end:
                raise SystemExit(f"{parts[begin, stop][0].label()}: overlaps with another mutant of its line")
            piece = line[begin:stop]
            for mutant in parts[begin, stop]:
                piece = mutant.switched(piece)
            line = line[:begin] + piece + line[stop:]
            end = begin
        lines[number] = indent + line
    return "\n".join(lines) + "\n"


def make_copy(mutants):
    """Copies the sources, with a switch in place of each planted line."""
    by_file = {}
    for mutant in mutants:
        if mutant.room != KERNELS:
            by_file.setdefault(mutant.file, []).append(mutant)
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            check=True, capture_output=True).stdout.split(b"\0")
    names = sorted({os.fsdecode(name) for name in listed if name})
    include = f'#include "{HERE / "switch.h"}"\n'
    for name in names:
        path = ROOT / name
        if not path.is_file():
            continue
        text = path.read_bytes()
        here = by_file.get(name, [])
        if here:
            text = (("" if name.endswith(".py") else include) + rewrite(text.decode(), here)).encode()
        replace(SOURCE / name, text)
        shutil.copymode(path, SOURCE / name)
    kept = set(names)
    for path in [p for p in SOURCE.rglob("*") if p.is_file() and SOURCE / "build" not in p.parents]:
        if str(path.relative_to(SOURCE)) not in kept:
            path.unlink()


def build_outputs(tests):
    """Returns the outputs of the build that the tests need, by the files that CMake made for CTest."""
    outputs = set()
    found = set()
    for path in BUILD.rglob("CTestTestfile.cmake"):
        for line in path.read_text().splitlines():
            match = re.match(r'(?:add_test|set_tests_properties)\((?:\[=*\[)?"?([A-Za-z0-9_.-]+)', line)
            if match and match.group(1) in tests:
                found.add(match.group(1))
                outputs.update(re.findall(re.escape(str(BUILD)) + r'/((?:bin|lib)/[A-Za-z0-9_.-]+)', line))
    missing = sorted(set(tests) - found)
    if missing:
        raise SystemExit(f"CTest has no test {', '.join(missing)}")
    return outputs


def build(tests):
    configure = ["cmake", "-S", str(SOURCE), "-B", str(BUILD), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                 "-DTESELA_TESTS=ON"]
    log = SCRATCH / "build.log"
    with log.open("w") as out:
        if subprocess.run(configure, stdout=out, stderr=out).returncode:
            raise SystemExit(f"the copy cannot be configured: {log}")
        known = subprocess.run(["ninja", "-C", str(BUILD), "-t", "targets", "all"], capture_output=True,
                               text=True)
        targets = {line.split(":")[0] for line in known.stdout.splitlines()}
        wanted = sorted(output for output in build_outputs(tests) if output in targets)
        wanted.append("tesela")  # which some tests take from the folder of libraries
        if any(name.startswith("python_") for name in tests):
            wanted.append("tesela_tool")
        command = ["cmake", "--build", str(BUILD), "--parallel", str(max(2, os.cpu_count() or 2)), "--target",
                   *wanted, "--", "-k0"]
        if subprocess.run(command, stdout=out, stderr=out).returncode:
            raise SystemExit(f"the copy cannot be built: {log}\n{log.read_text()[-3000:]}")


def known_tests():
    answer = subprocess.run(["ctest", "--show-only=json-v1"], cwd=BUILD, check=True, capture_output=True,
                            text=True)
    return {test["name"]: test for test in json.loads(answer.stdout)["tests"]}


class Runner:
    def __init__(self, tests):
        self.tests = tests
        self.seconds = {}
        self.failed = {}

    def run(self, word, environment, limit):
        """Runs a test. Returns its exit status (None: it exceeded the limit), its seconds and its output."""
        name, _, pattern = word.partition(":")
        test = self.tests[name]
        properties = {p["name"]: p["value"] for p in test["properties"]}
        variables = dict(os.environ)
        for setting in properties.get("ENVIRONMENT", []):
            key, _, value = setting.partition("=")
            variables[key] = value
        variables.update(environment)
        command = test["command"]
        if pattern and name == "python_package":
            command = [*command, "-x", "-k", pattern]
        elif pattern:
            command = [*command, "--filter", pattern]
        start = time.monotonic()
        process = subprocess.Popen(command, cwd=properties.get("WORKING_DIRECTORY", BUILD), env=variables,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        try:
            output = process.communicate(timeout=limit)[0]
            status = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output = process.communicate()[0]
            status = None
        return status, time.monotonic() - start, output.decode(errors="replace")

    def baseline(self, word, environment):
        status, seconds, output = self.run(word, environment, 600)
        self.seconds[word] = seconds
        if status == 0:
            print(f"{word}: right without a mutant, {seconds:.1f} s", flush=True)
            return
        self.failed[word] = "is skipped here" if status == 77 else f"fails without a mutant ({status})"
        print(f"{word}: {self.failed[word]}\n{output[-1500:]}", flush=True)

    def is_caught(self, mutant, environment):
        """Returns the test that caught a mutant, '' if none did, None if no test of the mutant can run."""
        usable = [word for word in mutant.tests if word not in self.failed]
        for word in usable:
            limit = 20 + 10 * self.seconds[word]
            status, seconds, _ = self.run(word, environment, limit)
            if status is None:
                return f"{word} (no end in {limit:.0f} s)"
            if status not in (0, 77):
                return word
        return "" if usable else None


class Slot:
    """One of the runs at a time: a folder for compiled kernels and one with the texts of kernels."""

    def __init__(self, number):
        self.folder = SCRATCH / f"slot_{number}"
        self.texts = self.folder / "texts"
        shutil.rmtree(self.texts, ignore_errors=True)
        for suffix in ("*.cl", "*.h", "*.cu", "*.cuh"):
            for path in (ROOT / "src").rglob(suffix):
                to = self.texts / path.relative_to(ROOT)
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, to)

    def environment(self, mutant):
        # Tests in their long forms.
        variables = {"TESELA_LONG_TESTS": "1",
                     "TESELA_CACHE_DIR": str(self.folder / "cache"),
                     "POCL_CACHE_DIR": str(self.folder / "pocl")}
        if mutant:
            variables["TESELA_MUTANT"] = str(mutant.number)
        if mutant and mutant.room == KERNELS:
            variables["TESELA_KERNEL_DIR"] = str(self.texts)
        return variables

    def patch(self, mutant):
        lines = (ROOT / mutant.file).read_text().splitlines()
        lines[find_line(lines, mutant)] = mutant.mutated_line()
        (self.texts / mutant.file).write_text("\n".join(lines) + "\n")

    def restore(self, mutant):
        shutil.copyfile(ROOT / mutant.file, self.texts / mutant.file)


def in_slots(jobs, work):
    """Calls work(slot, job) for all jobs, two at a time."""
    waiting = queue.Queue()
    for job in jobs:
        waiting.put(job)

    def serve(number):
        slot = Slot(number)
        while True:
            try:
                job = waiting.get_nowait()
            except queue.Empty:
                return
            work(slot, job)

    threads = [threading.Thread(target=serve, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main(arguments):
    mutants = read_lists()
    if arguments == ["--check"]:
        return check(mutants)
    if check(mutants):
        return 1
    chosen = [m for m in mutants
              if not arguments or any(fnmatch.fnmatch(m.label(), a) or fnmatch.fnmatch(m.room, a) or
                                      fnmatch.fnmatch(m.name, a) for a in arguments)]
    if not chosen:
        raise SystemExit(f"no mutant matches {' '.join(arguments)}")
    make_copy(mutants)
    words = sorted({word for mutant in chosen for word in mutant.tests})
    names = {word.partition(":")[0] for word in words}
    start = time.monotonic()
    build(names)
    print(f"mutants: built in {time.monotonic() - start:.0f} s; {len(words)} tests without a mutant",
          flush=True)
    runner = Runner(known_tests())
    for name in sorted(names):
        properties = {p["name"]: p["value"] for p in runner.tests[name]["properties"]}
        required = properties.get("FIXTURES_REQUIRED", [])
        for other, test in runner.tests.items():
            setup = {p["name"]: p["value"] for p in test["properties"]}.get("FIXTURES_SETUP", [])
            if set(setup) & set(required) and other not in words:
                words.insert(0, other)
    for fixture in [word for word in words if word not in {w for m in chosen for w in m.tests}]:
        runner.baseline(fixture, {})
    runner.tests = known_tests()
    in_slots([word for word in words if word not in runner.seconds],
             lambda slot, word: runner.baseline(word, slot.environment(None)))

    results = {}
    lock = threading.Lock()

    def try_one(slot, mutant):
        kernel = mutant.room == KERNELS
        if kernel:
            slot.patch(mutant)
        caught = runner.is_caught(mutant, slot.environment(mutant))
        if kernel:
            slot.restore(mutant)
        with lock:
            results[mutant.label()] = caught
            if caught is None:
                text = "not run: none of its tests runs here"
            else:
                text = f"caught by {caught}" if caught else "SURVIVES"
            print(f"[{len(results)}/{len(chosen)}] {mutant.label()}: {text}", flush=True)

    in_slots(chosen, try_one)
    ran = {label: caught for label, caught in results.items() if caught is not None}
    survivors = sorted(label for label, caught in ran.items() if not caught)
    score = 100 * (len(ran) - len(survivors)) / len(ran) if ran else 0
    print(f"mutants: {len(ran) - len(survivors)} of {len(ran)} are caught ({score:.1f}%), "
          f"{len(results) - len(ran)} did not run, "
          f"{time.monotonic() - start:.0f} s")
    for label in survivors:
        mutant = next(m for m in chosen if m.label() == label)
        print(f"survives: {label}: {mutant.file}: {mutant.original} ==> {mutant.faulty}: "
              f"{' '.join(mutant.tests)}")
    return 0 if score >= LEAST_SCORE and not runner.failed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or os.environ.get("MUTANTS", "").split()))
