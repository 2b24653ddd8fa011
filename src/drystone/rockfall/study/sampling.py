"""Monte Carlo and Latin hypercube sampling: a number in 0..1 for all that varies, by name.

They depend on the seed and the number of the run alone. With Latin hypercube sampling each of the
`count` equal parts of every variable holds exactly one run: variable d of run i lies in part
p_d(i), p_d a random permutation for each variable.
"""

import tempfile
from functools import lru_cache

import numpy as np

# Streams of the seed, so that no two uses draw the same numbers.
WITHIN, PARTS, AGAIN = 0, 1, 2

IN_MEMORY = 16_000_000  # bytes of a table of parts; a larger one lies in a file and is mapped


class Sampler:
    """names  of the variables, in an order that the study fixes"""

    def __init__(self, names: list[str], seed: int, count: int, sampling: str):
        self.names, self.seed, self.count, self.sampling = names, seed, count, sampling
        self.parts = None  # (count, names) of a Latin hypercube; workers share one

    def draw(self, run: int) -> dict[str, float]:
        """A number in [0, 1) for every name."""
        u = np.random.default_rng([self.seed, WITHIN, run]).random(len(self.names))
        if self.sampling == "latin-hypercube":
            if self.parts is None:
                self.parts = _permutations(self.seed, self.count, len(self.names))
            u = (self.parts[run] + u) / self.count
        return dict(zip(self.names, u.tolist(), strict=True))

    def again(self, run: int) -> np.random.Generator:
        """More numbers for a run whose first place could not be used."""
        return np.random.default_rng([self.seed, AGAIN, run])


@lru_cache(maxsize=4)
def _permutations(seed: int, count: int, variables: int) -> np.ndarray:
    """(count, variables) the part of each run. A large table is not held: it is a file without a
    name, of which the pages of the runs at hand are in memory."""
    shape = (count, variables)
    if 4 * count * variables <= IN_MEMORY:
        parts = np.empty(shape, dtype=np.int32)
    else:
        with tempfile.TemporaryFile() as file:
            parts = np.memmap(file, np.int32, "w+", shape=shape)
    for d in range(variables):
        parts[:, d] = np.random.default_rng([seed, PARTS, d]).permutation(count)
    return parts
