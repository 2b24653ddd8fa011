"""The process of reading_apart.py: runs main(path, out) of a script, within limits.

    python limited_process.py SCRIPT PATH OUT BYTES SECONDS

It imports nothing of Drystone. Exits with 1 and a sentence if the file cannot be read, and with 2
if that takes too much memory.
"""

import runpy
import sys
from pathlib import Path


def limit(memory: int, seconds: int) -> None:
    """From now on; systems without these limits go without."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + memory
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 2))
        resource.setrlimit(resource.RLIMIT_FSIZE, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, OSError, ValueError):
        pass


def run(script: str, path: str, out: str, memory: int, seconds: int) -> None:
    main = runpy.run_path(script)["main"]  # its imports are beyond the limits
    limit(memory, seconds)
    main(path, out)


if __name__ == "__main__":
    try:
        run(*sys.argv[1:4], *map(int, sys.argv[4:]))
    except MemoryError:
        sys.exit(2)
    except Exception as error:  # every format has errors of its own
        text = " ".join(str(error).split()) or type(error).__name__
        sys.exit(text if text.endswith(".") else f"{text}.")
