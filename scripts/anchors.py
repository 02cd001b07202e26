#!/usr/bin/env python3
"""Measures anchors for Xiangqi: built-in players and Debian's `fairy-stockfish` at fixed strengths, on one Elo scale.

    PATH=$PATH:/usr/games scripts/anchors.py --games 100 --out matches/anchors

Plain python3. Neighbours in the list below, and neighbours of neighbours, play matches of paired openings with
`fanqi arena`; `fanqi rate` rates all of them together with `random` at 0. The result is printed as a file for
`fanqi rate --anchors`. The same command goes on after an interruption.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys

ENGINE = "engine:fairy-stockfish?nodes={nodes}"
SKILLED = ENGINE.format(nodes=1000) + "&skill={skill}"


def players():
    """From the weakest to the strongest, as far as could be guessed before."""
    skills = {skill: SKILLED.format(skill=skill) for skill in (-20, -15, -10, -5, 0, 5, 10, 15)}
    nodes = {nodes: ENGINE.format(nodes=nodes) for nodes in (100, 300, 1000, 3000, 10000, 50000)}
    weak = ["random", "greedy", "alphabeta:2", *(skills[skill] for skill in (-20, -15, -10, -5))]
    middle = [skills[0], nodes[100], skills[5], skills[10], nodes[300], skills[15]]
    return weak + middle + [nodes[count] for count in (1000, 3000, 10000, 50000)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--fanqi", default="target/release/fanqi", help="the command")
    parser.add_argument("--games", default="100", help="games of each match")
    parser.add_argument("--out", default="matches/anchors", help="folder of the games")
    args = parser.parse_args()
    if shutil.which("fairy-stockfish") is None:
        print("anchors.py: no fairy-stockfish in PATH; Debian has it in /usr/games", file=sys.stderr)
        return 2
    all_players, folders = players(), []
    for place, player in enumerate(all_players):
        for other in all_players[place + 1 : place + 3]:
            folder = pathlib.Path(args.out) / f"{place:02}-{all_players.index(other):02}"
            command = [args.fanqi, "arena", player, other, "--games", args.games, "--out", folder]
            folder.parent.mkdir(parents=True, exist_ok=True)
            if subprocess.run(command, stdout=subprocess.DEVNULL).returncode != 0:
                return 1
            folders.append(folder)
    rate = [args.fanqi, "rate", "--anchor", "random=0", "--json", *folders]
    rated = json.loads(subprocess.run(rate, stdout=subprocess.PIPE, check=True).stdout)
    print("[anchors]")
    for player in sorted(rated["players"], key=lambda player: player["elo"]["value"]):
        elo, games = player["elo"], sum(player["games"])
        lower, upper = elo["interval"]["lower"], elo["interval"]["upper"]
        surety = "given" if player["anchor"] else f"{lower:.0f}..{upper:.0f}"
        print(f'"{player["name"]}" = {elo["value"]:.0f}  # {surety}, {games} games')
    return 0


if __name__ == "__main__":
    sys.exit(main())
