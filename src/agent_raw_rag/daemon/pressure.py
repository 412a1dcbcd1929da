"""Whether vectors have to wait: others need the machine, or it runs on its battery."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

MINUTE = 60.0
SUPPLIES = "/sys/class/power_supply"


@dataclass(slots=True)
class OwnLoad:
    """How much of the load average is this process: its CPU time, smoothed as the system smooths its load."""

    at: float
    cpu: float
    load: float = 0.0

    def sample(self, at: float, cpu: float) -> float:
        """The load, given the CPU seconds that were used up to ``at``."""
        elapsed = at - self.at
        if elapsed > 0:
            kept = math.exp(-elapsed / MINUTE)
            self.load = self.load * kept + (cpu - self.cpu) / elapsed * (1 - kept)
            self.at, self.cpu = at, cpu
        return self.load


def reason_to_wait(load: float, own: float, cores: int, busy_load: float, on_battery: bool) -> str | None:
    """Why vectors wait, in words; None: they need not. ``busy_load`` 0: load is no reason."""
    others = max(0.0, load - own) / cores
    if busy_load and others >= busy_load:
        return f"the machine is busy (load {others:.1f} a core)"
    return "the machine runs on its battery" if on_battery else None


class Pressure:
    """What the system says."""

    def __init__(self) -> None:
        self._own = OwnLoad(time.monotonic(), time.process_time())

    def reason(self, busy_load: float, on_battery_too: bool) -> str | None:
        """As ``reason_to_wait``, now."""
        own = self._own.sample(time.monotonic(), time.process_time())
        on_battery = not on_battery_too and is_on_battery()
        return reason_to_wait(_load(), own, os.cpu_count() or 1, busy_load, on_battery)


def _load() -> float:
    if sys.platform == "win32":  # it has none
        return 0.0
    try:
        return os.getloadavg()[0]
    except OSError:
        return 0.0


def is_on_battery() -> bool:
    """Whether the machine runs on its battery; where nobody can tell, it does not."""
    return _pmset() if sys.platform == "darwin" else on_battery_by(SUPPLIES)


def on_battery_by(folder: str) -> bool:
    """As Linux says it: a battery of the machine (not of its mouse) discharges, and no supply is online."""
    try:
        supplies = [os.path.join(folder, name) for name in os.listdir(folder)]
    except OSError:
        return False
    batteries = [one for one in supplies if _says(one, "type") == "Battery" and _says(one, "scope") != "Device"]
    plugged = any(_says(one, "online") == "1" for one in supplies if one not in batteries)
    return not plugged and any(_says(one, "status") == "Discharging" for one in batteries)


def _says(supply: str, what: str) -> str:
    try:
        with open(os.path.join(supply, what), encoding="utf-8", errors="replace") as stream:
            return stream.read().strip()
    except OSError:
        return ""


def _pmset(run: Callable[..., subprocess.CompletedProcess[str]] = subprocess.run) -> bool:
    try:
        said = run(["/usr/bin/pmset", "-g", "batt"], capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return "'Battery Power'" in said.stdout
