"""Traces and the lab: data, text, files, and the page as a notebook displays it."""

import html
import inspect
import json
import pathlib
import re

import numpy
import pytest
import tesela


def page_data(shown):
    """Returns the data of the page in a notebook's frame."""
    attributes = r'title="[^"<>]*" sandbox="allow-scripts" '
    frame = re.fullmatch(rf'<iframe srcdoc="([^"]*)" {attributes}[^<>]*></iframe>', shown)
    page = html.unescape(frame[1])
    assert page.startswith("<!DOCTYPE html>")
    data = page.partition('<script type="application/json" id="data">')[2]
    return json.loads(data.partition("</script>")[0])


def test_trace(tmp_path):
    trace = tesela.trace(8, 8, 8, strategy="tile_local tile=4", element=(5, 2))
    shown = page_data(trace._repr_html_())["trace"]
    assert shown == {key: trace[key] for key in shown} and len(shown["steps"]) == 2
    assert trace["element"] == [5, 2] and trace["group"] == [0, 1] and "8 steps" not in repr(trace)
    assert repr(trace).startswith("<tesela trace: tile_local") and "2 steps" in repr(trace)
    # The document's own example: the item of C(5, 2) loads A(5, 2) and B(1, 2), then A(5, 6) and B(5, 2).
    item = trace["item"][0] + trace["item"][1] * trace["items"][0]
    own = [event for event in trace.events() if event["item"] == item]
    loads = [(event["array"], event["row"], event["column"]) for event in own
             if event["event"] == "load" and event["array"] in "AB"]
    assert loads == [("A", 5, 2), ("B", 1, 2), ("A", 5, 6), ("B", 5, 2)]
    assert [event["l"] for event in own if event["event"] == "add"] == list(range(8))
    assert "A(5, 2)" in str(trace) and "--element 5,2" in str(trace) and "/page.html" not in str(trace)
    trace.save(tmp_path / "a.html")
    trace.save(tmp_path / "a.json")
    trace.save(tmp_path / "a.csv")
    assert (tmp_path / "a.html").read_text() == trace.page
    assert json.loads((tmp_path / "a.json").read_text()) == trace.data
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 1 + len(trace.events())
    other = tesela.trace(8, 8, 8, strategy="tile_local tile=4", group=(1, 0), type=numpy.float64)
    assert other["type"] == "f64" and other["group"] == [0, 1]
    assert tesela.trace(4, 4, strategy="transpose tile_local tile=16")["op"] == "transpose"
    assert tesela.trace(16, strategy="dot block_tree group=8")["op"] == "dot"
    frame = pytest.importorskip("pandas") and trace.to_pandas()
    assert len(frame) == len(trace.events()) and set(frame["event"]) == {"load", "store", "add"}


def test_trace_refuses():
    with pytest.raises(ValueError, match="no_such"):
        tesela.trace(8, 8, 8, strategy="no_such")
    with pytest.raises(ValueError, match="leave out --group"):
        tesela.trace(8, 8, 8, strategy="tile_local tile=4", group=(0, 0), element=(0, 0))
    with pytest.raises(ValueError, match="has no trace"):
        tesela.trace(8, 8, 8, strategy="register_tile")


@pytest.fixture
def kernel(tmp_path):
    return tesela.lab.new(tmp_path / "mine", language="c", type=numpy.float64)


def test_new(kernel):
    assert kernel.file.name == "kernel.c" and "double" in str(kernel) and kernel.parameters.exists()
    assert html.escape(str(kernel)) in kernel._repr_html_() and "kernel.c" in repr(kernel)
    with pytest.raises(ValueError, match="mine"):
        tesela.lab.new(kernel.folder)
    with pytest.raises(ValueError, match="fortran"):
        tesela.lab.new(kernel.folder.with_name("other"), language="fortran")


def test_run(kernel, tmp_path):
    result = tesela.lab.run(kernel, size=48)
    assert result and result.verdict == "right" and result.faults == [] and "mine is right" in repr(result)
    shown = page_data(result._repr_html_())["lab"]
    assert shown["rates"] == pytest.approx(result["rates"]) or \
        [rate["name"] for rate in shown["rates"]] == [rate["name"] for rate in result["rates"]]
    assert result["rates"][0]["name"] == "mine" and result["size"] == "48 x 48 x 48"
    assert "judged    right" in str(result)
    result.save(tmp_path / "mine.html")
    assert len((pytest.importorskip("pandas") and result.to_pandas())) == len(result["rates"])


def test_run_of_wrong_kernels(kernel):
    right = str(kernel)
    kernel.file.write_text(right.replace("] * ", "] + ", 1))
    assert kernel.file.read_text() != right
    result = tesela.lab.run(kernel, race=False)
    assert not result and result.verdict == "wrong" and result.faults and result["rates"] == []
    fault = result.faults[0]
    assert page_data(result._repr_html_())["lab"]["faults"][0]["text"] == fault["text"]
    assert fault["kind"] in str(result)
    lines = kernel.file.read_text().splitlines()
    assert all(lines[one["line"] - 1] == one["source"] for one in result.faults if one["line"])
    kernel.file.write_text(right.replace(";", "", 1))
    result = tesela.lab.run(kernel, race=False)
    assert not result and result.verdict == "broken" and "kernel.c:" in result["failure"]
    assert page_data(result._repr_html_())["lab"]["line"] == result["line"] > 0
    with pytest.raises(ValueError, match="nowhere"):
        tesela.lab.run("nowhere")


def test_grade_and_pack(kernel, tmp_path):
    (tmp_path / "empty").mkdir()
    ranking = tesela.lab.grade(tmp_path, size=32, seconds=30)
    verdicts = [(one["name"], one["verdict"]) for one in ranking["kernels"]]
    assert verdicts == [("mine", "right"), ("empty", "broken")]
    assert [one["name"] for one in page_data(ranking._repr_html_())["class"]] == ["mine", "empty"]
    assert "mine" in str(ranking) and "2 kernels" in repr(ranking)
    packed = tesela.lab.pack(kernel, output=tmp_path / "mine.lab.json", race=False)
    assert packed and packed.data == json.loads((tmp_path / "mine.lab.json").read_text())
    assert packed["kernel"] == str(kernel)
    assert page_data(packed._repr_html_())["lab"]["hash"] == packed["hash"]


def test_documentation_has_its_parts():
    for name in ("new", "run", "grade", "pack"):
        text = inspect.getdoc(getattr(tesela.lab, name))
        for parameter in inspect.signature(getattr(tesela.lab, name)).parameters:
            assert re.search(rf"\b{parameter}\b", text), (name, parameter)
        assert "Returns" in text
    for name in tesela.lab.__all__:
        assert inspect.getdoc(getattr(tesela.lab, name)), name


NOTEBOOK = ["import tesela", "tesela.trace(8, 8, 8, strategy='tile_local tile=4')",
            "kernel = tesela.lab.new('mine', language='c')\nkernel", "tesela.lab.run(kernel, size=32)",
            "tesela.lab.grade('.', race=False)"]


def test_notebook(tmp_path):
    """A notebook's kernel runs the cells, and each result is displayed as its page."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in NOTEBOOK])
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output["data"]["text/html"] for cell in notebook.cells for output in cell.outputs
             if output.output_type == "execute_result"]
    assert len(shown) == 4
    assert page_data(shown[0])["trace"]["strategy"] == "tile_local"
    assert shown[1].startswith("<p><code>mine/kernel.c") and page_data(shown[2])["lab"]["verdict"] == "right"
    assert [one["name"] for one in page_data(shown[3])["class"]] == ["mine"]
