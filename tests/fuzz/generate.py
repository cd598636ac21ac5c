#!/usr/bin/env python3
"""A seed to a program: hot typed loops, numbers of changing types, or the whole language (half of the seeds)."""

import sys

import generate_language
import generate_loops
import generate_mixed

MAKERS = (generate_mixed, generate_loops, generate_language, generate_language)


def generate(seed: int) -> str:
    return MAKERS[seed % len(MAKERS)].generate(seed)


if __name__ == "__main__":
    print(generate(int(sys.argv[1])), end="")
