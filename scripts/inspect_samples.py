#!/usr/bin/env python3
"""Prints and checks sample shards with plain h5py.

    scripts/inspect_samples.py runs/x/samples/000001.h5 [MORE.h5 ...] [--row I] [--rows N]

For each shard: its attributes, its datasets, the laws its rows must keep, and N rows from row I on
as boards with the best moves of the policy target. Boards and coordinates are those of the side to
decide: its pieces are upper case and start at rank 0. A face-down piece is written as what it plays as
and what it is: in lower case what the viewer knows, in upper case the truth that it does not. Exit code 2 if a shard is bad.
"""
import argparse
import sys

try:
    import h5py
    import numpy as np
except ImportError as error:
    print(
        f"inspect_samples.py: {error}; it needs h5py and numpy: "
        "`apt install python3-h5py`, or `python3 -m venv .venv && .venv/bin/pip install h5py`",
        file=sys.stderr,
    )
    sys.exit(2)

FORMAT, VERSION = "fanqi-samples", 3
SQUARES, STEP_PLANES, PLANES = 90, 50, 107
# dataset: (dtype, columns; None for a one-dimensional dataset)
DATASETS = {
    "records": ("uint8", 128),
    "policy_end": ("uint64", None),
    "policy_index": ("uint16", None),
    "policy_prob": ("uint16", None),
    "policy_weight": ("uint8", None),
    "search_wdl": ("float32", 3),
    "outcome": ("uint8", None),
    "plies_left": ("uint16", None),
    "truth": ("uint8", 32),
    "game": ("uint64", None),
    "ply": ("uint16", None),
    "net_step": ("uint64", None),
}
HORSE = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]
DIAGONAL = [(1, 1), (1, -1), (-1, -1), (-1, 1)]
# (files to the right, ranks forward) of each policy plane
STEPS = (
    [(n, 0) for n in range(1, 9)]
    + [(-n, 0) for n in range(1, 9)]
    + [(0, n) for n in range(1, 10)]
    + [(0, -n) for n in range(1, 10)]
    + HORSE
    + DIAGONAL
    + [(2 * f, 2 * r) for f, r in DIAGONAL]
)


class Bad(Exception):
    """A shard that is not what it should be."""


def target_of_index():
    """[9630]: target square of each policy index, -1 where it leaves the board, `from` of a placement."""
    target = np.full(PLANES * SQUARES, -1)
    for index in range(PLANES * SQUARES):
        plane, square = divmod(index, SQUARES)
        df, dr = STEPS[plane % STEP_PLANES] if plane < 2 * STEP_PLANES else (0, 0)
        file, rank = square % 9 + df, square // 9 + dr
        if 0 <= file < 9 and 0 <= rank < 10:
            target[index] = file + 9 * rank
    return target


TARGET = target_of_index()
OWN_HOMES = [*range(9), 19, 25, 27, 29, 31, 33, 35]
# squares of the dataset `truth`, those of the side to decide first
HOMES = OWN_HOMES + [square % 9 + 9 * (9 - square // 9) for square in OWN_HOMES]


def open_shard(path):
    """The open file and its columns as arrays, shapes and types checked."""
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise Bad(f"cannot be opened: {error}") from error
    if file.attrs.get("format") != FORMAT:
        raise Bad(f"an HDF5 file, but its attribute `format` is not `{FORMAT}`")
    version = file.attrs.get("version")
    if version != VERSION:
        raise Bad(f"samples of format version {version}; this script reads {VERSION}")
    columns = {}
    for name, (dtype, width) in DATASETS.items():
        if name not in file:
            raise Bad(f"the dataset `{name}` is missing")
        dataset = file[name]
        if dataset.dtype != dtype or dataset.shape[1:] != (() if width is None else (width,)):
            raise Bad(f"the dataset `{name}` is {dataset.dtype}{list(dataset.shape)}")
        try:
            columns[name] = dataset[:]
        except OSError as error:
            raise Bad(f"the dataset `{name}` cannot be read: {error}") from error
    return file, columns


def check(c):
    """Raises Bad at the first law that does not hold; returns how many rows were checked."""
    rows, entries = len(c["records"]), len(c["policy_index"])

    def law(holds, text):
        holds = np.atleast_1d(holds)
        if not holds.all():
            raise Bad(f"row or entry {int(np.argmin(holds))}: {text}")

    for name in DATASETS:
        if name not in ("policy_index", "policy_prob"):
            law(len(c[name]) == rows, f"`{name}` has {len(c[name])} rows, `records` has {rows}")
    law(len(c["policy_prob"]) == entries, "`policy_prob` and `policy_index` differ in length")
    ends = c["policy_end"].astype(np.int64)
    law(rows > 0, "no rows")
    law(np.diff(ends, prepend=0) > 0, "`policy_end` does not rise")
    law(ends[-1] == entries, "`policy_end` does not end where `policy_index` does")
    law(c["policy_index"] < PLANES * SQUARES, "`policy_index` out of range")
    law(TARGET[c["policy_index"]] >= 0, "`policy_index` leaves the board")
    counts = np.diff(ends, prepend=0)
    sums = np.add.reduceat(c["policy_prob"].astype(np.int64), ends - counts)
    trained = c["policy_weight"] == 1
    law(c["policy_weight"] <= 1, "`policy_weight` is not 0 or 1")
    law(~trained | (abs(sums - 65535) <= counts + 1), "`policy_prob` does not sum to 65535")
    squares = c["records"][:, :SQUARES]
    down, kind, identity = squares >= 128, squares & 7, squares >> 4 & 7
    face_up = (squares == 0) | ((kind != 0) & (identity == 0))
    law(np.where(down, (kind >= 2) & (identity != 1), face_up).all(axis=1), "`records` holds no piece code")
    named = c["records"][:, [107, 108, 122]]
    law(((named < SQUARES) | (named == 255)).all(axis=1), "`records` names a square off the board")
    truth, unknown = c["truth"], (down & (identity == 0))[:, HOMES]
    law(((truth == 0) | (unknown & (truth >= 2) & (truth <= 7))).all(axis=1), "`truth` of no unknown piece")
    wdl = c["search_wdl"]
    law((wdl >= -1e-3).all(axis=1) & (abs(wdl.sum(axis=1) - 1) <= 1e-2), "`search_wdl` are not probabilities")
    law(c["outcome"] <= 2, "`outcome` is not 0, 1 or 2")
    return rows


def move(index):
    """A policy index as text, such as h2e2, h2e2~ (laid face down) or R@a0 (placed), seen from the side to move."""
    name = lambda square: "abcdefghi"[square % 9] + str(square // 9)
    plane, square = divmod(int(index), SQUARES)
    if plane >= 2 * STEP_PLANES:
        return f"{'KABNRCP'[plane - 2 * STEP_PLANES]}@{name(square)}"
    return name(square) + name(TARGET[index]) + "~" * (plane >= STEP_PLANES)


def piece(code, truth):
    """Two characters: what the piece plays as, and if it lies face down what it is: lower case if known, else the truth."""
    letter = ".KABNRCP?kabnrcp"[code & 15]
    if code < 128:
        return letter + " "
    identity = int(code) >> 4 & 7
    return letter + (" KABNRCP"[identity].lower() if identity else "?KABNRCP"[truth])


def print_head(path, file):
    print(path)
    for name, value in file.attrs.items():
        value = str(value)
        print(f"  {name}: " + ("" if "\n" not in value else "\n    ") + value.replace("\n", "\n    "))
    table = [("dataset", "shape", "type", "chunks", "compression", "bytes", "units", "viewpoint")]
    for name, dataset in file.items():
        gzip = f"{dataset.compression} {dataset.compression_opts}" if dataset.compression else "none"
        extra = "+shuffle" * dataset.shuffle + "+fletcher32" * dataset.fletcher32
        cells = (name, dataset.shape, dataset.dtype, dataset.chunks, gzip + extra, dataset.id.get_storage_size())
        table.append(cells + (dataset.attrs.get("units", "?"), dataset.attrs.get("viewpoint", "?")))
    widths = [max(len(str(row[i])) for row in table) for i in range(len(table[0]))]
    for row in table:
        print("  " + "  ".join(str(cell).ljust(width) for cell, width in zip(row, widths)).rstrip())


def print_row(c, i):
    start = int(c["policy_end"][i - 1]) if i else 0
    end = int(c["policy_end"][i])
    record, truth = c["records"][i], dict(zip(HOMES, c["truth"][i]))
    print(f"\nrow {i}: game {c['game'][i]}, ply {c['ply'][i]}, net step {c['net_step'][i]}")
    for rank in range(9, -1, -1):
        squares = range(9 * rank, 9 * rank + 9)
        print((f"  {rank}  " + " ".join(piece(record[s], truth.get(s, 0)) for s in squares)).rstrip())
    print("     a  b  c  d  e  f  g  h  i")
    last = "none" if record[107] == 255 else "-".join("abcdefghi"[s % 9] + str(s // 9) for s in record[107:109])
    print(
        f"  last move {last}; plies since capture {record[104]} of {record[105]}; "
        f"earlier occurrences {record[106]}; in check {record[109]}"
    )
    win, draw, loss = c["search_wdl"][i]
    outcome = ("win", "draw", "loss")[c["outcome"][i]]
    print(f"  search: win {win:.3f} draw {draw:.3f} loss {loss:.3f}; result: {outcome} in {c['plies_left'][i]} plies")
    best = sorted(range(start, end), key=lambda e: -int(c["policy_prob"][e]))[:5]
    target = ", ".join(f"{move(c['policy_index'][e])} {c['policy_prob'][e] / 65535:.3f}" for e in best)
    print(f"  policy ({'trained' if c['policy_weight'][i] else 'not trained'}), {end - start} moves: {target}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shards", nargs="+", metavar="SHARD")
    parser.add_argument("--row", type=int, default=0, help="first row to print")
    parser.add_argument("--rows", type=int, default=2, help="how many rows to print")
    args = parser.parse_args()
    code = 0
    for path in args.shards:
        try:
            file, columns = open_shard(path)
            print_head(path, file)
            rows = check(columns)
            print(f"  {rows} rows of {len(np.unique(columns['game']))} games keep all laws")
            for i in range(max(args.row, 0), min(args.row + args.rows, rows)):
                print_row(columns, i)
        except Bad as error:
            print(f"{path}: {error}", file=sys.stderr)
            code = 2
    return code


if __name__ == "__main__":
    sys.exit(main())
