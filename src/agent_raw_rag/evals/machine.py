"""Where figures were measured: processor, memory, system, versions. No name or path of the machine."""

from __future__ import annotations

import os
import platform
import re
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = (
    "agent-raw-rag-mcp",
    "numpy",
    "tantivy",
    "onnxruntime",
    "tokenizers",
    "tiktoken",
    "PyStemmer",
    "mlx",
    "mlx-lm",
)
"""Those that ranking goes through."""


def machine() -> dict[str, object]:
    """JSON values."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "ram_gb": _ram_gb(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
    }


def _cpu() -> str:
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:  # no Linux
        found = None
    return found[1] if found else platform.processor() or "unknown"


def _ram_gb() -> float | None:
    if sys.platform == "win32":
        return None
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)
    except (ValueError, OSError):  # a system that does not say
        return None


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
