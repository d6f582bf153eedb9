"""`judge.py values|turns`: reads what was generated, a JSON line each, and says what must come of it, a JSON line each.

Written from docs/rules.md alone and as plainly as possible: no table, limit or line of it comes from the product.
"""
import json
import sys

import strict
import turns


def main():
    sys.setrecursionlimit(10_000)
    for line in sys.stdin.buffer:
        given = json.loads(line)
        if sys.argv[1] == "values":
            said = strict.answer(given["text"])
        else:
            said = turns.judge(given["protocol"], given["stream"], bytes.fromhex(given["body"]))
        sys.stdout.write(json.dumps(said) + "\n")


main()
