"""Damage of files: of bytes, of texts, and archives that unpack to far more than they are."""

import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

BOMB = 2**30  # bytes that a small archive unpacks to

# What numbers of a text become.
WORDS = (
    "nan", "inf", "-1", "0", "1e999", "1e308", "-1e200", "9" * 5000, "4294967296", "1000000000000",
    "", "x", "1e", "--1", "0x10", "1,5", "1e-320", "10" * 200, "2147483647", "\u0663",
)  # fmt: skip
# What stands for far more than it is, in MJCF and in XML.
TAGS = (
    '<worldbody><replicate count="100000000"><body><geom size="1"/></body></replicate></worldbody>',
    '<asset><texture name="t" type="2d" builtin="flat" width="200000" height="200000"/></asset>',
    '<asset><hfield name="h" nrow="50000" ncol="50000" size="1 1 1 1"/></asset>',
    '<size memory="1000G"/>', '<size nuserdata="2000000000"/>', '<include file="robot.xml"/>',
    '<include file="/dev/zero"/>', '<extension><plugin plugin="x"/></extension>', "<robot>",
    '<asset><mesh name="m" file="mesh.stl"/></asset>', '<link name="z"/>', "&all;", "<![CDATA[",
    '<joint name="z" type="fixed"><parent link="a"/><child link="z"/></joint>', "<x>" * 50_000,
)  # fmt: skip
ENTITIES = b"<!DOCTYPE a [<!ENTITY e0 'boom'>%s]><robot name='&e9;'/>" % b"".join(
    b"<!ENTITY e%d '%s'>" % (k, b"&e%d;" % (k - 1) * 30) for k in range(1, 10)
)
JUNK = (b"\xff\xfe", b"\0" * 64, b"[" * 5000, b"{" * 5000, "\u2603".encode() * 50, b"\r\r\n" * 20)


def damage_bytes(rng: np.random.Generator, data: bytes) -> bytes:
    """`data` with some of its bytes flipped, set, cut off, moved or doubled."""
    if not data:
        return b"\0"
    how, n = rng.integers(9), len(data)
    a, b = sorted(int(x) for x in rng.integers(0, n + 1, 2))
    array = bytearray(data)
    if how == 0:  # one bit
        array[rng.integers(n)] ^= 1 << int(rng.integers(8))
    elif how == 1:  # some bytes
        for _ in range(int(rng.integers(1, 20))):
            array[rng.integers(n)] = int(rng.integers(256))
    elif how == 2:
        return data[:a]
    elif how == 3:  # a piece is gone
        return data[:a] + data[b:]
    elif how == 4:  # a piece is there twice
        return data[:b] + data[a:]
    elif how == 5:  # a piece is zero
        array[a:b] = bytes(b - a)
    elif how == 6:  # eight bytes are a large number
        array[a : a + 8] = rng.choice([b"\xff" * 8, b"\xff" * 7 + b"\x7f", b"\0" * 4 + b"\1" * 4])
    elif how == 7:
        return data + rng.bytes(int(rng.integers(1, 1000)))
    else:  # a piece of itself, elsewhere
        c = int(rng.integers(0, n))
        array[c : c + (b - a)] = data[a:b]
    return bytes(array)


def damage_text(rng: np.random.Generator, data: bytes) -> bytes:
    """`data`, a text, with numbers, words or lines replaced, gone or doubled."""
    lines = data.split(b"\n")
    row = int(rng.integers(len(lines)))
    how = rng.integers(7)
    if how <= 2:  # a word
        filled = [k for k, line in enumerate(lines) if line.split()] or [0]
        row = filled[rng.integers(len(filled))]
        words = lines[row].split(b" ")
        words[rng.integers(len(words))] = rng.choice(WORDS).encode()
        lines[row] = b" ".join(words)
    elif how == 3:
        del lines[row]
    elif how == 4:
        lines.insert(row, lines[row] if rng.random() < 0.5 else lines[rng.integers(len(lines))])
    elif how == 5:
        lines.insert(row, JUNK[rng.integers(len(JUNK))])
    else:  # a character
        text = bytearray(data or b"x")
        text[rng.integers(len(text))] = rng.choice(list(b'"{}[]=,.:#-0\n\t '))
        return bytes(text)
    return b"\n".join(lines)


def damage_xml(rng: np.random.Generator, path: Path) -> str:
    """Another value of an attribute, a tag more or less, or entities that grow."""
    text = path.read_text()
    values = list(re.finditer(r'"[^"]*"', text))
    tags = list(re.finditer(r"<[^>]*>", text))
    how = rng.random()
    if how < 0.6 and values:
        done, at = "an attribute", values[rng.integers(len(values))]
        other = values[rng.integers(len(values))][0][1:-1] if rng.random() < 0.3 else None
        word = WORDS[rng.integers(len(WORDS))] if other is None else other
        if len(numbers := at[0][1:-1].split()) > 1 and rng.random() < 0.7:
            numbers[rng.integers(len(numbers))] = word
            word = " ".join(numbers)
        text = f'{text[: at.start()]}"{word}"{text[at.end() :]}'
    elif how < 0.95 and tags:
        at = tags[rng.integers(len(tags))]
        kept = at[0] if rng.random() < 0.6 else ""
        new = TAGS[rng.integers(len(TAGS))] if kept else ""
        done, text = "a tag", text[: at.start()] + kept + new + text[at.end() :]
    else:
        done, text = "entities", ENTITIES.decode()
    path.write_text(text)
    return f"XML: {done}"


def zip_bomb(rng: np.random.Generator, inner: str) -> bytes:
    """An archive of a few hundred kB with a file of a GiB in it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open(inner, "w", force_zip64=True) as file:
            block = bytes(2**24) if rng.random() < 0.5 else b"0 0 0 0\n" * 2**21
            for _ in range(BOMB // len(block)):
                file.write(block)
    return out.getvalue()


def damaged_copy(
    rng: np.random.Generator, seed: Path, target: Path, own: Callable | None = None
) -> str:
    """Write a damaged copy of `seed`; returns what was done to it.

    own  (rng, path): damage of the format itself, done to a whole copy
    """
    data = seed.read_bytes()
    if own is not None and rng.random() < 0.6:
        target.write_bytes(data)
        return own(rng, target)
    if _is_text(data) and rng.random() < 0.7:
        target.write_bytes(damage_text(rng, data))
        return "text"
    for _ in range(int(rng.choice([1, 1, 2, 4]))):
        data = damage_bytes(rng, data)
    target.write_bytes(data)
    return "bytes"


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in data
