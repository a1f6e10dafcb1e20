"""Removes what commands leave: also trees too deep for recursion and paths, and closed ones."""

from __future__ import annotations

import errno
import os
import secrets
from contextlib import suppress

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove(path: str) -> bool:
    """Remove a file or a directory with all that is in it; return whether it is gone.

    Permissions are changed where that is needed and allowed. Links are not
    followed, nor is anything removed that is mounted there: it may be a view of
    what is precious. What stays, too, is what the system guards.
    """
    with suppress(OSError):
        if not os.path.isdir(path) or os.path.islink(path):
            os.unlink(path)
            return True
        folder = os.open(os.path.dirname(path), _DIRECTORY)
        try:
            top = _open(os.path.basename(path), folder)
        finally:
            os.close(folder)
        try:
            while _flatten(top):
                pass
        finally:
            os.close(top)
        os.rmdir(path)
    return not os.path.lexists(path)


def _flatten(top: int) -> bool:
    """Remove the entries of a directory; what is two levels down moves up first.

    So nothing is ever deeper than that. Returns whether there is more to do.
    """
    progress = left = False
    for name in os.listdir(top):
        if _unlink(name, top):
            progress = True
            continue
        with suppress(OSError):
            below = _open(name, top)
            try:
                for inner in os.listdir(below):
                    if _unlink(inner, below):
                        progress = True
                        continue
                    _let_in(inner, below)  # its entry ".." changes
                    new = f".{secrets.token_hex(8)}"
                    os.rename(inner, new, src_dir_fd=below, dst_dir_fd=top)
                    progress = left = True
            finally:
                os.close(below)
            os.rmdir(name, dir_fd=top)
            progress = True
            continue
        left = True
    return progress and left


def _unlink(name: str, folder: int) -> bool:
    """Remove an entry unless it is a directory; return whether it is gone."""
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _open(name: str, folder: int) -> int:
    """Open a directory to remove what is in it. Raises OSError, also if it is mounted there."""
    try:
        fd = os.open(name, _DIRECTORY, dir_fd=folder)
    except PermissionError:
        _let_in(name, folder)
        fd = os.open(name, _DIRECTORY, dir_fd=folder)
    try:
        if _mount(fd) != _mount(folder):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        if os.fstat(fd).st_mode & 0o700 != 0o700:
            os.fchmod(fd, 0o700)
    except OSError:
        os.close(fd)
        raise
    return fd


def _mount(fd: int) -> bytes:
    """Return the number of the mount, as of proc_pid_fdinfo(5): st_dev is blind to bind mounts."""
    with open(f"/proc/self/fdinfo/{fd}", "rb", buffering=0) as file:
        return file.read().partition(b"mnt_id:")[2].partition(b"\n")[0]


def _let_in(name: str, folder: int) -> None:
    """Give ourselves all permissions for a directory, never for what a link leads to."""
    with suppress(OSError):
        fd = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
        try:
            if os.fstat(fd).st_mode & 0o700 != 0o700:
                os.chmod(f"/proc/self/fd/{fd}", 0o700)
        finally:
            os.close(fd)
