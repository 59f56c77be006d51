"""Checks the text of a page that the tool wrote: page.py FILE.

Tags are balanced and nothing is loaded from outside of the page. The data is JSON. The indices of its entries
lead to their types, sizes, strategies and devices. The report as text has the call and every idea. Of a
trace, the report has the call and the steps; of the lab, the call, verdicts and faults; of a recorded
program, its products and its advice. tests/page/browser.py checks the page in a browser."""

import html.parser
import json
import re
import sys

VOID = {"meta", "br", "hr", "img", "input", "link", "wbr"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.problems, self.text, self.tags = [], [], [], {}, set()

    def complain(self, what):
        self.problems.append(f"line {self.getpos()[0]}: {what}")

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.tags.add(tag)
        if tag in ("link", "iframe", "img", "object", "embed", "base", "form"):
            self.complain(f"<{tag}>")
        for name, value in attributes:
            if name.startswith("on"):
                self.complain(f"{name} is a script")
            if name in ("href", "src", "action", "data", "srcset"):
                self.complain(f"{name}={value} leads elsewhere")
        if "id" in values:
            self.ids.append(values["id"])
        if tag not in VOID:
            self.open.append((tag, values.get("id")))

    def handle_endtag(self, tag):
        if not self.open or self.open[-1][0] != tag:
            self.complain(f"</{tag}> closes {self.open[-1:]}")
        else:
            self.open.pop()

    def handle_data(self, data):
        key = self.open[-1][1] or self.open[-1][0] if self.open else ""
        self.text[key] = self.text.get(key, "") + data


def check_trace(data, report, problems):
    steps = len(data["trace"]["steps"])
    for text in (data["command_line"], data["heading"], data["trace"]["config"], f"step {steps} of {steps}"):
        if text not in report:
            problems.append(f"the report lacks: {text}")


def check_lab(data, report, problems):
    """Each kernel of a lab's page is in the report, with its verdict and its faults."""
    one_kernel, flat = "lab" in data, " ".join(report.split())
    for kernel in [data["lab"]] if one_kernel else data["class"]:
        faults = [fault["text"] if one_kernel else fault["kind"] for fault in kernel.get("faults", [])]
        judged = {"right": "judged right"}.get(kernel["verdict"], "") if one_kernel else kernel["verdict"]
        for text in (data["command_line"], kernel["name"], judged, *(faults if one_kernel else faults[:1])):
            if " ".join(text.split()) not in flat:
                problems.append(f"the report lacks: {text}")


def check_run(data, report, problems):
    """Each product and each advice of a recorded program is in the report."""
    flat = " ".join(report.split())
    texts = [data["command_line"], data["heading"], data["run"]["program"]]
    texts += [product["routine"] for product in data["run"]["products"]]
    texts += [one["text"] for one in data["run"]["advice"]] + data["run"]["notes"]
    for text in texts:
        if " ".join(text.split()) not in flat:
            problems.append(f"the report lacks: {text}")


def check_data(data, report, problems):
    for entry in data["entries"]:
        kind, size, strategy, device = entry["at"]
        meant = (data["types"][kind], data["strategies"][strategy]["name"], data["devices"][device]["name"])
        same_size = all(entry[key] == data["sizes"][size][key] for key in "mnk")
        if meant != (entry["type"], entry["strategy"], entry["device"]) or not same_size:
            problems.append(f"the indices {entry['at']} are not of {entry}")
    measured = {entry["strategy"] for entry in data["entries"] if entry["result"] == "right"}
    own = {one["name"] for one in data["strategies"] if not one["vendor"]}
    if {idea["name"] for idea in data["ideas"]} != measured & own:
        problems.append(f"ideas {[idea['name'] for idea in data['ideas']]}, not of {sorted(measured & own)}")
    for text in [data["command_line"], data["heading"]] + [idea["story"] for idea in data["ideas"]]:
        if text not in report:
            problems.append(f"the report lacks: {text[:60]}")


def main():
    text = open(sys.argv[1], encoding="utf-8").read()
    page = Page()
    page.feed(text)
    page.close()
    problems = page.problems
    if not text.startswith("<!DOCTYPE html>"):
        problems.append("no doctype")
    if page.open:
        problems.append(f"never closed: {page.open}")
    if "default-src 'none'" not in text or "{{" in text:
        problems.append("no policy, or a place that was not filled")
    outside = re.search(r".{0,40}(https?:|//[a-z]|@import|javascript:).{0,40}", text)
    if outside:
        problems.append("something leads elsewhere: " + outside[0])
    if len(page.ids) != len(set(page.ids)):
        problems.append(f"ids that are there twice: {page.ids}")
    data = json.loads(page.text["data"])
    checks = {"run": check_run, "trace": check_trace, "lab": check_lab, "class": check_lab}
    check = next((checks[name] for name in checks if name in data), check_data)
    check(data, page.text["pre"], problems)
    if problems:
        sys.exit("\n".join(problems))


main()
