"""Functions of the tool for programs: explain, explore, trace, tune, check. Each runs `tesela ... --json`."""

from __future__ import annotations

import csv
import html
import json
import os
import pathlib
import signal
import subprocess
import tempfile
from typing import Any

import numpy

from . import _core

TOOL = pathlib.Path(__file__).parent / "bin" / "tesela"
# Seconds after which an interrupted tool is killed.
GRACE = 0.5
_SHORT = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "int8": "i8",
          "uint8": "u8", "int32": "i32", "complex64": "c64", "complex128": "c128", "float8_e4m3fn": "e4m3",
          "float8_e5m2": "e5m2"}


def _word(value) -> str:
    """Returns a value as the tool reads it: (m, n, k) as MxNxK, lists with commas, types by short names."""
    if isinstance(value, (list, set, frozenset)) or isinstance(value, numpy.ndarray):
        return ",".join(_word(item) for item in value)
    if isinstance(value, tuple):
        return "x".join(_word(item) for item in value)
    text = getattr(value, "__name__", None) or str(value)
    return ":".join(_SHORT.get(part, part) for part in text.split(":"))


def options_of(given: dict) -> list:
    """Returns `--a-name value` for each given keyword."""
    words = []
    for name, value in given.items():
        if value is None or value is False:
            continue
        words.append("--" + name.replace("_", "-"))
        if value is not True:
            words.append(_word(value))
    return words


def end(child: subprocess.Popen) -> None:
    """Interrupts the tool, which may still write its results; kills it if it does not end in time."""
    child.send_signal(signal.SIGINT)
    try:
        child.wait(GRACE)
    except subprocess.TimeoutExpired:
        child.kill()


def run(*words: str, wrong_is_told: bool = False, ends_badly: bool = False) -> str:
    """Returns the tool's output. A wrong result raises Error, unless wrong_is_told: the caller reports it.

    ends_badly: output of a tool that failed is returned, if there is any.
    """
    with subprocess.Popen([str(TOOL), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as child:
        try:
            output, errors = child.communicate()
        except KeyboardInterrupt:
            end(child)
            raise
    if child.returncode == 0 or (child.returncode == 1 and wrong_is_told) or (ends_badly and output):
        return output
    sentence = errors.strip() or f"tesela {words[0]} ended with {child.returncode}"
    raise ValueError(sentence) if child.returncode == 2 else _core.Error(sentence)


def run_with_page(*words: str, **told: bool) -> tuple[dict, str]:
    """Returns the tool's JSON and the page that it wrote; keywords as in `run`."""
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.html"
        data = json.loads(run(*words, "--html", str(page), "--json", **told))
        return data, page.read_text().replace(str(page), page.name)


def _write_csv(path, rows: list) -> None:
    """Writes the members of rows that are no lists and no objects."""
    names = list(dict.fromkeys(name for row in rows for name, value in row.items()
                               if not isinstance(value, (dict, list))))
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, names, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


class Report:
    """Report of the tool, as data.

    Attributes
    ----------
    data : dict
        The tool's JSON (docs/JSON.md); ``report[key]`` is ``report.data[key]``.
    """

    _rows = "entries"

    def __init__(self, data: dict, text: str | None = None):
        self.data, self._text = data, text

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def keys(self):
        """Returns the names of the report's members."""
        return self.data.keys()

    def _verdict(self) -> str:
        """Returns a few words for the report's short form."""
        best = self.data.get("best")
        return f"best is {best}, " if best else ""

    def __repr__(self) -> str:
        count = len(self.data.get(self._rows) or ())
        return f"<tesela {self.data.get('command', 'report')}: {self._verdict()}{count} {self._rows}>"

    def to_pandas(self):
        """Returns the rows as a `pandas.DataFrame`.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        import pandas
        return pandas.json_normalize(self.data[self._rows])

    def save(self, path) -> None:
        """Writes a file: .json has everything, .csv the rows.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        ValueError
            The file name has another ending.
        """
        path = pathlib.Path(path)
        writers = self._writers()
        if path.suffix not in writers:
            raise ValueError(f"{path}: the name must end in {', '.join(writers)}")
        partial = path.with_name(path.name + ".part")
        writers[path.suffix](partial)
        os.replace(partial, path)

    def _writers(self) -> dict:
        return {".json": self._save_json, ".csv": self._save_csv}

    def _save_json(self, path) -> None:
        path.write_text(json.dumps(self.data, indent=2) + "\n")

    def _save_csv(self, path) -> None:
        _write_csv(path, self.data[self._rows])


class Explanation(Report):
    """Explanation of the chosen plan and of the refused ones. Its text is the output of `tesela explain`."""

    _rows = "candidates"

    @property
    def plan(self) -> str:
        """The plan as one line."""
        return self.data["plan"]

    @property
    def seconds(self) -> float:
        """Expected seconds of a run."""
        return self.data["predicted_seconds"]

    @property
    def error_bound(self) -> float:
        """Error bound, as in `Info`."""
        return self.data["error_bound"]

    def _verdict(self) -> str:
        if not self.plan:
            return "nothing can run it, "
        return (f"{self.plan}, expected to take {self.seconds:.3g} s, "
                f"its error at most {self.error_bound:.2g} times abs(a) abs(b), ")

    def __str__(self) -> str:
        return self._text


class Check(Report):
    """Result of a check. True if nothing was wrong and nothing failed."""

    _rows = "rows"

    def _verdict(self) -> str:
        return "all right, " if self else f"{self.data['wrong']} wrong, {self.data['failed']} failed, "

    def __bool__(self) -> bool:
        return self.data["wrong"] == 0 and self.data["failed"] == 0


class Paged(Report):
    """Report with a page, which a notebook displays."""

    def __init__(self, data: dict, page: str):
        super().__init__(data)
        self.page = page

    def _repr_html_(self) -> str:
        # A frame without the notebook's rights isolates the page's style and script from the notebook's.
        return (f'<iframe srcdoc="{html.escape(self.page)}" title="tesela {self.data.get("command", "")}" '
                'sandbox="allow-scripts" loading="lazy" '
                'style="width: 100%; height: 40rem; border: 1px solid #ccc"></iframe>')

    def __str__(self) -> str:
        text = self.page.partition("<pre")[2].partition(">")[2].partition("</pre>")[0]
        return html.unescape(text)

    def _writers(self) -> dict:
        return {".html": lambda path: path.write_text(self.page), **super()._writers()}


class Trace(Paged):
    """Trace of a work-group. A notebook displays it as a page that plays it, move by move."""

    _rows = "steps"

    def __repr__(self) -> str:
        return f"<tesela trace: {self.data['config']}, {len(self.data['steps'])} steps>"

    def events(self) -> list[dict[str, Any]]:
        """Returns the loads, stores and multiply-adds in their order.

        Returns
        -------
        events : list of dict
            Each has step, interval, event ("load", "store" or "add") and item. A load or store has array,
            row, column and line; an add has i, l and j: A(i, l) B(l, j) is added to the sum of C(i, j).
        """
        names = [array["name"] for array in self.data["arrays"]]
        rows = []
        for step, intervals in enumerate(self.data["steps"]):
            for interval, events in enumerate(intervals):
                for kind, item, *place in events:
                    row = {"step": step, "interval": interval, "event": kind, "item": item}
                    if kind == "add":
                        row.update(zip(("i", "l", "j"), place))
                    else:
                        row.update(zip(("array", "row", "column", "line"), [names[place[0]], *place[1:4]]))
                    rows.append(row)
        return rows

    def to_pandas(self):
        """Returns the events as a `pandas.DataFrame`.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        import pandas
        return pandas.DataFrame(self.events())

    def _save_csv(self, path) -> None:
        _write_csv(path, self.events())


class Exploration(Paged):
    """Measured rates. A notebook displays them with tables, curves and rooflines."""

    def _verdict(self) -> str:
        wrong = sum(entry["result"] == "wrong" for entry in self.data["entries"])
        return f"{wrong} wrong, " if wrong else "none wrong, "

    def plot(self, axes=None):
        """Draws rates against sizes, a curve for each strategy, type and device.

        Parameters
        ----------
        axes : matplotlib.axes.Axes, optional
            Axes to draw in. Default: axes of a new figure.

        Returns
        -------
        axes : matplotlib.axes.Axes

        Raises
        ------
        ImportError
            matplotlib is not installed.
        """
        import matplotlib.pyplot
        if axes is None:
            _, axes = matplotlib.pyplot.subplots(figsize=(8, 5), layout="constrained")
        unit, scale = ("flops_per_second", 1e9) if self.data["op"] == "gemm" else ("bytes_per_second", 1e9)
        curves: dict = {}
        for entry in self.data["entries"]:
            if entry["result"] == "right" and entry.get(unit):
                if self.data["op"] == "gemm":
                    size = (entry["m"] * (entry.get("n") or 1) * (entry.get("k") or 1)) ** (1 / 3)
                else:
                    size = entry.get("n") or entry["m"]
                points = curves.setdefault((entry["strategy"], entry["type"], entry["device"]), {})
                points[size] = max(points.get(size, 0), entry[unit] / scale)
        fastest_first = sorted(curves.items(), key=lambda item: -max(item[1].values()))
        for (strategy, kind, device), points in fastest_first:
            axes.plot(sorted(points), [points[size] for size in sorted(points)], marker="o", markersize=4,
                      label=f"{strategy}, {kind}, {device}")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xlabel("size: cube root of m n k" if self.data["op"] == "gemm" else "size")
        axes.set_ylabel("GFLOP/s" if self.data["op"] == "gemm" else "GB/s")
        axes.grid(True, which="major", alpha=0.3)
        if curves:
            axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
        return axes


def explain(m: int, n: int, k: int, *, type: Any = None, device: str | None = None,
            strategy: str | None = None, **options: Any) -> Explanation:
    """Explains which plan would run a product, its expected time, and why other plans would not run.

    Parameters
    ----------
    m, n, k : int
        C is m x n, A is m x k.
    type : type, optional
        Type of the elements; default float32.
    device, strategy : str, optional
    **options
        Further options of `tesela explain`, with underscores: ``transpose_a=True``.

    Returns
    -------
    explanation : Explanation
        `plan`, `seconds`, `error_bound`, `data`; its text is the tool's output.

    Raises
    ------
    ValueError
        The tool refuses an argument.
    """
    words = ["explain", str(m), str(n), str(k),
             *options_of({"type": type, "device": device, "strategy": strategy, **options})]
    return Explanation(json.loads(run(*words, "--json")), run(*words))


def tune(m: int, n: int, k: int, *, type: Any = None, device: str | None = None, strategy: Any = None,
         budget: float | str | None = None, **options: Any) -> Report:
    """Searches the fastest strategy and parameters of a product; stores them as wisdom for later processes.

    Parameters
    ----------
    m, n, k : int
    type : type, optional
        Default float32.
    device : str, optional
    strategy : str or list, optional
    budget : float, optional
        Seconds to search; default 60.
    **options
        Further options of `tesela tune`: ``dry_run=True``, ``points=20``.

    Returns
    -------
    report : Report
        ``report["best"]`` and more (docs/JSON.md). Existing plans of this process do not change; new plans
        use the wisdom.

    Raises
    ------
    ValueError, tesela.Error
    """
    words = options_of({"type": type, "device": device, "strategy": strategy, "budget": budget, **options})
    report = Report(json.loads(run("tune", str(m), str(n), str(k), *words, "--json")))
    _core.forget_context()
    return report


def check(*, strategy: Any = None, device: Any = None, type: Any = None, budget: float | str | None = None,
          **options: Any) -> Check:
    """Verifies strategies on devices, over standard and random products.

    Parameters
    ----------
    strategy, device, type : str or list, optional
        Default: all.
    budget : float, optional
        Seconds after which no further case is started.
    **options
        Further options of `tesela check`: ``cases=100``, ``seed=7``, ``peers=True``.

    Returns
    -------
    check : Check
        True if everything was right; ``check["faults"]`` lists the faults.

    Raises
    ------
    ValueError, tesela.Error
    """
    words = options_of({"strategy": strategy, "device": device, "type": type, "budget": budget, **options})
    return Check(json.loads(run("check", *words, "--json", wrong_is_told=True)))


def explore(*, sizes: Any = None, types: Any = None, devices: Any = None, strategies: Any = None,
            seconds: float | None = None, **options: Any) -> Exploration:
    """Measures strategies x devices x types x sizes, and verifies each result.

    Parameters
    ----------
    sizes : list, optional
        Sizes of squares, or tuples (m, n, k).
    types : list, optional
        Default float32 and float64.
    devices, strategies : list, optional
        Default: all.
    seconds : float, optional
        Maximum seconds of each measurement.
    **options
        Further options of `tesela explore`: ``peers=True``, ``op="dot"``, ``threads=1``.

    Returns
    -------
    exploration : Exploration
        Displayed by a notebook; `plot`, `to_pandas`, `save` ("page.html", ".json" or ".csv").

    Raises
    ------
    ValueError, tesela.Error
    """
    given = {"sizes": sizes, "types": types, "devices": devices, "strategies": strategies, "seconds": seconds,
             **options}
    given = {name: [value] if isinstance(value, tuple) else value for name, value in given.items()}
    return Exploration(*run_with_page("explore", *options_of(given), wrong_is_told=True))


def trace(*sizes: int, strategy: str, element: tuple[int, int] | None = None,
          group: tuple[int, int] | None = None, type: Any = None, **options: Any) -> Trace:
    """Records which work-item loads, multiplies and stores which element, while a rung's kernel runs.

    Parameters
    ----------
    *sizes : int
        m, n, k of a product; m, n of a transpose; the length of a dot product. At most 16 each.
    strategy : str
        The rung: "tile_local tile=4", "transpose tile_local tile=4", "dot block_tree group=8".
    element : tuple, optional
        Row and column of C: the trace is of its work-group, and the page follows its work-item.
    group : tuple, optional
        Row and column of the work-group; default (0, 0).
    type : type, optional
        float32 (default) or float64.
    **options
        Further options of `tesela explain --trace`: ``beta=1``.

    Returns
    -------
    trace : Trace
        Displayed by a notebook, where it plays; its text is the tool's drawing. `events`, `to_pandas`,
        `save` ("page.html", ".json" or ".csv"); `data` is documented in docs/JSON_TRACE.md.

    Raises
    ------
    ValueError
        The tool refuses an argument.
    tesela.Error
        The rung has no trace, or there is no C compiler.
    """
    given = {"strategy": strategy, "type": type, **options}
    for name, pair in (("element", element), ("group", group)):
        given[name] = None if pair is None else list(pair)
    words = [str(size) for size in sizes]
    return Trace(*run_with_page("explain", *words, "--trace", *options_of(given)))
