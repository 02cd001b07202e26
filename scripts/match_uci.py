#!/usr/bin/env python3
"""A match over UCI between `fanqi uci` and another engine of Xiangqi, and every fault of either.

    scripts/match_uci.py runs/quick --games 100 --time 1 --increment 0.1

Plain python3. A second `fanqi uci` without a network is the referee: it says which moves are legal and how a game
has ended. Exit code 1 if an engine broke the protocol, played an illegal move or lost on time.
"""

import argparse
import collections
import queue
import re
import subprocess
import sys
import threading
import time

WORDS = ("id", "option", "uciok", "readyok", "bestmove", "info")


class Fault(Exception):
    """An engine did what it must not."""


def one_up(move):
    """Ranks 0-9 to 1-10."""
    return re.sub(r"\d", lambda rank: str(int(rank.group()) + 1), move)


def one_down(move):
    """Ranks 1-10 to 0-9."""
    return re.sub(r"\d+", lambda rank: str(int(rank.group()) - 1), move)


class Engine:
    """A process that speaks UCI."""

    def __init__(self, name, command, options, ranks_from_one=False, strict=False):
        self.name, self.strict = name, strict
        self.read = one_down if ranks_from_one else str
        self.write = one_up if ranks_from_one else str
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.lines = queue.Queue()
        threading.Thread(target=self.listen, daemon=True).start()
        self.send("uci")
        self.until("uciok", 60)
        for option, value in options:
            self.send(f"setoption name {option} value {value}")
        self.ready()

    def listen(self):
        for line in self.process.stdout:
            self.lines.put((time.monotonic(), line.rstrip("\n")))
        self.lines.put((time.monotonic(), None))

    def send(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except OSError as error:
            raise Fault(f"{self.name}: cannot be written to: {error}") from error

    def next(self, seconds):
        """The next line and when it came."""
        try:
            came, line = self.lines.get(timeout=seconds)
        except queue.Empty:
            raise Fault(f"{self.name}: no answer within {seconds} s") from None
        if line is None:
            raise Fault(f"{self.name}: ended with code {self.process.wait()}")
        if self.strict and line.split(" ")[0] not in WORDS:
            raise Fault(f"{self.name}: no protocol: {line!r}")
        return came, line

    def until(self, word, seconds):
        """The line that starts with `word`, when it came, and what came before it."""
        before = []
        while True:
            came, line = self.next(seconds)
            if line.split(" ")[0] == word:
                return line, came, before
            before.append(line)

    def ready(self):
        self.send("isready")
        return self.until("readyok", 60)[2]

    def new_game(self):
        self.send("ucinewgame")
        self.ready()

    def position(self, moves):
        moves = " ".join(self.write(move) for move in moves)
        self.send("position startpos" + (f" moves {moves}" if moves else ""))

    def go(self, moves, clock_ms, increment_ms):
        """The move and the seconds that it took."""
        self.position(moves)
        self.ready()
        begun = time.monotonic()
        self.send(
            f"go wtime {clock_ms[0]} btime {clock_ms[1]} winc {increment_ms} binc {increment_ms}"
        )
        line, came, before = self.until("bestmove", 60 + max(clock_ms) / 1000)
        complaints = [line for line in before if line.startswith("info string")]
        if self.strict and complaints:
            raise Fault(f"{self.name}: {complaints[0]}")
        words = line.split(" ")
        return self.read(words[1]) if len(words) > 1 else "", came - begun

    def quit(self):
        self.send("quit")
        try:
            code = self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Fault(f"{self.name}: does not end on quit") from None
        if code != 0:
            raise Fault(f"{self.name}: ended with code {code}")


class Referee(Engine):
    """What is legal, and how a game has ended."""

    def look(self, moves):
        self.position(moves)
        self.send("d")
        told = {}
        for line in self.ready():
            _, _, key, *rest = line.split(" ")
            told[key] = rest
        return told.get("legal", []), told.get("result")


def play(engines, referee, clock, args):
    """Plays a game, Red first; its result, reason and plies."""
    for engine in engines:
        engine.new_game()
    moves, left = [], [clock, clock]
    while True:
        legal, result = referee.look(moves)
        if result:
            return result[0], result[1], len(moves)
        if args.plies and len(moves) >= args.plies:
            return "draw", "ply_cap", len(moves)
        turn = len(moves) % 2
        ms = [max(int(1000 * seconds), 1) for seconds in left]
        move, seconds = engines[turn].go(moves, ms, int(1000 * args.increment))
        args.slowest[engines[turn].name] = max(args.slowest[engines[turn].name], seconds)
        left[turn] -= seconds
        if left[turn] < 0:
            raise Fault(f"{engines[turn].name}: lost on time, {-left[turn]:.3f} s over, ply {len(moves) + 1}")
        left[turn] += args.increment
        if move not in legal:
            raise Fault(f"{engines[turn].name}: illegal move {move!r} after {' '.join(moves)}")
        moves.append(move)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", help="run directory or checkpoint of a network that plays Xiangqi")
    parser.add_argument("--fanqi", default="target/release/fanqi")
    parser.add_argument("--other", default="/usr/games/fairy-stockfish", help="an engine with ranks 1-10")
    parser.add_argument("--other-option", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--time", type=float, default=1.0, help="seconds a game and side")
    parser.add_argument("--increment", type=float, default=0.1, help="seconds a move")
    parser.add_argument("--plies", type=int, default=0, help="cut a game as a draw after so many; 0: never")
    return parser.parse_args()


def main():
    args = arguments()
    args.slowest = collections.Counter()
    ours = Engine("fanqi", [args.fanqi, "uci", args.model], [("UCI_Variant", "xiangqi")], strict=True)
    options = [("UCI_Variant", "xiangqi")] + [option.split("=", 1) for option in args.other_option]
    other = Engine("other", [args.other], options, ranks_from_one=True)
    referee = Referee("referee", [args.fanqi, "uci"], [])
    score, reasons, faults = collections.Counter(), collections.Counter(), []
    for game in range(args.games):
        engines = [ours, other] if game % 2 == 0 else [other, ours]
        try:
            result, reason, plies = play(engines, referee, args.time, args)
        except Fault as fault:
            faults.append(f"game {game + 1}: {fault}")
            print(faults[-1], flush=True)
            if any(engine.process.poll() is not None for engine in (ours, other, referee)):
                break
            continue
        winner = {"red": engines[0].name, "black": engines[1].name}.get(result, "draw")
        score[winner] += 1
        reasons[reason] += 1
        print(f"game {game + 1}: {winner} ({reason}, {plies} plies, Red {engines[0].name})", flush=True)
    for engine in (ours, other, referee):
        try:
            engine.quit()
        except Fault as fault:
            faults.append(str(fault))
    slowest = ", ".join(f"{name} {seconds:.3f} s" for name, seconds in args.slowest.items())
    print(f"{sum(score.values())} games: fanqi {score['fanqi']}, draws {score['draw']}, other {score['other']}")
    print(f"reasons: {dict(reasons)}; slowest move: {slowest}")
    print(f"faults: {len(faults)}", *faults, sep="\n")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
