"""Kernels of one's own: judged, and timed among the strategies of the ladder (docs/LAB.md).

>>> import tesela
>>> kernel = tesela.lab.new("mine", language="c")      # doctest: +SKIP
>>> tesela.lab.run("mine")                              # doctest: +SKIP

A notebook displays a result as the page of `tesela lab run --html`.
"""

from __future__ import annotations

import html
import json
import os
import pathlib
import tempfile
from typing import Any

from ._tool import Paged, options_of, run as _run_tool, run_with_page

__all__ = ["Class", "Kernel", "Result", "grade", "new", "pack", "run"]


class Kernel:
    """Folder of a kernel, made by `new`.

    Attributes
    ----------
    folder, file, parameters : pathlib.Path
        The folder, its kernel file and its file of parameters. Change these two files, then call `run`.
    """

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.file = next(iter(sorted(folder.glob("kernel.*"))))
        self.parameters = folder / "parameters"

    def __fspath__(self) -> str:
        return str(self.folder)

    def __str__(self) -> str:
        return self.file.read_text()

    def __repr__(self) -> str:
        return f"<tesela.lab.Kernel {self.file}>"

    def _repr_html_(self) -> str:
        return f"<p><code>{html.escape(str(self.file))}</code></p><pre>{html.escape(str(self))}</pre>"


class Result(Paged):
    """Result of a kernel: its verdict, faults and rates. True if the kernel is right.

    Attributes
    ----------
    data : dict
        The tool's JSON (docs/LAB.md).
    page : str
        Page of the result.
    """

    _rows = "rates"

    @property
    def verdict(self) -> str:
        """The verdict: "right", "wrong", "broken" or "not run on a device"."""
        return self.data["verdict"]

    @property
    def faults(self) -> list[dict[str, Any]]:
        """The faults: each has kind, text, line and source."""
        return self.data["faults"]

    def _verdict(self) -> str:
        return f"{self.data['name']} is {self.verdict}, {len(self.faults)} faults, "

    def __bool__(self) -> bool:
        return self.verdict == "right"


class Class(Paged):
    """Ranking of a class, the fastest right kernel first.

    Attributes
    ----------
    data : dict
        ``data["kernels"]`` has the results in their order.
    page : str
        Page of the ranking.
    """

    _rows = "kernels"


def new(name: str | os.PathLike[str], *, from_: str = "tile_local", language: str = "opencl",
        type: Any = "float32") -> Kernel:
    """Makes a folder with a plain kernel, its parameters and a README.

    Parameters
    ----------
    name : str or path
        The folder, which must not exist.
    from_ : str
        Strategy that the kernel begins as: "element", "tile_local", "dot block_tree", ...
    language : str
        "opencl", "cuda" or "c".
    type : type
        float32 or float64.

    Returns
    -------
    kernel : Kernel

    Raises
    ------
    ValueError
        The folder exists, or the tool refuses an argument.
    """
    folder = pathlib.Path(name)
    _run_tool("lab", "new", *options_of({"from": from_, "language": language, "type": type}), str(folder))
    return Kernel(folder)


def run(name: str | os.PathLike[str], *, device: str | None = None, size: Any = None, race: bool = True,
        **options: Any) -> Result:
    """Compiles a kernel, looks for faults, judges it, and times it among its neighbours.

    Parameters
    ----------
    name : str, path or Kernel
        The folder.
    device : str, optional
        Default: the first device of the kernel's language.
    size : int or tuple, optional
        Size of the race; default 512.
    race : bool
        False: judges only.
    **options
        Further options of `tesela lab run`: ``peers=True``, ``seconds=10``.

    Returns
    -------
    result : Result
        Displayed by a notebook; its text is the tool's output. A wrong kernel and a kernel that does not
        compile have a result, too.

    Raises
    ------
    ValueError
        The folder has no kernel, or the tool refuses an argument.
    """
    words = options_of({"device": device, "size": size, "no_race": not race, **options})
    return Result(*run_with_page("lab", "run", *words, os.fspath(name), ends_badly=True))


def grade(folder: str | os.PathLike[str], *, device: str | None = None, size: Any = None, race: bool = True,
          **options: Any) -> Class:
    """Runs each kernel in a folder of folders, and ranks the right ones by speed.

    Parameters
    ----------
    folder : str or path
        The folder, which has a folder for each kernel.
    device : str, optional
    size : int or tuple, optional
    race : bool
        As in `run`.
    **options
        Further options of `tesela lab grade`: ``seconds=10``, ``memory="1GiB"``.

    Returns
    -------
    ranking : Class
        Displayed by a notebook; ``to_pandas()`` is the table.

    Raises
    ------
    ValueError
        The folder has no kernels, or the tool refuses an argument.
    """
    words = options_of({"device": device, "size": size, "no_race": not race, **options})
    return Class(*run_with_page("lab", "grade", *words, os.fspath(folder)))


def pack(name: str | os.PathLike[str], *, output: str | os.PathLike[str] | None = None,
         device: str | None = None, size: Any = None, race: bool = True, **options: Any) -> Result:
    """Runs a kernel, and writes one file to hand in: kernel, parameters, verdict, rates, machine.

    Parameters
    ----------
    name : str, path or Kernel
        The folder.
    output : str or path, optional
        Default: NAME.lab.json in the present folder.
    device : str, optional
    size : int or tuple, optional
    race : bool
        As in `run`.
    **options
        Further options of `tesela lab pack`.

    Returns
    -------
    result : Result
        ``result.data`` is the content of the file.

    Raises
    ------
    ValueError
        The folder has no kernel, or the tool refuses an argument.
    """
    path = pathlib.Path(output) if output else pathlib.Path(f"{pathlib.Path(name).resolve().name}.lab.json")
    words = options_of({"device": device, "size": size, "no_race": not race, "output": str(path), **options})
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.html"
        _run_tool("lab", "pack", *words, "--html", str(page), os.fspath(name))
        return Result(json.loads(path.read_text()), page.read_text().replace(str(page), page.name))
