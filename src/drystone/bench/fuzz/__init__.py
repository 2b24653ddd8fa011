"""Fuzzing: random worlds, odd arguments and damaged files, each of which must end well.

Every case is a result or one DrystoneError: no other exception, no crash, no wait above the limit,
no memory without bounds. A case is drawn from a seed and its number alone, so each can be repeated
by itself. Cases run in processes of their own, so that a crash is one finding and not the end.

    case.py         what a case can come to, and the family of cases it belongs to
    families.py     all families by name: a new one is a file and a line there
    worker.py       the process that runs cases
    runner.py       starts workers, watches their limits, counts
    odd_values.py   the values that nobody should give
    arguments.py    everything public, called with them
    worlds.py       random worlds, stepped
    files.py        everything that reads a file, given damaged ones
"""
