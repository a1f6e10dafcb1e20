"""A text as what it differs by from the one before: small where little has changed."""

from __future__ import annotations

import struct
import zlib

_FRAME = struct.Struct("<IIB")  # bytes kept in front, bytes kept after, how it is packed
_PLAIN, _BESIDE, _ALONE = range(3)  # as it is, deflated with the old middle at hand, or without
_COUNT = struct.Struct("<I")
_COPY = struct.Struct("<III")  # new bytes, then a copy: from, length (both in the old middle)
_ANCHOR = 32  # bytes that locate where the new text continues in the old one
_NEAR = 1 << 15  # bytes that deflate looks back
_LITTLE = 256  # new bytes that deflate needs no old ones for: to take those in costs the most
_SHORT = 1 << 12  # bytes that are deflated with little memory, which is sooner made ready
_EFFORT = 16  # times the old middle is searched through at most; then deflate has to do
_WINDOW = 1 << 12  # bytes that may be gone in one place, to be found quickly
_AHEAD = 8 * _ANCHOR  # bytes that may be new in one place
_STRIDE = 128  # bytes that are compared as numbers
_TINY = 32  # bytes that are not worth deflating


def delta(old: bytes, new: bytes) -> bytes:
    """Return what `patch` needs to make `new` out of `old`; both are at most 2 GiB.

    One changed place costs its new bytes, deflated; many places far apart cost
    a few bytes each on top. Takes one pass over the texts, and some milliseconds
    for each megabyte between the first changed place and the last.
    """
    front = same_front(old, 0, new, 0)
    tail = same_end(old, new, min(len(old), len(new)) - front)
    before, after = old[front : len(old) - tail], new[front : len(new) - tail]
    copies, fresh = _copies(before, after)
    count = len(copies)
    body = struct.pack(f"<I{count}I", count // 3, *copies) + fresh
    packing = _PLAIN
    if len(body) > _TINY:
        packing = _BESIDE if len(fresh) > _LITTLE and before else _ALONE
        if packing == _BESIDE:
            squeeze = zlib.compressobj(1, zlib.DEFLATED, -15, zdict=before[-_NEAR:])
        elif len(body) > _SHORT:
            squeeze = zlib.compressobj(1, zlib.DEFLATED, -15)
        else:
            squeeze = zlib.compressobj(1, zlib.DEFLATED, -12, 5)
        body = squeeze.compress(body) + squeeze.flush()
    return _FRAME.pack(front, tail, packing) + body


def patch(old: bytes, change: bytes) -> bytes:
    """Return the text that `change` was made for. Raises ValueError if it does not fit."""
    try:
        front, tail, packing = _FRAME.unpack_from(change)
        middle = old[front : len(old) - tail]
        body = change[_FRAME.size :]
        if packing != _PLAIN:
            near = middle[-_NEAR:] if packing == _BESIDE else b""
            stretch = zlib.decompressobj(-15, zdict=near) if near else zlib.decompressobj(-15)
            body = stretch.decompress(body)
        (count,) = _COUNT.unpack_from(body)
        at = _COUNT.size + count * _COPY.size
        parts = [old[:front]]
        for fresh, start, length in _COPY.iter_unpack(body[_COUNT.size : at]):
            parts += [body[at : at + fresh], middle[start : start + length]]
            at += fresh
        parts += [body[at:], old[len(old) - tail :]]
    except (struct.error, zlib.error) as error:
        raise ValueError(f"the change does not fit the text: {error}") from None
    return b"".join(parts)


def _copies(old: bytes, new: bytes) -> tuple[list[int], bytes]:
    """Return what of the new text can be copied, and the joined bytes in between and after.

    A copy is three numbers: new bytes in front of it, where it is in the old text, its length.
    """
    if min(len(old), len(new)) < _ANCHOR:
        return [], new
    copies: list[int] = []
    fresh: list[bytes] = []
    done = here = there = searched = 0  # done: up to where the new text is said
    while here < len(new) and searched <= _EFFORT * len(old):
        length = same_front(old, there, new, here)
        if length >= _ANCHOR:
            copies += here - done, there, length
            fresh.append(new[done:here])
            here += length
            there += length
            done = here
        if len(new) - here < _ANCHOR:
            break
        # Near first, where a replaced piece ends; then anywhere, as where much is gone.
        for ahead in range(0, _AHEAD, _ANCHOR):
            anchor = new[here + ahead : here + ahead + _ANCHOR]
            found = old.find(anchor, there, there + _WINDOW) if len(anchor) == _ANCHOR else -1
            searched += _WINDOW if found < 0 else found - there
            if found >= 0:
                here += ahead
                break
        else:
            anchor = new[here : here + _ANCHOR]
            found = old.find(anchor, there)
            if found < 0:
                found = old.find(anchor, 0, there)
            searched += len(old) if found < there else found - there
        if found < 0:
            here += _AHEAD
        else:
            there = found
    fresh.append(new[done:])
    return copies, b"".join(fresh)


def same_front(a: bytes, i: int, b: bytes, j: int) -> int:
    """Return how many bytes are the same from `a[i]` and `b[j]` on."""
    most = min(len(a) - i, len(b) - j)
    equal, same, step = a.startswith, 0, 8 * _STRIDE
    while same + step <= most and equal(b[j + same : j + same + step], i + same):
        same += step
        step *= 2
    while step > _STRIDE:
        step //= 2
        if same + step <= most and equal(b[j + same : j + same + step], i + same):
            same += step
    # The rest at once: the lowest bit in which two numbers differ gives the byte.
    size = min(_STRIDE, most - same)
    one = int.from_bytes(a[i + same : i + same + size], "little")
    other = one ^ int.from_bytes(b[j + same : j + same + size], "little")
    return same + (((other & -other).bit_length() - 1) // 8 if other else size)


def same_end(a: bytes, b: bytes, most: int) -> int:
    """Return how many bytes are the same at the ends, at most `most`."""
    m, n = len(a), len(b)
    same, step = 0, 64
    while same < most:
        size = min(step, most - same)
        if not a.startswith(b[n - same - size : n - same], m - same - size):
            break
        same += size
        step *= 2
    while step > 1:
        step //= 2
        size = same + step
        if size <= most and a.startswith(b[n - size : n - same], m - size):
            same = size
    return same
