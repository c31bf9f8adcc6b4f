"""Run named tasks over blocks, and tree reductions, on the workers of a dask client."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from functools import partial
from importlib import metadata
from itertools import count
from uuid import uuid4

import numpy as np
from dask import delayed
from dask.delayed import Delayed
from dask.sizeof import sizeof
from distributed import Client, Future, get_client
from distributed.comm import CommClosedError

from skauc.engines import GPU_VARIABLE, gpu_engine
from skauc.exceptions import ClusterLostError, InvalidParameterError

# Number of partial results that one task adds up.
FAN_IN = 8
# Arguments above this many bytes are stored on a worker, and the other workers copy them once.
INLINE_BYTES = 1 << 15


class Pool:
    """The workers of a client. They run tasks over blocks.

    Each worker moves its blocks to ``device``, or keeps them on the CPU if it is None.
    """

    def __init__(self, client: Client, device: str | None = None):
        self.client, self.device = client, device
        self._token = uuid4().hex
        self._numbers = count()

    def each(self, name: str, function: Callable, /, *blocks: Sequence, **small) -> list[Delayed]:
        """Return one delayed task per block. All tasks get the same ``small`` arguments."""
        small = {key: self.argument(value) for key, value in small.items()}
        return [self.one(name, function, *values, **small) for values in zip(*blocks, strict=True)]

    def one(self, name: str, function: Callable, /, *values, **small) -> Delayed:
        """Return one delayed task. Its values may be lists of futures."""
        return delayed(function, pure=False, traverse=False)(
            *values, **small, dask_key_name=self._key(name)
        )

    def value(self, name: str, value) -> Delayed:
        """Return a delayed task that stores a value of the client on a worker."""
        return delayed(value, name=self._key(name), traverse=False)

    def total(
        self, name: str, parts: Sequence, add: Callable, finish: Callable | None = None, **small
    ) -> Delayed:
        """Return a delayed tree of tasks that adds ``parts`` and applies ``finish`` to the sum."""
        parts = list(parts)
        while len(parts) > FAN_IN:
            parts = [
                self.one(f"{name}-sum", add, parts[first : first + FAN_IN])
                for first in range(0, len(parts), FAN_IN)
            ]
        return self.one(f"{name}-sum", partial(_add, add, finish), parts, **small)

    def start(self, tasks: Sequence[Delayed]) -> list[Future]:
        """Submit tasks. The cluster keeps their values as long as the futures exist."""
        return self.client.compute(list(tasks), optimize_graph=False)

    def fetch(self, task: Delayed):
        """Run a task and its dependencies, and return its value."""
        return self.fetch_all([task])[0]

    def fetch_all(self, tasks: Sequence[Delayed]) -> list:
        """Run tasks and return their values."""
        return self.values(self.start(tasks))

    def values(self, futures: Sequence[Future]) -> list:
        """Wait for the values of futures. Raise `ClusterLostError` if the scheduler dies."""
        try:
            return self.client.gather(futures)
        except (CancelledError, CommClosedError) as error:
            raise ClusterLostError(
                f"The cluster was lost during the fit ({error}). Restart it and call `fit` "
                "again. With `checkpoint`, the fit continues from the last retraining."
            ) from error

    def argument(self, value):
        """Return an argument for tasks. A large one is sent to each worker only once."""
        if isinstance(value, Delayed | Future) or sizeof(value) <= INLINE_BYTES:
            return value
        return self.value("argument", value)

    def _key(self, name: str) -> str:
        return f"skauc-{name}-{self._token}{next(self._numbers)}"


def _add(add: Callable, finish: Callable | None, parts: list, **small):
    total = add(parts)
    return total if finish is None else finish(total, **small)


def add_arrays(parts: list):
    """Add arrays, or add tuples of arrays element by element."""
    if isinstance(parts[0], tuple):
        return tuple(sum(arrays[1:], start=arrays[0]) for arrays in zip(*parts, strict=True))
    return sum(parts[1:], start=np.asarray(parts[0]))


def find_pool() -> Pool:
    """Check the workers of the current client and return their pool."""
    try:
        client = get_client()
    except ValueError:
        raise InvalidParameterError(
            "engine='cluster' needs a dask client; there is none. Create one, for example with "
            "client = distributed.Client(n_workers=2), or use `with client.as_current():`."
        ) from None
    _check_workers(client)
    return Pool(client, _find_device(client))


def _find_device(client: Client) -> str | None:
    """Return the device that the environment of all workers names, or None."""
    devices = client.run(_device_of_worker)
    if len(set(devices.values())) > 1:
        found = ", ".join(f"{worker} has {name}" for worker, name in sorted(devices.items()))
        raise InvalidParameterError(
            f"{GPU_VARIABLE} must name the same device on all workers; got: {found}. Restart the "
            "workers with the same value."
        )
    return next(iter(devices.values()), None)


def _device_of_worker() -> str | None:
    return gpu_engine().find_device() if os.environ.get(GPU_VARIABLE) else None


def _check_workers(client: Client) -> None:
    """Raise an error if a worker has no skauc, or another version than the client."""
    own = metadata.version("skauc")
    versions = client.run(metadata.version, "skauc", on_error="return")
    wrong = {
        worker: "no skauc" if isinstance(version, BaseException) else f"skauc {version}"
        for worker, version in versions.items()
        if version != own
    }
    if wrong:
        found = ", ".join(f"{worker} has {what}" for worker, what in sorted(wrong.items()))
        raise InvalidParameterError(
            f"Workers must have skauc {own}, like the client; {found}. Install it on them, for "
            f'example with pip install "skauc[cluster]=={own}", and restart them.'
        )
