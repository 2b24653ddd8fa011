"""Impacts: the state machine of PENALTY Fig. 2, and sequential impulses with friction.

A pair that begins to touch while it closes faster than a threshold gets an impulse at the centroid
of its points: one that makes the point stick with the wanted normal velocity or, where friction
cannot hold that, one on the friction cone [Guendelman2003]. Pairs at rest are left to their springs
unless a third body has struck one of the two in this step.
"""

import numpy as np

from drystone.solvers.penalty.patch import APART, IMPACT, REST

MOST_ROUNDS = 100  # over all pairs; a chain of n bodies takes about n


class Impacts:
    """Impacts at the start of a step.

    place, twist   (n + 1, 12), (n + 1, 6) of the bodies; `twist` is changed
    robots         {row of a link: its robot}, see steppers/robot_motion.py
    """

    def __init__(self, patches, pairs, place, twist, bodies, robots):
        self.patches, self.pairs, self.place, self.twist = patches, pairs, place, twist
        self.bodies, self.robots = bodies, robots
        self.normal: dict = {}
        self.centre: dict = {}

    def resolve(self, restitution: np.ndarray, threshold: float, dt: float) -> int:
        """Impulses until no pair closes; then the modes of all pairs. Returns their number."""
        patches, struck, count = self.patches, set(), 0
        touching = [k for k in range(self.pairs) if patches.first[k + 1] > patches.first[k]]
        for k in touching:
            self._look_at(k)
        for _ in range(MOST_ROUNDS):
            some = False
            for k in touching:
                a, b = patches.body[k].tolist()
                third = self._owner(a) in struck or self._owner(b) in struck
                if patches.mode[k] == REST and not third:
                    continue
                if self._closing(k) >= -threshold:
                    continue
                impulse = self._impulse(k, float(restitution[k]))
                self._apply(k, impulse)
                rows = slice(patches.first[k], patches.first[k + 1])
                patches.mean[rows] += impulse / (dt * (rows.stop - rows.start))
                struck |= {self._owner(a), self._owner(b)}
                some, count = True, count + 1
            if not some:
                break
            struck.discard(self._owner(len(self.place) - 1))  # the fixed world passes nothing on
        for k in touching:
            if patches.mode[k] != REST:
                patches.mode[k] = IMPACT if self._closing(k) > threshold else REST
        return count

    def _owner(self, b: int):
        """What an impulse on body `b` moves: the whole robot of a link."""
        return self.robots.get(b, b)

    def _look_at(self, k: int) -> None:
        rows = slice(self.patches.first[k], self.patches.first[k + 1])
        a, b = self.patches.body[k]
        local = _centroid(self.patches.on_other[rows])
        self.centre[k] = self.place[b, :3] + self.place[b, 3:].reshape(3, 3) @ local
        self.normal[k] = self.place[a, 3:].reshape(3, 3) @ self.patches.normal[k]

    def _velocity(self, k: int) -> np.ndarray:
        """Of the other body seen from the owner of the plane, at the centroid."""
        a, b = self.patches.body[k]
        x, v = self.centre[k], self.twist
        at = [v[i, :3] + v[i, 3:] @ skew(x - self.place[i, :3]) for i in (a, b)]
        return at[1] - at[0]

    def _closing(self, k: int) -> float:
        return float(self._velocity(k) @ self.normal[k])

    def _response(self, b: int, x: np.ndarray) -> np.ndarray:
        """(3, 3) velocity of the point x of body `b` for an impulse there."""
        if b in self.robots:
            return self.robots[b].response(b, x)
        if b == len(self.place) - 1 or self.bodies.inv_mass[b] == 0.0:
            return np.zeros((3, 3))
        r, axes = x - self.place[b, :3], self.place[b, 3:].reshape(3, 3)
        across = skew(r)
        turned = (axes * self.bodies.inv_inertia[b]) @ axes.T
        return self.bodies.inv_mass[b] * np.eye(3) + across @ turned @ across.T

    def _impulse(self, k: int, restitution: float) -> np.ndarray:
        """On the other body [N s]."""
        a, b = self.patches.body[k].tolist()
        n, u, mu = self.normal[k], self._velocity(k), float(self.patches.friction[k])
        response = self._response(a, self.centre[k]) + self._response(b, self.centre[k])
        un = float(u @ n)
        wanted = -restitution * un * n - u
        impulse = np.linalg.lstsq(response, wanted, rcond=1e-12)[0]
        normal = float(impulse @ n)
        if normal > 0.0 and np.linalg.norm(impulse - normal * n) <= mu * normal:
            return impulse
        slide = u - un * n
        speed = float(np.linalg.norm(slide))
        along = n - mu * slide / speed if speed > 0.0 else n
        resisted = float(n @ response @ along)
        if resisted <= 0.0:  # friction would wedge it in: without
            along, resisted = n, float(n @ response @ n)
        return -(1.0 + restitution) * un / resisted * along

    def _apply(self, k: int, impulse: np.ndarray) -> None:
        a, b = self.patches.body[k].tolist()
        for body, sign in ((a, -1.0), (b, 1.0)):
            push = sign * impulse
            if body in self.robots:
                self.robots[body].strike(body, self.centre[k], push, self.twist)
            elif body < len(self.place) - 1 and self.bodies.inv_mass[body] > 0.0:
                axes = self.place[body, 3:].reshape(3, 3)
                turned = (axes * self.bodies.inv_inertia[body]) @ axes.T
                self.twist[body, :3] += self.bodies.inv_mass[body] * push
                arm = self.centre[k] - self.place[body, :3]
                self.twist[body, 3:] += turned @ (arm @ skew(push))


def skew(r: np.ndarray) -> np.ndarray:
    """(3, 3) with w @ skew(r) = w x r; NumPy's own cross product takes fifty times as long."""
    x, y, z = r.tolist()
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def _centroid(points: np.ndarray) -> np.ndarray:
    """Of the polygon that they are: a fan about the first, in the order of their angles."""
    first, rest = points[0], points[1:] - points[0]
    area = np.linalg.norm(np.cross(rest[:-1], rest[1:]), axis=1)
    if not area.sum() > 1e-12 * (rest**2).sum():  # a point or a line
        return points.mean(axis=0)
    return first + (area @ (rest[:-1] + rest[1:])) / (3.0 * area.sum())


def some_impact(patches, pairs: int) -> bool:
    """Whether any pair that touches is not at rest already."""
    counts = np.diff(patches.first[: pairs + 1])
    return bool(((counts > 0) & (patches.mode[:pairs] != REST)).any())


def put_apart(patches, pairs: int) -> None:
    """Modes of pairs that do not touch."""
    counts = np.diff(patches.first[: pairs + 1])
    patches.mode[:pairs][counts == 0] = APART
