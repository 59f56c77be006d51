"""Looks for English words in a page of another language: languages.py FILE TAG [FOLDER].

The page has the language's tag. No text or attribute that the reader sees has an English message of the
catalogue or a frequent English word. Parts with lang="en", such as headers of kernels, are left out. A trace
is played to its end first. A picture of the page is kept in FOLDER. Exits with 77 if Chromium is missing."""

import pathlib
import re
import sys

from browser import expect, run

FREQUENT = re.compile(r"\b(the|and|of|from|with|each|its|that|are|was|not|by)\b", re.IGNORECASE)
# All texts and the attributes that people see or hear, outside of English parts, commands and notations.
TEXTS = """(() => {
  const isShown = node => !node.closest('[lang=en], code, script, style, noscript'), found = [];
  for (const node of document.querySelectorAll('main *')) {
    if (!isShown(node)) continue;
    for (const child of node.childNodes)
      if (child.nodeType === 3 && child.data.trim()) found.push(child.data.trim());
    for (const name of ['title', 'aria-label', 'aria-valuetext'])
      if (node.hasAttribute(name)) found.push(node.getAttribute(name));
  }
  return found; })()"""


def pattern(message):
    """Returns a pattern of the texts that a message makes."""
    parts = re.split(r"%(?:\d+\$)?s", message.replace("%%", "%"))
    return re.compile(".*".join(re.escape(part) for part in parts), re.DOTALL)


def check(browser):
    path, tag = pathlib.Path(sys.argv[1]), sys.argv[2]
    browser.size(1280, 900)
    browser.go(path.resolve().as_uri())
    expect(browser.get("document.documentElement.lang") == tag, f"the page's language is not {tag}")
    texts = browser.get(TEXTS)
    if browser.get("!!document.querySelector('#trace figure')"):
        browser.get("document.querySelector('#trace figure').focus()")
        for _ in range(40):
            browser.press("ArrowRight")
            texts += browser.get(TEXTS)
        browser.press("End")
        texts += browser.get(TEXTS)
    words = browser.get("JSON.parse(document.getElementById('data').textContent).words")
    expect(words, "the page has no translations")
    english = [
        pattern(message)
        for message, forms in words.items()
        if message not in forms and len(re.findall("[a-z]", re.sub(r"%(\d+\$)?s", "", message))) > 5
    ]
    left = {text for text in texts if FREQUENT.search(text) or any(one.fullmatch(text) for one in english)}
    expect(not left, f"{tag}: English is left: {sorted(left)}")
    expect(not browser.messages, f"the console has: {browser.messages}")
    if len(sys.argv) > 3:
        browser.size(1280, browser.get("document.documentElement.scrollHeight"))
        browser.picture(sys.argv[3], f"{path.stem}.png")
    return tag, len(set(texts))


run(check)
