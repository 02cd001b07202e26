#!/usr/bin/env python3
"""Plays a game on the page of a server in headless Chromium, on a desktop's and on a phone's window: URL FORM [FOLDER for
screenshots].

Exit code 0: it works; 1: it does not, with the reason; 77: there is no Chromium with its chromedriver."""
import random
import sys
import time
from pathlib import Path

from browser import find

LONGEST = 150  # moves of a person, after which it resigns
PATIENCE = 60  # seconds for anything to happen

STATE = "return page.state"
SQUARES = """const svg = document.getElementById('board'); svg.scrollIntoView({block: 'center', behavior: 'instant'});
const at = (square) => { const [x, y] = page.table.at(square); const p = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM()); return [Math.round(p.x), Math.round(p.y)]; };
return [at(arguments[0]), at(arguments[1])]"""
SETTLED = "return document.body.dataset.turn !== 'engine' && !page.asking && !page.thinking"


def until(browser, what, script, *arguments):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = browser.run(script, *arguments)
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"{what} did not come in {PATIENCE} s; the page says: {browser.run('return document.body.innerText')}")


def point(browser, steps, touch):
    """Pointer actions: 'down', 'up', or where to move."""
    acts = []
    for step in steps:
        if isinstance(step, list):
            acts.append({"type": "pointerMove", "duration": 0, "x": step[0], "y": step[1]})
        else:
            acts.append({"type": f"pointer{step.title()}", "button": 0})
    kind = "touch" if touch else "mouse"
    pointer = {"type": "pointer", "id": kind, "parameters": {"pointerType": kind}, "actions": acts}
    browser.call("POST", "/actions", {"actions": [pointer]})


def choose(state, rng):
    """A move; what takes something is liked, and what lays a piece down, too."""
    squares = state["board"]["squares"]
    takes = [move for move in state["legal"] if squares[move["to"]]]
    downs = [move for move in state["legal"] if move["down"]]
    liked = takes if takes and rng.random() < 0.6 else downs if downs and rng.random() < 0.3 else state["legal"]
    return rng.choice(liked)


def play(browser, move, drags, touch):
    """Makes a move as a person does: two taps, or a drag; then the choice, if there is one."""
    start, end = browser.run(SQUARES, move["from"], move["to"])
    if drags:
        middle = [(start[0] + end[0]) // 2, (start[1] + end[1]) // 2]
        point(browser, [start, "down", middle, end, "up"], touch)
    else:
        point(browser, [start, "down", "up", end, "down", "up"], touch)
    if browser.run("return !document.getElementById('choice').hidden"):
        browser.click(f"#choice [data-move='{move['move']}']")


def arrange(browser):
    """Places some pieces one by one, takes one back, and leaves the rest to chance."""
    until(browser, "the arrangement", "return !document.getElementById('placing').hidden")
    for _ in range(3):
        before = browser.run("return page.state.ply")
        browser.click("#hand button:last-of-type")
        until(browser, "a placement", "return page.state.ply === arguments[0] && !page.asking", before + 1)
    before = browser.run("return page.state.ply")
    browser.click("#undo")
    until(browser, "a placement taken back", "return page.state.ply === arguments[0] && !page.asking", before - 1)
    browser.click("#rest-random")
    until(browser, "the engine's arrangement", "return !page.state.arranging && page.state.mine")


def look_around(browser, touch):
    """Undo, the list of moves, the turned board, the other language, analysis."""
    ply = browser.run("return page.state.ply")
    browser.click("#undo")
    until(browser, "a move taken back", "return page.state.ply < arguments[0] && !page.asking", ply)
    until(browser, "the present", SETTLED)
    browser.click("#flip")
    browser.click("#flip")
    if browser.run("return document.getElementById('analyse').getAttribute('aria-pressed') === 'false'"):
        browser.click("#analyse")
    until(browser, "an analysis", "return document.querySelectorAll('#best li').length > 0 && !document.getElementById('bar').hidden")
    # What comes late disturbs nobody who is choosing a move.
    start, _ = browser.run(SQUARES, browser.run("return page.state.legal[0].from"), 0)
    point(browser, [start, "down", "up"], touch)
    browser.run("page.found = null; page.analyse()")
    until(browser, "another analysis", "return page.found")
    assert browser.run("return page.table.selected !== null"), "a late analysis took the selection away"
    point(browser, [start, "down", "up"], touch)
    chinese = browser.run("return document.documentElement.lang")
    browser.click("#language")
    assert browser.run("return document.documentElement.lang") != chinese, "the other language"
    browser.click("#language")


def game(browser, form, people, width, dark, shots):
    touch = width < 600
    name = f"{form}-{width}"
    rng = random.Random(f"{name}-{people}")
    browser.show(width, dark)
    browser.click("#new")
    browser.click(f"#forms input[value={form}] + span")
    browser.click(f"#people input[value={people}] + span")
    if shots:
        browser.shot(shots / f"{name}-new.png")
    browser.click("#start")
    until(browser, "the game", "return !document.getElementById('begin').open && page.state.form === arguments[0] && page.state.people === arguments[1] && page.state.ply < 16", form, people)
    browser.run("const s = document.getElementById('strength'); s.value = 'level 1'; s.dispatchEvent(new Event('change'))")
    assert browser.run("return document.getElementById('strength').value") == "level 1", "level 1 can be chosen"
    if browser.run("return page.state.arranged"):
        until(browser, "people's arrangement", "return page.state.arranging && page.state.mine")
        if shots:
            browser.shot(shots / f"{name}-arrange.png")
        arrange(browser)
    moves = 0
    while True:
        until(browser, "the engine's move", SETTLED)
        state = browser.run(STATE)
        if state["over"]:
            break
        if moves == 6:
            look_around(browser, touch)
            state = browser.run(STATE)
        if moves == 12 and shots:
            browser.shot(shots / f"{name}-{'dark' if dark else 'light'}.png")
        if moves == LONGEST:
            browser.click("#resign")
            until(browser, "the end", "return page.state.over")
            continue
        play(browser, choose(state, rng), moves % 3 == 2, touch)
        until(browser, "the move", "return page.state.ply > arguments[0] || page.state.over", state["ply"])
        moves += 1
    if shots:
        browser.shot(shots / f"{name}-over.png")
    wide = browser.run("return [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert wide[0] <= wide[1], f"at {width} px the page is {wide[0]} px wide"
    last = state["moves"][-1]["ply"]
    browser.click("#to-start")
    until(browser, "the start", "return page.shown === 0 || page.state.moves.length === 0")
    browser.click(f"#moves [data-ply='{last}']")
    until(browser, "the end again", "return page.shown === null")
    return moves, state["over"]


def check(browser, url, form, shots):
    browser.show(1280, False)
    browser.call("POST", "/url", {"url": url})
    until(browser, "the page", "return typeof page !== 'undefined' && page.state && document.getElementById('strength').value")
    for width, people, dark in ((1280, "red", False), (390, "black", True)):
        moves, over = game(browser, form, people, width, dark, shots)
        print(f"{form} at {width} px: {moves} moves, {over['result']} by {over['reason']}")
    wrong = browser.console()
    assert not wrong, f"the console says {wrong}"


def main():
    browser = find()
    shots = Path(sys.argv[3]) if len(sys.argv) > 3 else None
    if shots:
        shots.mkdir(parents=True, exist_ok=True)
    try:
        check(browser, sys.argv[1], sys.argv[2], shots)
    except AssertionError as error:
        print(f"{sys.argv[2]}: {error}", file=sys.stderr)
        return 1
    finally:
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
