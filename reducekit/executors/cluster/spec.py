"""Where a cluster is: an address, a number of local workers, or a file that describes one."""

from __future__ import annotations

import importlib
import logging
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from multiprocessing import spawn
from pathlib import Path
from typing import Any

from reducekit.errors import ReducekitError, UsageError
from reducekit.executors.run_directory import RunDirectory

_LOCAL = re.compile(r"local:([1-9][0-9]{0,3})(?:x([1-9][0-9]{0,3}))?")
_ADDRESS = re.compile(r"(?:tcp|tls|ws|wss|ucx)://.+")
_EXPECTED = "expected tcp://HOST:PORT (a Dask scheduler), local:N (N workers here), or a YAML file"
MISSING = "a cluster needs Dask: pip install distributed pyyaml cryptography"


@dataclass(frozen=True, slots=True)
class ClusterSpec:
    """A cluster as plain data: that of a scheduler's `address`, or one that is started for us."""

    address: str | None = None
    make: str | None = None  # a class of a Dask cluster, such as `dask_jobqueue.SLURMCluster`
    arguments: Mapping[str, Any] = field(default_factory=dict)  # its keyword arguments
    workers: int | None = None  # how many workers it is asked for; None: the class knows
    wait: float = 60.0  # seconds to wait for a first worker, and for one when all are lost
    security: Mapping[str, Any] = field(default_factory=dict)
    """Of a scheduler: the keyword arguments of `distributed.Security`, for TLS."""
    closed: bool = False  # no other user of this machine can read or call anything of it

    @classmethod
    def parse(cls, text: str) -> ClusterSpec:
        """Read an address, `local:N`, `local:NxT` or the name of a file. Raises UsageError."""
        local = _LOCAL.fullmatch(text)
        if local is not None:
            arguments = {
                "n_workers": int(local[1]),
                "threads_per_worker": int(local[2] or 1),
                "memory_limit": 0,
                "silence_logs": logging.CRITICAL,
            }
            return cls(make="distributed.LocalCluster", arguments=arguments, closed=True)
        if _ADDRESS.fullmatch(text):
            return cls(address=text)
        path = Path(text)
        if path.suffix not in (".yaml", ".yml"):
            raise UsageError(f"{text!r} is no cluster: {_EXPECTED}")
        return _from_file(path)


def _from_file(path: Path) -> ClusterSpec:
    yaml = _needed("yaml")
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"the cluster file {path} cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"the cluster file {path} is no YAML: {error}") from None
    names = {"address": str, "cluster": str, "arguments": dict, "workers": int,
             "wait": (int, float), "security": dict}  # fmt: skip
    if not isinstance(found, dict):
        raise UsageError(f"the cluster file {path} has no fields: {', '.join(names)}")
    for name, value in found.items():
        if name not in names:
            raise UsageError(
                f"the cluster file {path} has a field {name!r}: known are {', '.join(names)}"
            )
        if not isinstance(value, names[name]) or isinstance(value, bool):  # type: ignore[arg-type]
            raise UsageError(f"{name!r} in the cluster file {path} cannot be {value!r}")
    if ("address" in found) == ("cluster" in found):
        raise UsageError(
            f"the cluster file {path} needs one of `address` (of a scheduler) and `cluster` "
            "(a class such as dask_jobqueue.SLURMCluster)"
        )
    return ClusterSpec(
        found.get("address"),
        found.get("cluster"),
        found.get("arguments", {}),
        found.get("workers"),
        float(found.get("wait", 60.0)),
        found.get("security", {}),
    )


@dataclass(frozen=True, slots=True)
class Place:
    """A scheduler that can be connected to; `close` ends a cluster that was started for us."""

    address: str
    security: Any
    close: Callable[[], None]


def start(spec: ClusterSpec) -> Place:
    """Start the cluster if it is to be started. Raises UsageError."""
    distributed = _needed("distributed")
    if spec.address is not None:
        try:
            security = distributed.Security(**spec.security) if spec.security else None
        except (TypeError, ValueError, OSError) as error:
            raise UsageError(f"`security` of the cluster cannot be used: {error}") from None
        return Place(spec.address, security, lambda: None)
    assert spec.make is not None
    module, _, name = spec.make.rpartition(".")
    try:
        make = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        package = module.partition(".")[0].replace("_", "-")
        raise UsageError(
            f"there is no Dask cluster {spec.make} ({error}): pip install {package}?"
        ) from None
    with ExitStack() as stack:
        try:
            arguments = spec.arguments
            cluster = _closed(make, arguments, stack) if spec.closed else make(**arguments)
            if spec.workers is not None:
                cluster.scale(spec.workers)
        except ReducekitError:
            raise
        except Exception as error:  # whatever a batch system says
            root: BaseException = error
            while root.__cause__ is not None:
                root = root.__cause__
            raise UsageError(f"{spec.make} cannot be started: {root}") from error
        stack.callback(cluster.close)
        closing = stack.pop_all()
    return Place(cluster.scheduler_address, getattr(cluster, "security", None), closing.close)


def _closed(make: Callable[..., Any], arguments: Mapping[str, Any], stack: ExitStack) -> Any:
    """Start a `LocalCluster` that is closed to other users of this machine.

    All connections take keys that exist only in the memory of the client and the workers. Dask
    starts an HTTP server with each scheduler and worker, whatever one says of dashboards: these
    listen on the loopback and serve no page. The workers' folders are below one of mode 0700.
    """
    import dask

    _needed("cryptography")
    _keep_out_current_folder()
    folder = RunDirectory(tempfile.gettempdir())  # not in memory: files to ship may be large
    stack.callback(folder.remove)
    settings = {
        "temporary-directory": folder.path,
        "distributed.scheduler.http.routes": [],
        "distributed.worker.http.routes": [],
    }
    with dask.config.set(settings):
        return make(
            **arguments,
            host="127.0.0.1",
            security=_keys(stack),
            dashboard_address=None,
            scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
            config=settings,  # of the workers
        )


def _keys(stack: ExitStack) -> Any:
    """Return fresh keys for the connections of a cluster, in files that only memory holds.

    Dask writes keys that it gets as text to a temporary folder, in each process and for a moment:
    a process that is killed in this moment leaves them there.
    """
    security: Any = _needed("distributed").Security
    made = security.temporary()
    files = {text: _in_memory(text) for text in (made.tls_ca_file, made.tls_client_key)}
    for fd in files.values():
        stack.callback(os.close, fd)
    certificate, key = map(_path_of, files.values())
    roles = {f"tls_{role}_key": key for role in ("client", "scheduler", "worker")}
    roles |= {f"tls_{role}_cert": certificate for role in ("client", "scheduler", "worker")}
    return security(require_encryption=True, tls_ca_file=certificate, **roles)


@cache
def _keep_out_current_folder() -> None:
    """Have `multiprocessing`, by which Dask starts workers, import nothing from there.

    It starts Python with `-c` and the options of this process, which has no `-P`. A variable
    would serve, too, but the commands that workers run would get it as well.
    """
    if not sys.flags.safe_path:
        python = shlex.join([os.fsdecode(spawn.get_executable()), "-P"])
        fd = _in_memory(f'#!/bin/sh\nexec {python} "$@"\n', mode=0o500)
        if os.access(_path_of(fd), os.X_OK):
            spawn.set_executable(_path_of(fd))


def _in_memory(text: str, mode: int = 0o400) -> int:
    """Return a file that ends with this process: nothing of it is ever on a disk."""
    if not hasattr(os, "memfd_create"):
        raise UsageError("--cluster needs Linux: leave it out, and use --jobs")
    fd = os.memfd_create("reducekit")
    os.write(fd, text.encode())
    os.fchmod(fd, mode)
    return fd


def _path_of(fd: int) -> str:
    """Return the path of an open file for this process and its children; others may not use it."""
    return f"/proc/{os.getpid()}/fd/{fd}"


def _needed(module: str) -> Any:
    """Import what the extra `cluster` brings. Raises UsageError if it is not there."""
    known = "distributed" in sys.modules
    try:
        found = importlib.import_module(module)
    except ImportError:
        raise UsageError(MISSING) from None
    if module == "distributed" and not known:
        # Dask logs each worker and scheduler that goes; reducekit says so itself, once. On import
        # Dask gives some of its loggers a level of their own. A program that has imported Dask
        # before keeps its settings.
        for name in list(logging.root.manager.loggerDict):
            if name.partition(".")[0] in ("distributed", "tornado"):
                logging.getLogger(name).setLevel(logging.CRITICAL)
    return found
