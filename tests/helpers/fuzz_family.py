"""A family of cases that end in every way there is, by their number."""

import os
import signal
import time

import numpy as np

from drystone.bench.fuzz.case import Family, Misbehaviour
from drystone.errors import InputError


def run(case):
    case.group = "ways to end"
    way = case.context[case.rng.integers(len(WAYS))]
    case.note(way)
    if way == "refused":
        raise InputError("no.")
    if way == "exception":
        raise KeyError("raw")
    if way == "found":
        raise Misbehaviour("below ground", "a body fell")
    if way == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if way == "hang":
        time.sleep(600)
    if way == "memory":
        np.ones(2**26).sum()  # half a GiB


WAYS = ("result", "refused", "exception", "found", "crash", "hang", "memory")
FAMILY = Family(lambda folder: WAYS, run, batch=50, megabytes=500.0)
