"""What runs the tool: explain, check, tune, explore, and python -m tesela."""

import inspect
import json
import os
import pathlib
import subprocess
import sys

import numpy
import pytest
import tesela


def test_devices():
    first = tesela.devices()[0]
    assert first.name == "cpu" and first.compute_units >= 1 and first.has_f64


def test_explain():
    told = tesela.explain(1000, 300, 700, type=numpy.float64, device="cpu")
    assert told.plan.startswith("gemm ") and "types=f64,f64,f64" in told.plan and told.seconds > 0
    assert "m=1000 n=300 k=700" in told.plan and told["device_bytes"] == 0
    assert any(row["chosen"] for row in told["candidates"])
    assert told.plan.split()[1] in str(told)
    with pytest.raises(ValueError, match="f31"):
        tesela.explain(10, 10, 10, type="f31")


def test_check():
    result = tesela.check(strategy="sequential", device="cpu", type="float32", cases=1)
    assert result and result["right"] > 0 and "rows" in repr(result)


def test_tune(tmp_path, monkeypatch):
    monkeypatch.setenv("TESELA_WISDOM", str(tmp_path / "wisdom"))
    report = tesela.tune(24, 24, 24, device="cpu", strategy=["host_packed"], budget=5, points=2, dry_run=True)
    assert report["best"].startswith("host_packed") and report["tried"] >= 1


def test_explore(tmp_path):
    rates = tesela.explore(sizes=[16, (8, 9, 10)], types=["float32"], devices=["cpu"],
                           strategies=["sequential", "host_packed"], seconds=0.01)
    assert {(row["m"], row["n"], row["k"]) for row in rates["entries"]} == {(16, 16, 16), (8, 9, 10)}
    shown = rates._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and "host_packed" in shown and "&lt;pre" in shown
    rates.save(tmp_path / "a.html")
    rates.save(tmp_path / "a.json")
    rates.save(tmp_path / "a.csv")
    assert json.loads((tmp_path / "a.json").read_text()) == rates.data
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 1 + len(rates["entries"])
    page = (tmp_path / "a.html").read_text()
    data = page.partition('<script type="application/json" id="data">')[2].partition("</script>")[0]
    found = json.loads(data)
    assert [entry["m"] for entry in found["entries"]] == [entry["m"] for entry in rates["entries"]]
    with pytest.raises(ValueError, match=".html, .json, .csv"):
        rates.save(tmp_path / "a.docx")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "a.html", "a.json"]
    frame = pytest.importorskip("pandas") and rates.to_pandas()
    assert len(frame) == len(rates["entries"]) and "flops_per_second" in frame.columns
    pytest.importorskip("matplotlib")
    axes = rates.plot()
    assert len(axes.lines) == 2 and axes.get_ylabel() == "GFLOP/s"
    with pytest.raises(ValueError, match="no_such"):
        tesela.explore(strategies=["no_such"])


def module(*words, **options):
    return subprocess.run([sys.executable, "-m", "tesela", *words], capture_output=True, text=True, **options)


def test_module_is_the_tool():
    ran = module("--version")
    assert ran.returncode == 0 and tesela.__version__ in ran.stdout
    assert module("multiply", "no_such_file.npy", "x.npy").returncode == 2


def test_module_runs_scripts(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import os, sys\nprint(os.environ['LD_PRELOAD'], sys.argv[1:])\n")
    ran = module("run", str(script), "one", "--two", env={**os.environ})
    assert ran.returncode == 0 and "libtesela_blas.so" in ran.stdout and "['one', '--two']" in ran.stdout
    ran = module("run", "--log", "--", sys.executable, str(script))
    assert ran.returncode == 0 and "libtesela_blas.so" in ran.stdout


def test_stubs_tell_of_what_there_is():
    stub = pathlib.Path(tesela.__file__).with_name("__init__.pyi").read_text()
    for name in tesela.__all__:
        assert f"def {name}(" in stub or f"class {name}" in stub or f"class {name}(" in stub, name
        assert inspect.getdoc(getattr(tesela, name)), name
    signature = str(inspect.signature(tesela.matmul))
    for word in inspect.signature(tesela.matmul).parameters:
        assert word in signature


@pytest.mark.parametrize("name", ["matmul", "gemm", "dot", "transpose", "explain", "tune", "check", "explore",
                                  "devices", "configure"])
def test_documentation_has_its_parts(name):
    text = inspect.getdoc(getattr(tesela, name))
    for parameter in inspect.signature(getattr(tesela, name)).parameters:
        assert parameter in text, parameter
    assert "Returns" in text or name == "configure"


def test_documentation_holds():
    import doctest
    tried = 0
    for name in tesela.__all__:
        for example in doctest.DocTestFinder(recurse=False).find(getattr(tesela, name), name,
                                                                 globs={"numpy": numpy, "tesela": tesela}):
            result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example)
            assert result.failed == 0, name
            tried += result.attempted
    assert tried > 6