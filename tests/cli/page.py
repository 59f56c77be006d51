"""Checks a page that the tool wrote: page.py FILE PICTURES SECTION...

Tags are balanced, no content is loaded from outside the page, there are no scripts, and ids are unique. Every
link has a target, every picture a title and a description, and every table headings. The page has the
sections SECTION..., in this order."""

import html.parser
import re
import sys

VOID = {"meta", "br", "hr", "img", "input", "link", "wbr"}
# Elements of SVG that gnuplot writes closed in themselves; html.parser reports them as such.
TEXT_NAMES = {"title", "desc"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.targets = [], [], []
        self.sections, self.pictures, self.problems = [], [], []
        self.tables, self.text, self.tags = 0, [], set()

    def complain(self, what):
        self.problems.append(f"line {self.getpos()[0]}: {what}")

    def look(self, tag, attributes):
        names = [name for name, _ in attributes]
        if len(names) != len(set(names)):
            self.complain(f"<{tag}> has an attribute twice")
        values = dict(attributes)
        self.tags.add(tag)
        if tag in ("script", "link", "iframe", "img", "object", "embed", "base", "form"):
            self.complain(f"<{tag}>")
        for name, value in attributes:
            if name.startswith("on"):
                self.complain(f"{name} is a script")
            if name in ("href", "xlink:href", "src", "action", "data", "srcset"):
                if not (value or "").startswith("#"):
                    self.complain(f"{name}={value} leads elsewhere")
                else:
                    self.targets.append(value[1:])
            for target in re.findall(r"url\(([^)]*)\)", value or ""):
                if not target.startswith("#"):
                    self.complain(f"{name}={value} leads elsewhere")
            if name in ("aria-labelledby", "aria-describedby"):
                self.targets += value.split()
        if "id" in values:
            self.ids.append(values["id"])
        if tag == "section":
            self.sections.append(values.get("id"))
        if tag == "svg":
            self.pictures.append({"role": values.get("role"), "title": "", "desc": ""})
            self.size = [float(number) for number in values.get("viewbox", "0 0 0 0").split()[2:]]
        # Texts and marks of a picture lie in it, with some air for a line of text.
        for place in re.findall(r"translate\(([^)]*)\)", values.get("transform", "")):
            x, y = (float(number) for number in place.split(","))
            if not (0 <= x <= self.size[0] and 8 <= y <= self.size[1] - 4):
                self.complain(f"something lies at {x}, {y} of a picture of {self.size}")
        if tag == "table":
            self.tables += 1

    def handle_starttag(self, tag, attributes):
        self.look(tag, attributes)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.look(tag, attributes)

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.complain(f"</{tag}> closes {self.open[-1:]}")
        else:
            self.open.pop()

    def handle_data(self, data):
        self.text.append(data)
        if self.open[-2:-1] == ["svg"] and self.open[-1] in TEXT_NAMES:
            self.pictures[-1][self.open[-1]] += data


def main():
    path, pictures, sections = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    text = open(path, encoding="utf-8").read()
    page = Page()
    page.feed(text)
    page.close()
    problems = page.problems
    if not text.startswith("<!DOCTYPE html>"):
        problems.append("no doctype")
    if page.open:
        problems.append(f"never closed: {page.open}")
    for wanted in ("html", "head", "title", "body", "main", "h1", "nav", "style"):
        if wanted not in page.tags:
            problems.append(f"no <{wanted}>")
    if re.search(r"https?:|//[a-z]|@import|javascript:", text):
        problems.append("something leads elsewhere: " + re.search(r".{0,40}(https?:|//[a-z]|@import|javascript:).{0,40}", text)[0])
    if re.search(r"rgb\( *0, *0, *1[67]\d", text):
        problems.append("a picture's colour was not replaced")
    twice = {name for name in page.ids if page.ids.count(name) > 1}
    if twice:
        problems.append(f"ids that are there twice: {sorted(twice)[:5]}")
    lost = [name for name in page.targets if name not in page.ids]
    if lost:
        problems.append(f"links to nothing: {lost[:5]}")
    if page.sections != sections:
        problems.append(f"sections {page.sections}, not {sections}")
    if len(page.pictures) != pictures:
        problems.append(f"{len(page.pictures)} pictures, not {pictures}")
    for picture in page.pictures:
        if picture["role"] != "img" or not picture["title"] or not picture["desc"]:
            problems.append(f"a picture without role, title or description: {picture}")
    words = " ".join("".join(page.text).split())
    for marker in ("NaN", "nan", "-inf", "(null)", "%!"):
        if re.search(rf"(?<![a-zA-Z]){re.escape(marker)}(?![a-zA-Z])", words):
            problems.append(f"the text has {marker}")
    if problems:
        sys.exit("\n".join(problems))


main()
