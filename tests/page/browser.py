"""Drives a page of the tool in Chromium, and compares the drawn page with its data: browser.py FILE [FOLDER].

Prints the sections. Commands reach Chromium through --remote-debugging-pipe. With a folder, pictures of
the page are kept there: light, dark, narrow, and without scripts. Exits with 77 if Chromium is missing."""

import base64
import json
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

SECONDS = 60  # for one answer of the browser


class Browser:
    """One window of a headless Chromium."""

    def __init__(self, program, folder):
        ours = [os.pipe(), os.pipe()]
        # Chromium reads commands from 3 and writes answers to 4.
        commands, answers = os.dup2(ours[0][0], 100), os.dup2(ours[1][1], 101)

        def prepare():
            os.dup2(commands, 3)
            os.dup2(answers, 4)

        self.process = subprocess.Popen(
            [
                program,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--hide-scrollbars",
                "--remote-debugging-pipe",
                f"--user-data-dir={folder}",
                "about:blank",
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(3, 4),
            preexec_fn=prepare,
            start_new_session=True,
        )
        for fd in (ours[0][0], ours[1][1], commands, answers):
            os.close(fd)
        self.out, self.back = ours[0][1], ours[1][0]
        self.left, self.count, self.messages, self.session = b"", 0, [], None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(domain + ".enable")

    def receive(self):
        while b"\0" not in self.left:
            block = os.read(self.back, 1 << 16)
            if not block:
                raise SystemExit("the browser ended")
            self.left += block
        answer, self.left = self.left.split(b"\0", 1)
        answer = json.loads(answer)
        if answer.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.messages.append(answer["params"])
        return answer

    def ask(self, method, **parameters):
        self.count += 1
        order = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            order["sessionId"] = self.session
        os.write(self.out, json.dumps(order).encode() + b"\0")
        signal.alarm(SECONDS)
        while True:
            answer = self.receive()
            if answer.get("id") == self.count:
                signal.alarm(0)
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']}")
                return answer["result"]

    def go(self, address):
        self.ask("Page.navigate", url=address)
        while True:
            signal.alarm(SECONDS)
            if self.receive().get("method") == "Page.loadEventFired":
                signal.alarm(0)
                return

    def get(self, expression):
        """Returns the value of an expression."""
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise SystemExit(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def frame(self):
        self.ask(
            "Runtime.evaluate",
            awaitPromise=True,
            expression="new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))",
        )

    def press(self, key, text=None):
        codes = {"Tab": 9, "Enter": 13, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        codes.update({"End": 35, "Home": 36})
        more = {"text": "\r"} if key == "Enter" else {"text": text} if text else {}
        named = {"key": key, "code": key, "windowsVirtualKeyCode": codes.get(key, 0)}
        self.ask("Input.dispatchKeyEvent", type="keyDown", **named, **more)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **named)

    def size(self, width, height):
        scale = {"deviceScaleFactor": 1, "mobile": False}
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, **scale)
        self.frame()

    def colours(self, scheme):
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, folder, name):
        if folder:
            shot = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=False)
            (pathlib.Path(folder) / name).write_bytes(base64.b64decode(shot["data"]))

    def close(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def expect(condition, words):
    if not condition:
        raise SystemExit(words)


def near(shown, value):
    """True if a number as the page writes it is this value, to its three digits."""
    digits = re.sub(r"[~\u202f\s]", "", shown)
    return abs(float(digits) - value) <= 0.006 * abs(value) + 0.0006


class Data:
    def __init__(self, everything):
        self.all = everything
        self.key = "bytes_per_second" if self.all["by_bytes"] else "flops_per_second"
        rates = [entry.get(self.key) or 0 for entry in self.all["entries"]]
        small = not self.all["by_bytes"] and max(rates) < 1e9
        self.unit, self.scale = (
            ("MFLOP/s", 1e6) if small else ("GB/s" if self.all["by_bytes"] else "GFLOP/s", 1e9)
        )
        most = max(entry.get("flops_per_second") or 0 for entry in self.all["entries"])
        self.work = 1e6 if most < 1e9 else 1e9  # scale of the roofline
        self.order = sorted(range(len(self.all["sizes"])), key=lambda n: self.edge(self.all["sizes"][n]))

    def edge(self, size):
        op = self.all["op"]
        return (
            size["k"]
            if op == "dot"
            else (
                math.sqrt(size["m"] * size["n"])
                if op == "transpose"
                else (size["m"] * size["n"] * size["k"]) ** (1 / 3)
            )
        )

    def rate(self, entry):
        return entry[self.key] / self.scale if entry.get(self.key) else None

    def label(self, entry):
        return self.all["strategies"][entry["at"][2]]["label"]

    def at(self, kind, size):
        return [entry for entry in self.all["entries"] if entry["at"][0] == kind and entry["at"][1] == size]


ROWS = """[...document.querySelectorAll('%s tbody tr')].map(row => [...row.cells].map(cell => {
  const copy = cell.cloneNode(true);
  copy.querySelectorAll('small, .pad').forEach(part => part.remove());
  return copy.textContent; }))"""


def check_rates(browser, data, kind, size):
    """The table of rates has a row for each strategy, and each number of the data."""
    rows = browser.get(ROWS % "#tables .pair .scroll:first-child")
    entries = [entry for entry in data.at(kind, size) if not entry["left_out"]]
    strategies = data.all["strategies"]
    names = [strategies[index]["label"] for index in dict.fromkeys(entry["at"][2] for entry in entries)]
    expect([row[0] for row in rows] == names, f"rows {[row[0] for row in rows]}, not {names}")
    shown = {row[0]: row for row in rows}
    for entry in entries:
        cell = shown[data.label(entry)][1 + entry["at"][3]]
        value = data.rate(entry)
        if entry["result"] in ("wrong", "failed"):
            expect(cell == {"wrong": "WRONG", "failed": "failed"}[entry["result"]], f"{entry}: {cell}")
        else:
            right = cell == "–" if value is None else near(cell, value)
            expect(right, f"{entry['strategy']}: {cell}, not {value}")


def check_glance(browser, data, size):
    for row in browser.get(ROWS % "#glance"):
        kind = data.all["types"].index(row[1])
        timed = [entry for entry in data.at(kind, size) if entry["device"] == row[0] and data.rate(entry)]
        rates = [data.rate(entry) for entry in timed]
        expect(not rates or near(row[3], max(rates)), f"the fastest: {row}, not {rates}")


def check_why(browser, data, kind, size):
    counted = [entry for entry in data.at(kind, size) if entry.get("account")]
    rows = browser.get(ROWS % "#why")
    expect(len(rows) == len(counted), f"{len(rows)} rows of counts, not {len(counted)}")
    for entry in counted:
        factor, name = entry["measured_factor"], data.label(entry)
        found = [row for row in rows if row[0] == name and near(row[1], data.rate(entry))]
        found = [row for row in found if (row[2] == "–" if factor is None else near(row[2], factor))]
        expect(found, f"no row for {name}")
    text = browser.get("document.querySelector('#why').textContent")
    for entry in counted:
        expect((entry.get("comparison") or "") in text, f"the page lacks: {entry['comparison']}")


def check_marks(browser, data, kind):
    """Each right entry is a mark of the curves and of the roofline, at its place."""
    for section in ("sizes", "roofline"):
        browser.get(
            f"document.querySelectorAll('#{section} .key button[aria-pressed=false]')"
            ".forEach(button => button.click())"
        )
    right = [entry for entry in data.all["entries"] if entry["at"][0] == kind and data.rate(entry)]
    for section in ("sizes", "roofline"):
        marks = browser.get(
            f"[...document.querySelectorAll('#{section} .mark[data-y]')].map(mark => "
            "[mark.parentNode.dataset.series, Number(mark.dataset.x), Number(mark.dataset.y)])"
        )
        if marks is None or not browser.get(f"!!document.querySelector('#{section} svg')"):
            continue
        expect(len(marks) == len(right), f"{section}: {len(marks)} marks, not {len(right)}")
        for entry in right:
            x, y, name = data.edge(data.all["sizes"][entry["at"][1]]), data.rate(entry), data.label(entry)
            if section == "roofline":
                y = entry["flops_per_second"] / data.work
                count = entry.get("account")
                x = count["operations_per_byte"] if count else entry["flops"] / entry["bytes"]
            found = [mark for mark in marks if mark[0] == name and math.isclose(mark[1], x, rel_tol=1e-6)]
            expect(
                any(math.isclose(mark[2], y, rel_tol=1e-6) for mark in found), f"{section}: no mark of {name}"
            )


def check_choice(browser, data):
    """Every type and size, chosen by the keys of the keyboard."""
    types, sizes = len(data.all["types"]), len(data.all["sizes"])
    for kind in range(types):
        if types > 1:
            browser.get(f"document.querySelectorAll('.choice input[type=radio]')[{kind}].click()")
        for step in range(sizes):
            if sizes > 1:
                browser.get("document.querySelector('#size').focus()")
                for _ in range(sizes - 1 if step == 0 else 0):
                    browser.press("ArrowLeft")
                if step > 0:
                    browser.press("ArrowRight")
            size = data.order[step]
            check_rates(browser, data, kind, size)
            check_glance(browser, data, size)
            check_why(browser, data, kind, size)
        check_marks(browser, data, kind)


def check_sorting(browser):
    """Enter on a heading sorts the numbers down, then up; rows stay whole."""
    first = "#tables .pair .scroll:first-child"
    before = browser.get(ROWS % first)
    browser.get(f"document.querySelectorAll('{first} thead button')[1].focus()")
    for direction, sign in (("descending", -1), ("ascending", 1)):
        browser.press("Enter")
        rows = browser.get(ROWS % first)
        shown = browser.get(f"document.querySelectorAll('{first} thead th')[1].getAttribute('aria-sort')")
        expect(shown == direction, f"aria-sort is {shown}, not {direction}")
        numbers = [float(re.sub(r"[~\u202f]", "", row[1])) for row in rows if re.match(r"~?\d", row[1])]
        expect(numbers == sorted(numbers, key=lambda value: sign * value), f"not {direction}: {numbers}")
        expect(sorted(map(str, rows)) == sorted(map(str, before)), "sorting changed rows")


def check_pointer(browser, data):
    """The pointer on a mark shows strategy, size and rate; so do the arrow keys."""
    svg = "document.querySelector('#roofline svg[role=img], #sizes svg[role=img]')"
    browser.get(f"{svg}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
    browser.frame()
    box = browser.get(f"{svg}.querySelector('.mark[data-y]').getBoundingClientRect().toJSON()")
    spot = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    browser.ask("Input.dispatchMouseEvent", type="mouseMoved", **spot)
    tip = "[...document.querySelectorAll('.tip:not([hidden])')].map(tip => tip.innerText).join()"
    words = browser.get(tip)
    right = [entry for entry in data.all["entries"] if data.rate(entry)]
    shown = [
        entry
        for entry in right
        if words.startswith(data.label(entry) + "\n" + entry["device"] + ", " + entry["type"])
        and data.all["sizes"][entry["at"][1]]["name"].replace(" x ", " × ") in words
    ]
    number = re.search(rf"([\d.\u202f]+) {data.unit}", words)
    expect(
        number and any(near(number[1], data.rate(entry)) for entry in shown), f"the pointer shows: {words!r}"
    )
    place = browser.get("document.querySelector('.tip:not([hidden])').getBoundingClientRect().toJSON()")
    expect(place["left"] - 12 <= spot["x"] <= place["right"] + 12, f"the words are far from {spot}: {place}")
    expect(place["top"] - 40 <= spot["y"] <= place["bottom"] + 40, f"the words are far from {spot}: {place}")
    browser.ask("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)
    expect(browser.get(tip) == "", "the words stay when the pointer has left")
    browser.get(f"{svg}.focus()")
    browser.press("ArrowRight")
    expect(data.unit in browser.get(tip), "an arrow key shows nothing")


def check_picture(browser):
    """A curve goes and comes again; the roofline zooms."""
    figure = "document.querySelector('#roofline figure, #sizes figure')"
    marks = f"{figure}.querySelectorAll('.mark[data-y]').length"
    places = (
        f"[...{figure}.querySelectorAll('.mark[data-y]')].map(one => one.getAttribute('transform')).join()"
    )
    before, button = browser.get(marks), f"{figure}.querySelector('.key button')"
    browser.get(f"{button}.focus()")
    browser.press("Enter")
    pressed = browser.get(f"{button}.getAttribute('aria-pressed')")
    expect(browser.get(marks) < before and pressed == "false", "a curve stays")
    browser.press("Enter")
    expect(browser.get(marks) == before, "a curve does not come again")
    whole = browser.get(places)
    browser.get(f"{figure}.querySelector('svg').focus()")
    browser.press("+", "+")
    expect(browser.get(places) != whole, "the picture does not zoom")
    browser.press("0", "0")
    expect(browser.get(places) == whole, "the whole picture does not come again")


def check_keyboard(browser):
    """Tab reaches links, choices, headings, pictures and legends."""
    browser.get("(document.activeElement.blur(), window.scrollTo(0, 0), document.body.focus())")
    wanted, seen = {"a", "button", "svg", "input", "div.scroll", "summary"}, set()
    if not browser.get("!!document.querySelector('.choice')"):
        wanted.discard("input")
    for _ in range(400):
        browser.press("Tab")
        seen.add(
            browser.get(
                "document.activeElement.tagName.toLowerCase() + "
                "(document.activeElement.matches('.scroll') ? '.scroll' : '')"
            )
        )
        if wanted <= seen:
            return
    raise SystemExit(f"Tab reaches {sorted(seen)}, not {sorted(wanted - seen)}")


def check_form(browser):
    """Links have targets, pictures words, ids are unique, and nothing is wider than the window."""
    links = browser.get("[...document.querySelectorAll('a')].map(link => link.getAttribute('href'))")
    ids = browser.get("[...document.querySelectorAll('[id]')].map(one => one.id)")
    expect(links and {link[1:] for link in links} <= set(ids), "a link leads to nothing")
    expect(len(ids) == len(set(ids)), "an id is there twice")
    expect(
        not browser.get("document.querySelectorAll('svg[role=img]:not([aria-label])').length"),
        "a picture without words",
    )
    words = browser.get(
        "[...document.querySelectorAll('header, section:not(#ideas)')]"
        ".map(part => part.innerText).join(' ')"
    )
    words = words.replace("a null pointer", "")  # a fault of the lab
    for marker in ("NaN", "undefined", "null", "Infinity", "[object"):
        expect(
            not re.search(rf"(?<![a-zA-Z]){re.escape(marker)}(?![a-zA-Z])", words), f"the page says {marker}"
        )
    for width in (1280, 700, 390):
        browser.size(width, 900)
        wide = browser.get("document.documentElement.scrollWidth")
        expect(wide <= width, f"{wide} pixels in a window of {width}")


def check_colours(browser):
    def bright(name):
        colour = browser.get(f"getComputedStyle(document.body).{name}")
        return sum(int(part) for part in re.findall(r"\d+", colour)[:3]) / 765

    browser.colours("dark")
    expect(bright("backgroundColor") < 0.2 and bright("color") > 0.7, "dark is not dark")
    browser.colours("light")
    expect(bright("backgroundColor") > 0.8 and bright("color") < 0.3, "light is not light")


def drive_exploration(browser, everything):
    data = Data(everything)
    if any(data.rate(entry) for entry in data.all["entries"]):
        check_choice(browser, data)
        check_sorting(browser)
        if browser.get("!!document.querySelector('#roofline svg[role=img], #sizes svg[role=img]')"):
            check_pointer(browser, data)
            check_picture(browser)
        check_steps(browser, everything)
        check_keyboard(browser)


class Replay:
    """A trace, move by move: in a move each item makes its next event, until a barrier or the step's end."""

    def __init__(self, trace):
        self.trace, self.moves, self.held, self.sums, self.carry = trace, [], {}, {}, {}
        for events in (interval for step in trace["steps"] for interval in step):
            own = {}
            for event in events:
                own.setdefault(event[1], []).append(event)
            for index in range(max(map(len, own.values()), default=0)):
                self.moves.append([one[index] for one in own.values() if index < len(one)])

    def item(self, number):
        wide, high = self.trace["items"]
        return f"Item {number}" if high == 1 else f"Item ({number // wide}, {number % wide})"

    def name(self, event):
        array = self.trace["arrays"][event[2]]
        if array["rows"] == 1:
            return f"{array['name']}[{event[4]}]"
        form = "{}[{}][{}]" if array["memory"] == "local" else "{}({}, {})"
        return form.format(array["name"], event[3], event[4])

    def apply(self, event):
        """Returns how the words of the event begin."""
        kind, item, *place = event
        is_dot = self.trace["op"] == "dot"
        if kind == "add":
            i, l, j = place
            key = item if is_dot else (i, j)
            self.sums[key] = self.sums.get(key, 0) + 1
            self.carry[item] = self.carry.get(item, 0) + 1
            if is_dot:
                return f"adds x[{l}] y[{l}]"
            return f"adds A({i}, {l}) B({l}, {j}) to its sum of C({i}, {j})"
        cell = tuple(place[:3])
        if kind == "load":
            held = self.held.get(cell)
            self.carry[item] = self.carry.get(item, 0) + (held if isinstance(held, int) else 0)
            return "reads " + self.name(event)
        if len(place) > 4:
            self.held[cell] = f"{place[5]},{place[6]}"
            return f"copies {place[4]}({place[5]}, {place[6]}) to {self.name(event)}"
        self.held[cell] = self.carry.get(item, 0) if is_dot else self.sums.get(cell[1:], 0)
        self.carry[item] = 0
        return f"stores {self.name(event)}" if self.held[cell] else f"stores 0 to {self.name(event)}"


CELLS = """[...document.querySelectorAll('#trace .cell[data-array]')].map(cell => [cell.dataset.array,
  Number(cell.dataset.row), Number(cell.dataset.column), cell.querySelector('text').textContent,
  cell.getAttribute('class')])"""
FRAMES = """[...document.querySelectorAll('#trace .follow')].map(frame => {
  const place = node => [node.x.baseVal.value, node.y.baseVal.value];
  const [x, y] = place(frame);
  const {dataset} = [...document.querySelectorAll('#trace .cell[data-array]')].find(cell => {
    const [left, top] = place(cell.querySelector('rect'));
    return left === x - 1 && top === y - 1;
  });
  return [frame.matches('.factor'), dataset.array, Number(dataset.row), Number(dataset.column)]; })"""
WORDS = "document.querySelector('#trace .words b').textContent"
WHERE = "document.querySelector('#trace .where').textContent"


def check_move(browser, replay, move, followed):
    """The words tell the followed item's event. Cells have the colours of all events, and their numbers."""
    begins = [replay.apply(event) for event in move]
    words = browser.get(WORDS)
    own = [begin for begin, event in zip(begins, move) if event[1] == followed]
    wanted = replay.item(followed) + " " + (own[0] if own else "waits")
    expect(words.startswith(wanted), f"the words are {words!r}, not {wanted!r}")
    names = [array["name"] for array in replay.trace["arrays"]]
    frames = []
    for kind, _, *place in (event for event in move if event[1] == followed):
        if kind != "add":
            frames = [[False, names[place[0]], *place[1:3]]]
        elif replay.trace["op"] == "dot":
            frames = [[True, "x", 0, place[1]], [True, "y", 0, place[1]]]
        else:
            i, l, j = place
            frames = [[False, "C", i, j], [True, "A", i, l], [True, "B", l, j]]
    expect(browser.get(FRAMES) == frames, f"the frames are {browser.get(FRAMES)}, not {frames}")
    cells = {tuple(cell[:3]): cell[3:] for cell in browser.get(CELLS)}
    for event in move:
        kind, _, *place = event
        if kind == "add" and replay.trace["op"] == "dot":
            continue
        at = ("C", place[0], place[2]) if kind == "add" else (names[place[0]], place[1], place[2])
        colour = "read" if kind == "load" else "copied" if len(event) > 6 else "summed"
        expect(colour in cells[at][1].split(), f"{event}: the cell's classes are {cells[at][1]}")
    coloured = [cell for cell, (_, look) in cells.items() if {"read", "copied", "summed"} & set(look.split())]
    places = {tuple(event[2:5]) if event[0] != "add" else ("C", event[2], event[4]) for event in move}
    if replay.trace["op"] != "dot":
        expect(len(coloured) == len(places), f"{len(coloured)} coloured cells, not {len(places)}")
    for (array, row, column), value in replay.held.items():
        if names[array] != "C" or replay.trace["op"] == "transpose":
            shown = cells[(names[array], row, column)][0]
            expect(shown == str(value), f"{names[array]}[{row}][{column}] shows {shown!r}, not {value!r}")
    if replay.trace["op"] == "gemm":
        for (row, column), count in replay.sums.items():
            shown = cells[("C", row, column)][0]
            expect(shown == str(count), f"C({row}, {column}) shows {shown!r}, not {count}")


def check_player_controls(browser, replay):
    """Keys and buttons go to the ends, and back; play and pause; another item is followed."""
    count = len(replay.moves)
    browser.press("Home")
    start = browser.get(CELLS)
    browser.press("ArrowRight")
    browser.press("ArrowLeft")
    expect(browser.get(CELLS) == start, "a move forth and back changes the picture")
    browser.press("ArrowDown")
    part = browser.get(WHERE)
    browser.press("ArrowUp")
    expect(part != browser.get(WHERE) and "Move 0 of" in browser.get(WHERE), f"parts: {part}")
    first, back, play, forth, last = (
        f"document.querySelectorAll('#trace .controls button')[{index}]" for index in range(5)
    )
    for button, place in ((forth, 1), (forth, 2), (back, 1), (first, 0)):
        browser.get(f"{button}.click()")
        expect(browser.get(WHERE).startswith(f"Move {place} of {count}"), f"not move {place}")
    expect(browser.get(f"{back}.disabled && !{last}.disabled"), "a button is on that leads nowhere")
    browser.get(f"{play}.focus()")
    browser.press("Enter")
    expect(browser.get(f"{play}.textContent") == "Pause", "the player does not play")
    wait = "new Promise(done => setTimeout(done, 1000))"
    browser.ask("Runtime.evaluate", awaitPromise=True, expression=wait)
    browser.get(f"{play}.click()")
    expect(browser.get(f"{play}.textContent") == "Play", "the player does not pause")
    expect(not browser.get(WHERE).startswith("Move 0 "), "the player stands")
    items = browser.get("[...document.querySelector('#trace select').options].map(one => one.textContent)")
    choose = "select.value = select.options[select.options.length - 1].value"
    browser.get(
        f"{{ const select = document.querySelector('#trace select'); {choose};"
        " select.dispatchEvent(new Event('change')); }"
    )
    expect(browser.get(WORDS).lower().startswith(items[-1]), f"{items[-1]} is not followed")
    adds = [event for move in replay.moves for event in move if event[0] == "add"]
    if replay.trace["op"] == "gemm":
        _, item, row, _, column = adds[0]
        cell = f"#trace [data-array=C][data-row='{row}'][data-column='{column}']"
        browser.get(f"document.querySelector(`{cell}`).dispatchEvent(new MouseEvent('click'))")
        expect(browser.get(WORDS).startswith(replay.item(item)), "a click follows another item")


def drive_trace(browser, everything):
    replay = Replay(everything["trace"])
    padding = sum(array["rows"] * (array["pitch"] - array["columns"])
                  for array in replay.trace["arrays"] if array["rows"] > 1)
    drawn = browser.get("document.querySelectorAll('#trace .padding').length")
    expect(drawn == padding, f"{drawn} elements of padding are drawn, not {padding}")
    count, followed = len(replay.moves), browser.get("Number(document.querySelector('#trace select').value)")
    if replay.trace["item"]:
        item = replay.trace["item"][0] + replay.trace["item"][1] * replay.trace["items"][0]
        expect(followed == item, f"item {followed} is followed, not {item}")
    expect(browser.get(WHERE) == f"Move 0 of {count}", f"{browser.get(WHERE)}, not of {count}")
    browser.get("document.querySelector('#trace figure').focus()")
    for move in replay.moves[:60]:
        browser.press("ArrowRight")
        check_move(browser, replay, move, followed)
    if count > 60:
        browser.press("End")
        for move in replay.moves[60:-1]:
            for event in move:
                replay.apply(event)
        check_move(browser, replay, replay.moves[-1], followed)
    check_player_controls(browser, replay)


def check_kernel(browser, kernel, section):
    """Faults and the failure quote their lines, and their words are on the page."""
    marked = browser.get(
        f"[...document.querySelectorAll('{section} .marked')]"
        ".map(line => [line.querySelector('i').textContent, line.textContent])"
    )
    for fault in [*kernel["faults"], kernel]:
        if fault["line"]:
            line = str(fault["line"])
            quote = [line, line + (fault["source"] or " ")]
            expect(quote in marked, f"line {line} is not quoted in {section}")
    words = browser.get(f"document.querySelector('{section}').textContent")
    for text in [kernel["verdict"], kernel["failure"], *(fault["text"] for fault in kernel["faults"])]:
        expect(text in words, f"{section} lacks: {text}")


def check_lab_rates(browser, kernel, table):
    rows = browser.get(
        f"[...document.querySelectorAll('{table} tbody tr')].map(row => [...row.children].map(cell =>"
        " cell.textContent).concat(row.querySelector('.bar span').style.width))"
    )
    seconds = [rate["seconds"] for rate in kernel["rates"]]
    expect(len(rows) == len(seconds), f"{len(rows)} rates, not {len(seconds)}")
    for row, rate in zip(rows, kernel["rates"]):
        name, factor = rate["name"], seconds[0] / rate["seconds"]
        expect(row[0].split(" (")[0] == name, f"the rate of {row[0]}, not of {name}")
        part = 100 * min(seconds) / rate["seconds"]
        expect(near(row[-1].rstrip("%"), part), f"the bar of {name}: {row[-1]}, not {part}")
        if factor != 1:
            shown, word = row[3].split("\u00a0× ")
            expect(near(shown, max(factor, 1 / factor)), f"{name}: {row[3]}, not {factor}")
            expect(word == ("faster" if factor >= 1 else "slower"), f"{name} is {word}")


def check_steps(browser, everything):
    """A link in the table of rates opens the player of its rung's trace."""
    links = "[...document.querySelectorAll('#tables a.play')]"
    names = browser.get(f"[...new Set({links}.map(link => link.hash.slice('#steps-'.length)))].sort()")
    expect(names == sorted(everything["traces"]), f"links to the players of {names}")
    for name, trace in everything["traces"].items():
        browser.get(f"{links}.find(link => link.hash === '#steps-{name}').click()")
        browser.frame()
        where = browser.get(f"document.querySelector('#steps-{name} .where')?.textContent")
        count = len(Replay(trace).moves)
        expect(count > 1 and where == f"Move 0 of {count}", f"the player of {name}: {where}, not of {count}")
        browser.get(f"document.querySelector('#steps-{name}').open = false")


def drive_lab(browser, everything):
    kernel = everything["lab"]
    check_kernel(browser, kernel, "#page")
    lines = browser.get("document.querySelectorAll('#kernel .listing > span').length")
    expect(lines == len(kernel["kernel"].rstrip("\n").split("\n")), f"the listing has {lines} lines")
    if kernel["rates"]:
        check_lab_rates(browser, kernel, "#rates")


def drive_class(browser, everything):
    ranks = browser.get(
        "[...document.querySelectorAll('#ranking tbody tr')].map(row =>"
        " [...row.children].map(cell => cell.textContent))"
    )
    expect(len(ranks) == len(everything["class"]), f"{len(ranks)} ranks")
    for rank, kernel in zip(ranks, everything["class"]):
        expect(rank[0] == kernel["name"] and rank[3] == kernel["verdict"], f"{rank} of {kernel['name']}")
        if kernel.get("faults"):
            broken = kernel["verdict"] == "broken"
            reason = kernel["failure"] if broken else kernel["faults"][0]["kind"]
            expect(rank[6] == reason, f"{rank} has another reason")
            check_kernel(browser, kernel, "#kernels")


def drive_run(browser, everything):
    """A recorded program: a row for each product, a card for each advice, and sorting by calls."""
    recorded = everything["run"]
    cells = (
        "[...document.querySelectorAll('#products tbody tr')].map(row =>"
        " [...row.children].map(cell => cell.textContent))"
    )
    rows = browser.get(cells)
    expect(len(rows) == len(recorded["products"]), f"{len(rows)} products")
    for row, product in zip(rows, recorded["products"]):
        expect(row[1] == product["routine"], f"{row} of {product['routine']}")
        expect(row[4] == str(product["calls"]), f"{row} has other calls")
        expect(row[8:10] == [product["computed_by"], product["why"]], f"{row} has another library or reason")
    browser.get("document.querySelectorAll('#products thead button')[4].click()")
    calls = [int(row[4]) for row in browser.get(cells)]
    expect(calls == sorted(calls, reverse=True), f"calls are not sorted: {calls}")
    texts = browser.get(
        "[...document.querySelectorAll('#advice article p:nth-of-type(1)')].map(text => text.textContent)"
    )
    expect(texts == [one["text"] for one in recorded["advice"]], f"advice: {texts}")
    notes = browser.get("[...document.querySelectorAll('#advice .reasons li')].map(note => note.textContent)")
    expect(notes == recorded["notes"], f"notes: {notes}")
    processes = browser.get("document.querySelectorAll('#processes tbody tr').length")
    expect(processes == len(recorded["processes"]), f"{processes} processes")


def drive(browser, path, folder):
    found = re.search(
        r'<script type="application/json" id="data">(.*?)</script>', path.read_text(encoding="utf-8"), re.S
    )
    everything = json.loads(found[1])
    browser.size(1280, 1600)
    browser.colours("light")
    browser.go(path.resolve().as_uri())
    browser.frame()
    sections = browser.get("[...document.querySelectorAll('section')].map(section => section.id)")
    browser.picture(folder, "light.png")
    check_form(browser)
    browser.size(1280, 1600)
    kinds = {"run": drive_run, "trace": drive_trace, "lab": drive_lab, "class": drive_class}
    next((kinds[name] for name in kinds if name in everything), drive_exploration)(browser, everything)
    check_colours(browser)
    browser.colours("dark")
    browser.picture(folder, "dark.png")
    browser.size(390, 844)
    browser.picture(folder, "narrow.png")
    expect(not browser.messages, f"the console has: {browser.messages}")
    browser.ask("Emulation.setScriptExecutionDisabled", value=True)
    browser.go(path.resolve().as_uri())
    words = browser.get("document.body.innerText")
    expect(
        browser.get("document.querySelector('#report').open")
        and everything["command_line"] in words
        and all(one["name"] in words for one in everything.get("ideas", [])),
        "without scripts there is no report",
    )
    browser.picture(folder, "plain.png")
    return sections


def run(work):
    """Calls the work with a browser, and prints the words that it returns."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not program:
        print("no chromium in PATH (Debian: apt-get install chromium)")
        sys.exit(77)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(program, folder)
        try:
            print(*work(browser))
        finally:
            browser.close()


if __name__ == "__main__":
    pictures = sys.argv[2] if len(sys.argv) > 2 else None
    run(lambda browser: drive(browser, pathlib.Path(sys.argv[1]), pictures))
