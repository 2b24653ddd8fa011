"""Light on a picture: a sun with soft shadows, and a sky of which less is seen in corners.

VTK draws what the camera sees as three buffers (colour, normal, depth) and what each of many lights
sees as a depth map; who is farther from a light than its map says lies in shadow. Sun and sky are
many lights, so that no map is seen by itself: shadow maps and ambient occlusion of VTK leave
squares and spots with a software renderer. Light is added as power, not as pixel values.
"""

from typing import NamedTuple

import numpy as np

from drystone.jit import kernel
from drystone.world.export.drawing import rgb

# Where the sun is, z up: low and from the side, so that what is rough shows it.
SUN = np.array([-0.72, -0.44, 0.54]) / np.linalg.norm([-0.72, -0.44, 0.54])
BLUR = 0.012  # [rad] radius of the sun: 2.6 times the real one, as behind a thin haze
# What falls on level ground in the open is one; so much of it comes from the sky.
SKY_SHARE = 0.45
BOUNCE = 0.22  # back from the ground, on what faces it
SHINE, GLOSS = 0.05, 40.0  # mirrored sun on every body: its strength, and how small the spot is
ZENITH, HAZE = "#a9c1da", "#e6e8e8"
FOG = (5.0, 20.0)  # distances of the camera from its target between which the ground ends in haze
NEAR, FAR_AWAY = 0.05, 40.0  # and between which anything is drawn
DEEP = 8.0  # a light sees so many radii of the scene far
OFFSET = 1.5  # pixels of a map by which a point is lifted off its face before it is looked up
BIAS = 1.0  # pixels by which it may be farther than the map says
GAMMA = 2.2
LINEAR = ((np.arange(256) / 255.0) ** GAMMA).astype(np.float32)


class Lights(NamedTuple):
    """Directions to lights, and how each of their depth maps is read."""

    direction: np.ndarray  # (k, 3) unit
    frame: np.ndarray  # (k, 3, 4) point [m] to column, row and depth in the map
    bias: float  # of depth
    offset: float  # [m]


class Lamps(NamedTuple):
    """Lights as `shade` reads them."""

    direction: np.ndarray
    frame: np.ndarray
    lift: np.ndarray  # (2,) bias and offset
    maps: np.ndarray  # (k, m, m) depth


class Eye(NamedTuple):
    """The camera as `shade` reads it."""

    place: np.ndarray  # (4, 3) where it is, its right, its up, backwards
    lens: np.ndarray  # (4,) half width and height at distance one, near and far plane [m]
    fog: np.ndarray  # (2,) [m]


def sun_directions(count: int) -> np.ndarray:
    """(count, 3) spread evenly over the disc of the sun."""
    k = np.arange(count)
    radius, angle = BLUR * np.sqrt((k + 0.5) / count), k * np.pi * (3.0 - 5.0**0.5)
    right = np.cross((0.0, 0.0, 1.0), SUN)
    right /= np.linalg.norm(right)
    up = np.cross(SUN, right)
    aside = np.outer(radius * np.cos(angle), right) + np.outer(radius * np.sin(angle), up)
    return _units(SUN + aside)


def sky_directions(count: int) -> np.ndarray:
    """(count, 3) spread evenly over the upper half sphere."""
    k = np.arange(count)
    z, angle = (k + 0.5) / count, k * np.pi * (3.0 - 5.0**0.5)
    flat = np.sqrt(1.0 - z * z)
    return np.stack([flat * np.cos(angle), flat * np.sin(angle), z], axis=1)


def lights_on(direction: np.ndarray, centre: np.ndarray, radius: float, pixels: int) -> Lights:
    """Lights whose square maps of `pixels` hold the sphere about `centre`."""
    frame = np.empty((len(direction), 3, 4))
    for k, towards in enumerate(direction):
        right, up = light_axes(towards)
        half = 0.5 * pixels
        rows = (right * half / radius, up * half / radius, -towards / (2 * DEEP * radius))
        for row, (axis, middle) in enumerate(zip(rows, (half, half, 0.5), strict=True)):
            frame[k, row] = *axis, middle - axis @ centre
    texel = 2.0 * radius / pixels
    return Lights(direction, frame, BIAS * texel / (2 * DEEP * radius), OFFSET * texel)


def light_axes(towards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Right and up of a light's map, as a camera whose up is z or, below the zenith, y has them."""
    upright = (0.0, 0.0, 1.0) if abs(towards[2]) < 0.9 else (0.0, 1.0, 0.0)
    right = np.cross(upright, towards)
    right /= np.linalg.norm(right)
    return right, np.cross(towards, right)


def eye_of(view, angle: float, aspect: float) -> Eye:
    """`angle` from top to bottom [degrees]."""
    back = (view.eye - view.target) / view.distance
    right = np.cross((0.0, 0.0, 1.0), back)
    right /= np.linalg.norm(right)
    tangent = np.tan(np.radians(angle / 2))
    return Eye(
        np.array([view.eye, right, np.cross(back, right), back]),
        np.array([tangent * aspect, tangent, NEAR * view.distance, FAR_AWAY * view.distance]),
        view.distance * np.array(FOG),
    )


def _units(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def lit(buffers, arrows, eye: Eye, sun: tuple, sky: tuple, fine: int) -> np.ndarray:
    """The picture (height, width, 3), 0 to 255.

    buffers   colour, normal (0 to 255, 128: none) and depth, of `fine` x `fine` points a pixel;
              the lowest row first, as VTK has them
    arrows    colour and depth of what is drawn over it, or empty
    sun, sky  Lights and their depth maps (k, m, m) each
    """
    colour, normal, depth = buffers
    high, wide = depth.shape[0] // fine, depth.shape[1] // fine
    out = np.zeros((high, wide, 3), np.uint8)
    air = LINEAR[np.array([rgb(HAZE), rgb(ZENITH)])]
    lamps = [
        Lamps(lights.direction, lights.frame, np.array([lights.bias, lights.offset]), maps)
        for lights, maps in (sun, sky)
    ]
    shade((colour, normal, depth), arrows, eye, SUN, *lamps, LINEAR, air, fine, out)
    return out


@kernel
def _is_lit(x, y, z, frame, depth_map, bias):
    """Whether nothing stands between the point and a light."""
    size = depth_map.shape[0]
    u = frame[0, 0] * x + frame[0, 1] * y + frame[0, 2] * z + frame[0, 3]
    v = frame[1, 0] * x + frame[1, 1] * y + frame[1, 2] * z + frame[1, 3]
    if not (0.0 <= u < size and 0.0 <= v < size):
        return True
    w = frame[2, 0] * x + frame[2, 1] * y + frame[2, 2] * z + frame[2, 3]
    return w - bias <= depth_map[int(v), int(u)]


@kernel
def shade(buffers, arrows, eye, to_sun, suns, skies, linear, air, fine, out):
    """Fills `out`; each of the fine x fine points of a pixel asks another part of the lights."""
    (colour, normal, depth), (arrow, arrow_depth), (place, lens, fog) = buffers, arrows, eye
    sun, sun_frame, sun_bias, sun_map = suns
    sky, sky_frame, sky_bias, sky_map = skies
    parts, sun_count, sky_count = fine * fine, len(sun), len(sky)
    sunny = (1.0 - SKY_SHARE) / to_sun[2]
    for row in range(out.shape[0]):
        for column in range(out.shape[1]):
            red = green = blue = 0.0
            for part in range(parts):
                i, j = row * fine + part // fine, column * fine + part % fine
                a = ((2.0 * (j + 0.5)) / depth.shape[1] - 1.0) * lens[0]
                b = ((2.0 * (i + 0.5)) / depth.shape[0] - 1.0) * lens[1]
                rx = a * place[1, 0] + b * place[2, 0] - place[3, 0]
                ry = a * place[1, 1] + b * place[2, 1] - place[3, 1]
                rz = a * place[1, 2] + b * place[2, 2] - place[3, 2]
                stretch = np.sqrt(1.0 + a * a + b * b)
                high = min(max(3.0 * rz / stretch, 0.0), 1.0)
                r = air[0, 0] + high * (air[1, 0] - air[0, 0])
                g = air[0, 1] + high * (air[1, 1] - air[0, 1])
                s = air[0, 2] + high * (air[1, 2] - air[0, 2])
                t = 1e300
                if depth[i, j] < 1.0:
                    t = lens[2] * lens[3] / (lens[3] - depth[i, j] * (lens[3] - lens[2]))
                    x, y, z = place[0, 0] + t * rx, place[0, 1] + t * ry, place[0, 2] + t * rz
                    nx = normal[i, j, 0] / 127.5 - 1.0
                    ny = normal[i, j, 1] / 127.5 - 1.0
                    nz = normal[i, j, 2] / 127.5 - 1.0
                    length = np.sqrt(nx * nx + ny * ny + nz * nz)
                    power, shine = 1.0, 0.0
                    if length > 0.1:
                        if nx * rx + ny * ry + nz * rz > 0.0:
                            length = -length
                        nx, ny, nz = nx / length, ny / length, nz / length
                        off = sky_bias[1]
                        total = open_sky = 0.0
                        for k in range(part, sky_count, parts):
                            cosine = nx * sky[k, 0] + ny * sky[k, 1] + nz * sky[k, 2]
                            if cosine > 0.0:
                                total += cosine
                                if _is_lit(x + off * nx, y + off * ny, z + off * nz, sky_frame[k],
                                           sky_map[k], sky_bias[0]):  # fmt: skip
                                    open_sky += cosine
                        share = open_sky / total if total > 0.0 else 0.3
                        power = SKY_SHARE * 2.0 * open_sky * parts / sky_count
                        power += BOUNCE * 0.5 * (1.0 - nz) * share
                        cosine = nx * to_sun[0] + ny * to_sun[1] + nz * to_sun[2]
                        if cosine > 0.0:
                            off, seen, asked = sun_bias[1], 0.0, 0.0
                            for k in range(part, sun_count, parts):
                                asked += 1.0
                                if _is_lit(x + off * nx, y + off * ny, z + off * nz, sun_frame[k],
                                           sun_map[k], sun_bias[0]):  # fmt: skip
                                    seen += 1.0
                            seen /= max(asked, 1.0)
                            power += sunny * cosine * seen
                            # Between the way to the sun and the way to the eye.
                            hx = to_sun[0] - rx / stretch
                            hy = to_sun[1] - ry / stretch
                            hz = to_sun[2] - rz / stretch
                            h = np.sqrt(hx * hx + hy * hy + hz * hz)
                            mirrored = max(nx * hx + ny * hy + nz * hz, 0.0) / max(h, 1e-9)
                            shine = SHINE * seen * mirrored**GLOSS
                    far = min(max((t * stretch - fog[0]) / (fog[1] - fog[0]), 0.0), 1.0)
                    near = (1.0 - far) * (1.0 - far)
                    r += near * (power * linear[colour[i, j, 0]] + shine - r)
                    g += near * (power * linear[colour[i, j, 1]] + shine - g)
                    s += near * (power * linear[colour[i, j, 2]] + shine - s)
                if arrow_depth.shape[0] and arrow_depth[i, j] < 1.0:
                    # What lies within a body is seen through it, weaker.
                    q = 0.45 if arrow_depth[i, j] > depth[i, j] else 1.0
                    r += q * (linear[arrow[i, j, 0]] - r)
                    g += q * (linear[arrow[i, j, 1]] - g)
                    s += q * (linear[arrow[i, j, 2]] - s)
                red, green, blue = red + min(r, 1.0), green + min(g, 1.0), blue + min(s, 1.0)
            last = out.shape[0] - 1 - row
            out[last, column, 0] = int(255.0 * (red / parts) ** (1.0 / GAMMA) + 0.5)
            out[last, column, 1] = int(255.0 * (green / parts) ** (1.0 / GAMMA) + 0.5)
            out[last, column, 2] = int(255.0 * (blue / parts) ** (1.0 / GAMMA) + 0.5)
