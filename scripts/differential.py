#!/usr/bin/env python3
"""Plays random games of Xiangqi and compares fanqi with `pyffish` (Fairy-Stockfish) at every ply.

    python3 -m venv .venv && .venv/bin/pip install pyffish==0.0.90
    .venv/bin/python scripts/differential.py --games 20000

Compared: the legal moves of every position; when and how a game ends (checkmate, stalemate, repetition, natural limit,
too little material); who wins by it. Half of the games start from the usual position, half from a few random pieces,
where checks, chases and repetitions are frequent; the players retrace their moves, give check, hunt with rooks and
repeat what they played four plies ago, with chances that differ from game to game. Every difference is counted under its kind, and the
first of each kind are printed with the command that repeats them. Exit code 1 if a difference is of no known kind.
"""

import argparse
import collections
import multiprocessing
import os
import random
import re
import subprocess
import sys

try:
    import pyffish
except ImportError:
    print(
        "differential.py: it needs pyffish: `python3 -m venv .venv && .venv/bin/pip install pyffish==0.0.90`",
        file=sys.stderr,
    )
    sys.exit(2)

from match_uci import one_down

VARIANT = "xiangqi"
START = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1"
NATURAL_LIMIT = 120

# Why verdicts on a repetition differ.
ENTRY = "they agree once the cycle is played again, the move that first led into it being no part of it"
SLIDE = "pyffish counts what a rook attacks still, along the line that it moved on, as attacked anew"
KINGS = "pyffish takes a side's only piece on the kings' file for pinned, whatever else stands between the kings"
UNKNOWN = "not explained"



class Fanqi:
    """The command; one process answers for all positions, one judges all games."""

    def __init__(self, path):
        self.path = path
        self.legal_moves, self.verdicts = (
            subprocess.Popen(
                [path, command, "--lines"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            for command in ("legal", "adjudicate")
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in (self.legal_moves, self.verdicts):
            process.stdin.close()
            process.wait()

    @staticmethod
    def ask(process, fen, moves):
        played = " moves " + " ".join(moves) if moves else ""
        process.stdin.write(fen + played + "\n")
        process.stdin.flush()
        return process.stdout.readline().split()

    def legal(self, fen, moves):
        """The legal moves after each of `moves`, from before the first to behind the last."""
        moves = [one_down(move) for move in moves]
        return [self.ask(self.legal_moves, fen, moves[:plies]) for plies in range(len(moves) + 1)]

    def verdict(self, fen, moves):
        """(winner or draw or undecided, reason, plies until then)."""
        verdict, reason, plies = self.ask(self.verdicts, fen, [one_down(move) for move in moves])
        return verdict, reason, int(plies)


class Board:
    """What stands where, to count repetitions and pieces without asking."""

    def __init__(self, fen):
        rows, self.side = fen.split()[:2]
        rows = [re.sub(r"\d", lambda gap: " " * int(gap.group()), row) for row in rows.split("/")]
        self.men = {
            "abcdefghi"[file] + str(10 - i): row[file]
            for i, row in enumerate(rows)
            for file in range(9)
            if row[file] != " "
        }

    def play(self, move):
        """Moves a piece; whether it took one."""
        start, end = squares(move)
        took = end in self.men
        self.men[end] = self.men.pop(start)
        self.side = "b" if self.side == "w" else "w"
        return took

    def key(self):
        return self.side, frozenset(self.men.items())

    def looks_at(self, start, square):
        """Whether a rook on `start` would attack `square`."""
        (file, rank), (other_file, other_rank) = [(ord(s[0]), int(s[1:])) for s in (start, square)]
        if (file == other_file) == (rank == other_rank):
            return False
        between = (
            (file, r) if file == other_file else (f, rank)
            for f in range(min(file, other_file), max(file, other_file) + 1)
            for r in range(min(rank, other_rank), max(rank, other_rank) + 1)
        )
        return not any(chr(f) + str(r) in self.men for f, r in set(between) - {(file, rank), (other_file, other_rank)})


    def slides(self, move):
        """Whether it is a rook's that attacks a piece still which it attacked on the same line before."""
        start, end = squares(move)
        others = {square for square, man in self.men.items() if man.islower() != self.men[start].islower()}
        lined_up = {square for square in others if len({square[0], start[0], end[0]}) == 1}
        lined_up |= {square for square in others if len({square[1:], start[1:], end[1:]}) == 1}
        if self.men[start] not in "Rr":
            return False
        rook = self.men.pop(start)
        slides = any(self.looks_at(start, square) and self.looks_at(end, square) for square in lined_up - {end})
        self.men[start] = rook
        return slides

    def alone_on_the_kings_file(self):
        """Whether the kings share a file on which a side has one more piece, and the other side some, too."""
        kings = {man: square for square, man in self.men.items() if man in "Kk"}
        if kings["K"][0] != kings["k"][0]:
            return False
        file = [man for square, man in self.men.items() if square[0] == kings["K"][0] and man not in "Kk"]
        red = sum(man.isupper() for man in file)
        return 1 in (red, len(file) - red) and len(file) > 1


def squares(move):
    return re.findall(r"[a-i]\d+", move)


class Player:
    """Random, with habits that make games repeat."""

    def __init__(self, rng, few):
        self.rng = rng
        self.cycles = rng.choice([0, 0.5, 0.8, 0.95])
        self.retraces = rng.choice([0, 0.2, 0.5, 0.9])
        self.checks = rng.choice([0, 0, 0.5, 0.95]) if few else 0
        self.hunts = rng.choice([0, 0, 0.5, 0.95])

    def choose(self, start, played, legal, board):
        rng = self.rng
        if len(played) >= 4 and played[-4] in legal and rng.random() < self.cycles:
            return played[-4]
        back = "".join(reversed(squares(played[-2]))) if len(played) >= 2 else None
        tried = rng.sample(legal, min(len(legal), 10))
        tried.sort(key=lambda move: move != back)
        if rng.random() < self.checks:
            for move in tried:
                if pyffish.gives_check(VARIANT, start, played + [move]):
                    return move
        if played and rng.random() < self.hunts:
            prey = squares(played[-1])[1]
            hunting = [move for move in legal if self.hunts_down(board, move, prey)]
            if hunting:
                return back if back in hunting else rng.choice(hunting)
        if back in legal and rng.random() < self.retraces:
            return back
        return rng.choice(legal)

    def hunts_down(self, board, move, prey):
        """Whether it is a rook that goes where it attacks the piece that moved last."""
        start, end = squares(move)
        return board.men[start] in "Rr" and end != prey and board.looks_at(end, prey)


def few_pieces(rng):
    """A legal position of both kings, some rooks, cannons, horses and pawns, and perhaps guards."""
    palace = [(f, r) for f in (3, 4, 5) for r in (0, 1, 2)]
    guards = {"A": [(3, 0), (5, 0), (4, 1), (3, 2), (5, 2)], "B": [(2, 0), (6, 0), (0, 2), (4, 2), (8, 2), (2, 4), (6, 4)]}
    while True:
        board = {}
        for side in (0, 1):
            turn = (lambda s: s) if side == 0 else (lambda s: (s[0], 9 - s[1]))
            letter = str.upper if side == 0 else str.lower
            board[turn(rng.choice(palace))] = letter("k")
            for kind, squares in guards.items():
                for square in rng.sample(squares, rng.choice([0, 0, 1, 2])):
                    board.setdefault(turn(square), letter(kind))
            for kind, most in (("R", 1), ("N", 1), ("C", 1), ("P", 2)):
                for _ in range(rng.randint(0, most)):
                    square = (rng.randrange(9), rng.randrange(5 if kind == "P" else 0, 10))
                    board.setdefault(turn(square), letter(kind))
        if sum(piece in "Kk" for piece in board.values()) < 2:
            continue
        ranks = []
        for rank in range(9, -1, -1):
            text = "".join(board.get((file, rank), " ") for file in range(9))
            ranks.append(re.sub(" +", lambda gap: str(len(gap.group())), text))
        board = "/".join(ranks)
        for mover, other in rng.choice([("wb", "bw"), ("bw", "wb")]):
            # The side that does not move must not be in check, which is asked as if it moved.
            if not facing(board) and not pyffish.gives_check(VARIANT, f"{board} {other} - - 0 1", []):
                return f"{board} {mover} - - 0 1"


def facing(board):
    """Whether the kings face each other on an open file."""
    rows = [re.sub(r"\d", lambda gap: " " * int(gap.group()), rank) for rank in board.split("/")]
    for file in range(9):
        line = "".join(row[file] for row in rows).replace(" ", "")
        if "kK" in line:
            return True
    return False


def outcome(result, fen, moves):
    """pyffish's value, which is the mover's, as a verdict."""
    if result == 0:
        return "draw"
    red_moves = (fen.split()[1] == "w") == (len(moves) % 2 == 0)
    return "red_wins" if (result > 0) == red_moves else "black_wins"


def play(seed, fanqi, longest):
    """A game; what differs in it, and how it ended by either."""
    rng = random.Random(seed)
    start = START if rng.random() < 0.5 else few_pieces(rng)
    players = [Player(rng, start != START) for _ in range(2)]
    board, moves, sets, quiet = Board(start), [], [], 0
    keys = [board.key()]
    theirs = ("undecided", "none")
    while True:
        # The whole game is told, as whoever uses the package does.
        legal = pyffish.legal_moves(VARIANT, start, moves)
        sets.append(legal)
        if not legal:
            value = pyffish.game_result(VARIANT, start, moves)
            mate = "checkmate" if pyffish.gives_check(VARIANT, start, moves) else "stalemate"
            theirs = (outcome(value, start, moves), mate)
            break
        repeated = keys.count(keys[-1]) >= 3
        if repeated or quiet >= NATURAL_LIMIT:
            ended, value = pyffish.is_optional_game_end(VARIANT, start, moves)
            if ended:
                theirs = (outcome(value, start, moves), "repetition" if repeated else "natural limit")
                break
        if quiet == 0 and not set("RNCPrncp").intersection(board.men.values()):
            if pyffish.has_insufficient_material(VARIANT, start, moves) == (True, True):
                theirs = ("draw", "material")
                break
        if len(moves) == longest:
            break
        moves.append(players[len(moves) % 2].choose(start, moves, legal, board))
        quiet = 0 if board.play(moves[-1]) else quiet + 1
        keys.append(board.key())
    differences = []
    for plies, (legal, ours) in enumerate(zip(sets, fanqi.legal(start, moves))):
        legal = sorted(map(one_down, legal))
        if legal != sorted(ours):
            more, fewer = sorted(set(ours) - set(legal)), sorted(set(legal) - set(ours))
            after = " ".join(map(one_down, moves[:plies]))
            differences.append(("legal moves", f"{start} moves {after}: fanqi has {more} more, lacks {fewer}"))
    verdict, reason, plies = fanqi.verdict(start, moves)
    if (verdict, plies) != (theirs[0], len(moves)) or kind(reason) != theirs[1]:
        label = f"fanqi {verdict} ({reason}), pyffish {theirs[0]} ({theirs[1]})"
        if plies != len(moves):
            label = f"earlier: {label}"
        elif theirs[1] == kind(reason) == "repetition":
            label = f"{label}: {why(start, moves, keys, verdict)}"
        played = " ".join(map(one_down, moves))
        differences.append((label, f"fanqi adjudicate --fen '{start}' --moves '{played}'"))
    return differences, (theirs, (verdict, reason), len(moves))


def why(start, moves, keys, verdict):
    """Why pyffish judges a repetition otherwise, as far as that can be told."""
    cycle = moves[keys.index(keys[-1]) :]
    ended, value = pyffish.is_optional_game_end(VARIANT, start, moves + cycle)
    if ended and outcome(value, start, moves + cycle) == verdict:
        return ENTRY
    board = Board(start)
    for move in moves[: len(moves) - len(cycle)]:
        board.play(move)
    slid = pinned = False
    for move in cycle:
        slid |= board.slides(move)
        board.play(move)
        pinned |= board.alone_on_the_kings_file()
    return KINGS if pinned else SLIDE if slid else UNKNOWN


def kind(reason):
    """fanqi's reason as pyffish can tell it apart."""
    if reason == "repetition" or reason.startswith("perpetual_"):
        return "repetition"
    return {"natural_limit": "natural limit", "dead_position": "material"}.get(reason, reason)


def play_many(job):
    seeds, path, longest = job
    with Fanqi(path) as fanqi:
        return [(seed, *play(seed, fanqi, longest)) for seed in seeds]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1, help="of the first game; the next ones follow")
    parser.add_argument("--plies", type=int, default=130, help="at which a game is left")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--fanqi", default="target/release/fanqi", help="the command")
    parser.add_argument("--show", type=int, default=3, help="examples of each kind of difference")
    args = parser.parse_args()
    seeds = range(args.seed, args.seed + args.games)
    chunk = 50
    jobs = [(seeds[i : i + chunk], args.fanqi, args.plies) for i in range(0, len(seeds), chunk)]
    endings, kinds, positions, done = collections.Counter(), collections.defaultdict(list), 0, 0
    with multiprocessing.Pool(args.jobs) as pool:
        for games in pool.imap(play_many, jobs):
            for seed, differences, (theirs, ours, plies) in games:
                positions += plies + 1
                endings[theirs] += 1
                for label, about in differences:
                    kinds[label].append((seed, about))
                    print(f"game {seed}: {label}\n  {about}", file=sys.stderr, flush=True)
            done += len(games)
            if done % 1000 < chunk:
                print(f"{done} games, {positions} positions", file=sys.stderr, flush=True)
    print(f"{done} games, {positions} positions compared")
    for (verdict, reason), count in endings.most_common():
        print(f"  {count:6} {verdict} ({reason})")
    print(f"{sum(map(len, kinds.values()))} differences")
    for label, cases in sorted(kinds.items(), key=lambda item: -len(item[1])):
        print(f"  {len(cases):6} {label}")
        for seed, about in cases[: args.show]:
            print(f"         game {seed}: {about}")
    explained = (ENTRY, SLIDE, KINGS)
    sys.exit(any(not label.endswith(explained) for label in kinds))


if __name__ == "__main__":
    main()
