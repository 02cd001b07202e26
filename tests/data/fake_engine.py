#!/usr/bin/env python3
"""An engine with faults: hands everything on to a real one, but not always its answer.

    fake_engine.py FAULT NUMBER FOLDER COMMAND...

The fault befalls the NUMBERth `go` of a process; with a name that ends in `-once`, of the first process in FOLDER alone.
`wait` answers only when FOLDER has a file `go-on`; `log` writes every position into FOLDER/log.
"""

import os
import subprocess
import sys
import time

fault, number, folder, *command = sys.argv[1:]
engine = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
ENDS = {"uci": "uciok", "ucci": "ucciok", "isready": "readyok", "go": "bestmove"}


def say(line):
    print(line, flush=True)


def is_first():
    try:
        os.close(os.open(os.path.join(folder, "first"), os.O_CREAT | os.O_EXCL))
        return True
    except FileExistsError:
        return False


def fail():
    """Commits the fault; whether it has answered so."""
    if fault == "crash":
        engine.kill()
        sys.exit(3)
    if fault == "hang":
        time.sleep(3600)
    if fault == "flood":
        while True:
            say("info string and so on")
    if fault == "wait":
        while not os.path.exists(os.path.join(folder, "go-on")):
            time.sleep(0.01)
        return False
    answers = {
        "illegal": "bestmove a0a9",
        "rubbish": "bestmove rubbish\x07",
        "silence": "bestmove",
        "resign": "bestmove h2e2 resign",
    }
    if fault in answers:
        say(answers[fault])
        return True
    return False


if fault.endswith("-once"):
    fault = fault[: -len("-once")] if is_first() else "none"
asked = 0
for line in sys.stdin:
    word = line.split()[0]
    asked += word == "go"
    if word == "go" and asked == int(number) and fail():
        continue
    if word == "position" and fault == "log":
        with open(os.path.join(folder, "log"), "a") as log:
            log.write(line)
    engine.stdin.write(line)
    engine.stdin.flush()
    if word == "quit":
        break
    if word in ENDS:
        while True:
            answer = engine.stdout.readline()
            if not answer:
                sys.exit(4)
            say(answer.rstrip("\n"))
            if answer.startswith(ENDS[word]):
                break
engine.stdin.close()
engine.wait()
