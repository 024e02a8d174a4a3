"""Sends questions to a program of codec_peer.c, and counts the expected answers."""
import json
import subprocess
import sys


def ask(program, questions):
    """Sends (word, message name, bytes) to the program; returns the bytes of each answer, None for a refusal."""
    lines = "".join(f"{word} {name} {data.hex()}\n" for word, name, data in questions)
    done = subprocess.run([program], input=lines.encode(), stdout=subprocess.PIPE, check=True)
    answers = done.stdout.decode().split("\n")[:-1]
    if len(answers) != len(questions):
        sys.exit(f"{len(answers)} answers to {len(questions)} questions")
    return [None if a == "bad" else bytes.fromhex(a[3:]) for a in answers]


def canonical(value):
    return json.dumps(value, sort_keys=True)


class Tally:
    def __init__(self):
        self.passed = self.failed = 0

    def expect(self, fact, *shown):
        if fact:
            self.passed += 1
            return
        self.failed += 1
        if self.failed <= 15:
            print("FAILED:", *(str(s)[:600] for s in shown))

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0
