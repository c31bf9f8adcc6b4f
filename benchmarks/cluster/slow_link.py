"""Hosts behind slow links: network namespaces joined by a switch in user space.

    python -m benchmarks.cluster.slow_link verify

Each host has a network namespace with a TUN device whose other end is in this process. A packet
takes its length divided by the bandwidth to leave its host and as long to enter the other, after
the packets before it, and ``delay`` in between. Packets are dropped only if a queue exceeds
`QUEUE_BYTES`. The switch needs the kernel module tun and root.
"""

from __future__ import annotations

import ctypes
import fcntl
import heapq
import itertools
import os
import select
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

QUEUE_BYTES = 64_000_000
# A packet takes about a millisecond within these bounds, because small packets slow the switch.
PACKET_SECONDS = 1e-3
SMALLEST_MTU, LARGEST_MTU = 1500, 60_000

_TUNSETIFF, _IFF_TUN, _IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
_CLONE_NEWNET = 0x40000000


def namespace(number: int) -> str:
    """Return the name of a host's namespace."""
    return f"skauc{number}"


def address(number: int) -> str:
    """Return the address of a host."""
    return f"10.77.0.{number + 1}"


def inside(number: int, *command: str) -> list[str]:
    """Return a command that runs on a host."""
    return ["ip", "netns", "exec", namespace(number), *command]


def packet_size(bandwidth: float) -> int:
    """Return the packet size of a link with this many bytes per second."""
    return int(min(max(bandwidth * PACKET_SECONDS, SMALLEST_MTU), LARGEST_MTU))


class Port:
    """The device of a host and the times at which its link becomes free."""

    def __init__(self, number: int, mtu: int):
        name = namespace(number)
        _ip("netns", "add", name)
        self.device = _open_device(name)
        os.set_blocking(self.device, False)
        _ip("-n", name, "link", "set", "lo", "up")
        _ip("-n", name, "addr", "add", f"{address(number)}/24", "dev", "slow")
        queue = ["txqueuelen", "10000"]
        _ip("-n", name, "link", "set", "slow", "mtu", str(mtu), *queue, "up")
        self.leaving = self.entering = 0.0

    def packets(self) -> Iterator[bytes]:
        """Yield the IPv4 packets that the host has sent."""
        while True:
            try:
                packet = os.read(self.device, 1 << 16)
            except BlockingIOError:
                return
            if packet[0] >> 4 == 4:
                yield packet


class Switch:
    """Delivers packets between ports at their due times."""

    def __init__(self, n_hosts: int, bandwidth: float, delay: float):
        self.bandwidth, self.delay = bandwidth, delay
        mtu = packet_size(bandwidth)
        self.ports = [Port(number, mtu) for number in range(n_hosts)]
        self.by_address = {
            bytes(map(int, address(number).split("."))): port
            for number, port in enumerate(self.ports)
        }
        self.under_way: list[tuple[float, int, Port, bytes]] = []
        self._numbers = itertools.count()

    def run(self, until: int) -> None:
        """Deliver packets until a file becomes readable."""
        by_device = {port.device: port for port in self.ports}
        while True:
            now = time.monotonic()
            while self.under_way and self.under_way[0][0] <= now:
                _, _, port, packet = heapq.heappop(self.under_way)
                os.write(port.device, packet)
            wait = max(self.under_way[0][0] - time.monotonic(), 0) if self.under_way else None
            ready, _, _ = select.select([*by_device, until], [], [], wait)
            if until in ready:
                return
            for device in ready:
                for packet in by_device[device].packets():
                    self._take(by_device[device], packet)

    def _take(self, source: Port, packet: bytes) -> None:
        target = self.by_address.get(packet[16:20])
        if target is None:
            return
        now, seconds = time.monotonic(), len(packet) / self.bandwidth
        left = max(now, source.leaving) + seconds
        entered = max(left, target.entering) + seconds
        if entered - now > QUEUE_BYTES / self.bandwidth:
            return
        source.leaving, target.entering = left, entered
        arrival = entered + self.delay
        heapq.heappush(self.under_way, (arrival, next(self._numbers), target, packet))


def _open_device(name: str) -> int:
    """Create a TUN device in a namespace."""
    library = ctypes.CDLL(None, use_errno=True)
    with open(f"/run/netns/{name}") as file, open("/proc/self/ns/net") as own:
        for there in (file, own):
            if there is own:
                device = os.open("/dev/net/tun", os.O_RDWR)
                fcntl.ioctl(
                    device, _TUNSETIFF, struct.pack("16sH22x", b"slow", _IFF_TUN | _IFF_NO_PI)
                )
            if library.setns(there.fileno(), _CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "setns")
    return device


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


@contextmanager
def hosts(n_hosts: int, megabits: float, delay: float) -> Iterator[None]:
    """Create hosts with links of the given bandwidth and delay."""
    remove(n_hosts)
    switch = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "benchmarks.cluster.slow_link",
            "run",
            *map(str, (n_hosts, megabits, delay)),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        if switch.stdout.readline() != "ready\n":
            raise RuntimeError("the switch did not start")
        yield
    finally:
        switch.communicate("stop\n")
        remove(n_hosts)


def remove(n_hosts: int) -> None:
    """Remove the leftovers of an earlier run."""
    for number in range(n_hosts):
        if os.path.exists(f"/run/netns/{namespace(number)}"):
            _ip("netns", "del", namespace(number))


# -- verification ----------------------------------------------------------------------------

_SERVER = """
import socket
with socket.create_server(("{address}", 5000)) as server:
    print("ready", flush=True)
    link, _ = server.accept()
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for _ in range({n_trips}):
        link.sendall(link.recv(1))
    n_left = {n_bytes}
    while n_left:
        n_left -= len(link.recv(1 << 20))
    link.sendall(b"x")
"""
_CLIENT = """
import socket, time
link = socket.create_connection(("{address}", 5000))
link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
trips = []
for _ in range({n_trips}):
    started = time.perf_counter()
    link.sendall(b"x")
    link.recv(1)
    trips.append(time.perf_counter() - started)
started = time.perf_counter()
link.sendall(bytes({n_bytes}))
link.recv(1)
print(sorted(trips)[len(trips) // 2], time.perf_counter() - started)
"""


def verify() -> None:
    """Print the round trip and the bandwidth of a TCP connection between two hosts."""
    for megabits, delay in itertools.product((50.0, 1000.0), (0.0, 0.002, 0.02)):
        n_bytes = int(megabits * 1.25e5 * 2)
        names = {"address": address(1), "n_trips": 51, "n_bytes": n_bytes}
        with hosts(2, megabits, delay):
            server = subprocess.Popen(
                inside(1, sys.executable, "-c", _SERVER.format(**names)),
                stdout=subprocess.PIPE,
                text=True,
            )
            server.stdout.readline()
            client = inside(0, sys.executable, "-c", _CLIENT.format(**names))
            done = subprocess.run(client, check=True, capture_output=True, text=True)
            server.communicate()
        trip, seconds = map(float, done.stdout.split())
        found = f"{1e3 * trip:.2f} | {n_bytes / 1.25e5 / seconds:.0f}"
        print(f"| {megabits:g} | {1e3 * delay:g} | {found} |", flush=True)


def main() -> None:
    """Run the switch until told to stop, or verify it."""
    command, *arguments = sys.argv[1:]
    if command == "verify":
        print("| Mbit/s | delay, ms | round trip, ms | TCP, Mbit/s |")
        print("| --- | --- | --- | --- |")
        verify()
        return
    n_hosts, megabits, delay = int(arguments[0]), float(arguments[1]), float(arguments[2])
    # Keep the timing accurate on a busy machine.
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    switch = Switch(n_hosts, megabits * 1.25e5, delay)
    print("ready", flush=True)
    switch.run(until=sys.stdin.fileno())


if __name__ == "__main__":
    main()
