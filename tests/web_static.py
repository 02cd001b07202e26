#!/usr/bin/env python3
"""Plays on the page without a server, in headless Chromium: FOLDER that scripts/web made, URL of a server of the same bundle,
whose analyses must be the same [, FOLDER for screenshots].

Exit code 0: it works; 1: it does not, with the reason; 77: there is no Chromium with its chromedriver."""
import functools
import http.server
import json
import random
import sys
import threading
import urllib.request
from pathlib import Path

from browser import find
from web_page import SETTLED, STATE, arrange, choose, look_around, play, until

MOVES = 8  # of a person, after which it resigns
STRENGTH = "visits 4"
ANALYSIS = {"visits": 64}
NEAR = 1e-3  # most that two runtimes' numbers differ by
OPENINGS = {"xiangqi": ["", "h2e2", "h2e2 h9g7 h0g2 i9h9 i0h0 b9c7"], "fanqi-1": ["", "h2e2 h7e7"]}  # of forms without chance


class Files(http.server.SimpleHTTPRequestHandler):
    """The folder; the file `missing` is not there, `damaged` is half of it."""
    missing = damaged = None

    def do_GET(self):
        name = self.path.rsplit("/", 1)[-1]
        if name == Files.missing:
            return self.send_error(404)
        if name != Files.damaged:
            return super().do_GET()
        content = Path(self.translate_path(self.path)).read_bytes()
        content = content[:len(content) // 2]
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        return self.wfile.write(content)

    def end_headers(self):
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, *_):
        pass


def served(folder):
    """The folder's address, as long as the program runs."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


def load(browser, url):
    browser.call("POST", "/url", {"url": url})
    until(browser, "the page", "return typeof page !== 'undefined' && page.state && document.getElementById('strength').value")


def begin(browser, form, people):
    browser.click("#new")
    browser.click(f"#forms input[value={form}] + span")
    browser.click(f"#people input[value={people}] + span")
    browser.click("#start")
    until(browser, "the game", "return !document.getElementById('begin').open && page.state.form === arguments[0] && page.state.people === arguments[1] && page.state.ply < 16", form, people)
    browser.run("const s = document.getElementById('strength'); s.value = arguments[0]; s.dispatchEvent(new Event('change'))", STRENGTH)


def game(browser, url, form, people, width, shots):
    """Some moves, a look around, the page loaded anew in the middle, and the end."""
    touch = width < 600
    rng = random.Random(form)
    browser.show(width, False)
    begin(browser, form, people)
    if browser.run("return page.state.arranged"):
        until(browser, "people's arrangement", "return page.state.arranging && page.state.mine")
        arrange(browser)
    for number in range(MOVES):
        until(browser, "the engine's move", SETTLED)
        if number == 3:
            look_around(browser, touch)
        if number == 5:
            before = browser.run(STATE)
            load(browser, url)
            until(browser, "the game again", SETTLED)
            after = browser.run(STATE)
            assert all(before[key] == after[key] for key in ("form", "people", "fen", "legal", "moves", "board")), f"another game: {before} {after}"
        state = browser.run(STATE)
        if state["over"]:
            break
        play(browser, choose(state, rng), number % 3 == 2, touch)
        until(browser, "the move", "return page.state.ply > arguments[0] || page.state.over", state["ply"])
    until(browser, "the engine's move", SETTLED)
    if shots:
        browser.shot(shots / f"static-{form}-{width}.png")
    if not browser.run("return page.state.over"):
        browser.click("#resign")
    until(browser, "the end", "return page.state.over")
    print(f"{form} at {width} px: {browser.run('return page.state.ply')} plies, {browser.run('return page.state.over.reason')}")


def post(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=120) as answer:
        return json.load(answer)


def near(a, b, path=""):
    """Whether two analyses are the same but for the last digits of their numbers."""
    if isinstance(a, dict):
        assert a.keys() == b.keys(), f"{path}: {a} and {b}"
        pairs = [(a[key], b[key], f"{path}.{key}") for key in a]
    elif isinstance(a, list):
        assert len(a) == len(b), f"{path}: {a} and {b}"
        pairs = [(x, y, f"{path}[{i}]") for i, (x, y) in enumerate(zip(a, b))]
    else:
        same = abs(a - b) <= NEAR * max(1, abs(b)) if isinstance(b, float) else a == b
        assert same, f"{path}: {a} in the browser, {b} of the server"
        pairs = []
    for pair in pairs:
        near(*pair)


def same_analyses(browser, server):
    """In the browser the network and the search say what they say on the server."""
    for form, texts in OPENINGS.items():
        for text in texts:
            start = {"form": form, "people": "both", "text": text}
            browser.run("window.found = null; const tell = (found) => { window.found = found; };"
                        "page.link.begin(arguments[0]).then(() => page.link.analysis(arguments[1])).then(tell, (error) => tell({ error: error.message }))", start, ANALYSIS)
            here = until(browser, "an analysis", "return window.found")
            name = post(f"{server}api/games", start)["name"]
            near(here, post(f"{server}api/games/{name}/analysis", ANALYSIS), f"{form} {text or 'start'}")


def refusals(browser, url):
    """What is missing or damaged is named on the page."""
    complaint = "const it = document.getElementById('complaint'); return !it.hidden && it.textContent"
    for kind, name, says in (("damaged", "model.onnx", "changed since it was exported"), ("damaged", "model.json", "no whole JSON"), ("missing", "browser.wasm", "browser.wasm"),
                             ("missing", "onnxruntime.js", "cannot be loaded")):
        setattr(Files, kind, name)
        browser.call("POST", "/url", {"url": url})
        if name == "model.onnx":
            until(browser, "the page", "return typeof page !== 'undefined' && page.state && document.getElementById('strength').value")
            browser.run("page.start({ form: 'xiangqi', people: 'black' })")
        told = until(browser, f"a word about {name}", complaint)
        assert says in told, f"{name}: {told}"
        setattr(Files, kind, None)


def check(browser, folder, server, shots):
    url = served(folder)
    browser.show(1280, False)
    load(browser, url)
    same_analyses(browser, server)
    load(browser, url)
    for form, people, width in (("xiangqi", "red", 1280), ("fanqi-9", "black", 390), ("jieqi", "red", 390)):
        game(browser, url, form, people, width, shots)
    wrong = browser.console()
    assert not wrong, f"the console says {wrong}"
    refusals(browser, url)


def main():
    browser = find()
    shots = Path(sys.argv[3]) if len(sys.argv) > 3 else None
    if shots:
        shots.mkdir(parents=True, exist_ok=True)
    try:
        check(browser, sys.argv[1], sys.argv[2], shots)
    except AssertionError as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
