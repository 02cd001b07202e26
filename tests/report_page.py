#!/usr/bin/env python3
"""Opens a report of `fanqi report` in headless Chromium: PAGE [FOLDER for screenshots].

Exit code 0: it works; 1: it does not, with the reason; 77: there is no Chromium with its chromedriver."""
import sys
from pathlib import Path

from browser import KEYS, find

PLOTS = """return [...document.querySelectorAll('.chart:not([hidden]) .plot')].map((plot) => {
  const canvas = plot.querySelector('canvas');
  const name = plot.dataset.chart || plot.id;
  if (!canvas) return [name, 0, 0, 0];
  const chart = DATA.charts.find((chart) => chart.id === name);
  const names = chart ? chart.lines.map((line) => line.colour) : STRENGTH_COLOURS;
  const colours = names.map((name) => parseInt(ink(name).slice(1), 16));
  const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let inked = 0;
  for (let i = 0; i < data.length; i += 4) {
    const apart = (colour) => [16, 8, 0].map((shift, part) => Math.abs(data[i + part] - (colour >> shift & 255)));
    if (data[i + 3] > 200 && colours.some((colour) => Math.max(...apart(colour)) < 24)) inked++;
  }
  return [name, canvas.width, canvas.height, inked];
})"""
BOARD = "return [...document.querySelectorAll('#board .piece')].map((p) => p.getAttribute('transform') + p.getAttribute('class') + p.textContent).sort().join()"
CURRENT = "return Number(document.querySelector('#moves [aria-current]')?.dataset.ply || 0)"


def check_charts(browser):
    plots = browser.run(PLOTS)
    assert len(plots) >= 8, f"only {len(plots)} charts"
    for name, width, height, inked in plots:
        assert width > 100 and height > 100 and inked > 4, f"chart {name} is not drawn: {width} x {height}, {inked} dots in the colours of its lines"


def check_ladder(browser):
    """The curve of the ladder is there, and a cross table of each form with a score for each two that met."""
    forms = browser.run("return DATA.ladder.length")
    hidden = browser.run("return document.getElementById('ladder-figure').hidden")
    assert hidden == (forms == 0), f"{forms} ladders, figure hidden: {hidden}"
    tables = browser.run("return [...document.querySelectorAll('table.cross')].map((table) => [table.tBodies[0].rows.length, table.querySelectorAll('td.c[title]').length])")
    assert len(tables) == forms, f"{forms} ladders, {len(tables)} cross tables"
    for rows, scores in tables:
        assert rows >= 2 and scores >= 2 and scores % 2 == 0, f"a cross table of {rows} rows and {scores} scores"
    for place in range(1, forms):
        browser.run("const s = document.getElementById('ladder-form'); s.selectedIndex = arguments[0]; s.dispatchEvent(new Event('change'))", place)
        check_charts(browser)


def check_width(browser, width):
    wide = browser.run("return [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert wide[0] <= wide[1], f"at {width} px the page is {wide[0]} px wide"


def check_replay(browser):
    """Every way to go through a game changes the board, and comes back to it."""
    last = browser.run("return Number(document.getElementById('ply').max)")
    start = browser.run("return Number(document.getElementById('ply').value)")
    first = browser.run(BOARD)
    assert first.count("piece") >= 20, f"no board: {first}"
    browser.click("#forth")
    second = browser.run(BOARD)
    assert second != first and browser.run(CURRENT) == start + 1, "the button goes forth"
    browser.press(KEYS["left"])
    assert browser.run(BOARD) == first, "the key goes back"
    browser.press(KEYS["right"])
    assert browser.run(BOARD) == second, "the key goes forth"
    browser.click(f"#moves [data-ply='{last}']")
    assert browser.run(CURRENT) == last and browser.run(BOARD) != second, "a move in the list is gone to"
    browser.press(KEYS["home"])
    assert browser.run("return document.getElementById('ply').value") == "0", "Home goes to the start"
    before = browser.run(BOARD)
    browser.click("#flip")
    assert browser.run(BOARD) != before, "the board is turned"
    browser.click("#flip")
    browser.click("#board .piece")
    assert browser.run("return document.getElementById('said').textContent").startswith(("Red", "Black")), "a piece is told"
    title = "return document.getElementById('game-title').textContent"
    shown = browser.run(title)
    browser.click("#list button:not([aria-current])")
    assert browser.run(title) != shown, "another game is opened"


def check_views(browser):
    """The truth of a hidden game looks other than what a player knows; of an arranged one each player knows another part."""
    for wanted, views in (("game.first > 0", 3), ("game.hides && game.first === 0", 2)):
        game = browser.run(f"return DATA.games.find((game) => {wanted})?.id")
        if game is None:
            continue
        browser.click(f"#list [data-game='{game}']")
        boards = set()
        for place in range(browser.run("return document.querySelectorAll('#view label').length")):
            browser.click(f"#view label:nth-of-type({place + 1}) span")
            boards.add(browser.run(BOARD))
        assert len(boards) >= views, f"game {game}: the views show {len(boards)} boards"


def check(browser, page, shots):
    browser.show(1280, dark=False)
    browser.call("POST", "/url", {"url": page.resolve().as_uri()})
    for width in (1280, 390):
        for dark in (False, True):
            browser.show(width, dark)
            check_charts(browser)
            check_width(browser, width)
            if shots:
                name = f"{width}-{'dark' if dark else 'light'}"
                browser.shot(shots / f"{name}.png")
                for part in ("strength", "training", "selfplay", "games"):
                    browser.shot(shots / f"{name}-{part}.png", f"#{part}")
        check_replay(browser)
        check_views(browser)
    for axis in ("minutes", "games"):
        browser.click(f"#axis [value={axis}] + span")
        check_charts(browser)
    if browser.run("return !document.getElementById('strength-figure').hidden"):
        browser.click("#strength-unit [value=elo] + span")
        check_charts(browser)
    check_ladder(browser)
    loaded = browser.run("return performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert not loaded, f"the page loads {loaded}"
    wrong = browser.console()
    assert not wrong, f"the console says {wrong}"


def main():
    browser = find()
    shots = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if shots:
        shots.mkdir(parents=True, exist_ok=True)
    try:
        check(browser, Path(sys.argv[1]), shots)
    except AssertionError as error:
        print(f"{sys.argv[1]}: {error}", file=sys.stderr)
        return 1
    finally:
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
