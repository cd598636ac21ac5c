#!/usr/bin/env python3
"""A seed to a program: hot typed loops, numbers of changing types, the whole language, objects, data, sites, calls, instances, complex numbers, functions, or deaths."""

import sys

import generate_calls
import generate_complex
import generate_data
import generate_deaths
import generate_functions
import generate_instances
import generate_language
import generate_loops
import generate_mixed
import generate_objects
import generate_sites

# Their number has no divisor in common with that of the variants that seeds go through (compare.py).
MAKERS = (generate_mixed, generate_objects, generate_loops, generate_data, generate_sites, generate_objects, generate_language, generate_data, generate_sites, generate_calls, generate_calls, generate_instances, generate_instances, generate_complex, generate_complex, generate_functions, generate_functions, generate_deaths, generate_deaths)


def generate(seed: int) -> str:
    return MAKERS[seed % len(MAKERS)].generate(seed)


if __name__ == "__main__":
    print(generate(int(sys.argv[1])), end="")
