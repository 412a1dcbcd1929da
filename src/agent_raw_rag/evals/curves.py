"""Retrieval curves as a picture: recall over k for each configuration, with bands of confidence. Needs matplotlib."""

from __future__ import annotations

import io
from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

from agent_raw_rag.errors import UsageError

SVG: Any = {"svg.hashsalt": "agent-raw-rag", "svg.fonttype": "none", "font.family": "sans-serif"}
"""Same figures, same bytes: no chance in ids, no font of the machine in the file."""
MOST_CURVES = 8
"""More would be a tangle."""


def check_plots() -> None:
    """See that pictures can be drawn.

    Raises:
        UsageError: matplotlib is not installed.
    """
    if find_spec("matplotlib") is None:
        raise UsageError(
            "Pictures need matplotlib, which is not installed.",
            hint="Install agent-raw-rag-mcp[plots], or give --no-pictures.",
        )


def drawable(names: Iterable[str]) -> list[str]:
    """The configurations that a picture has: not those that differ in one switch, whose curves lie on each other."""
    return [name for name in names if not name.startswith(("with ", "without ")) or name == "without rerank"][
        :MOST_CURVES
    ]


def svg(curves: dict[str, list[list[float]]], title: str) -> str:
    """A picture of curves: configuration -> for each k from 1 on, recall and the ends of its interval."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # the user's own style would make it another picture
        matplotlib.rcParams.update(SVG)
        canvas: Any = FigureCanvasSVG(_figure(curves, title))
        drawn = io.StringIO()
        canvas.print_svg(drawn, metadata={"Date": None, "Creator": None})
    return "\n".join(line.rstrip() for line in drawn.getvalue().splitlines()) + "\n"


def _figure(curves: dict[str, list[list[float]]], title: str) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for name, points in curves.items():
        _draw(axes, name, points)
    axes.set(xlabel="k", ylabel="recall@k, %", title=title, xlim=(1, None), ylim=(0, 100))
    axes.grid(visible=True, alpha=0.3)
    axes.legend(loc="lower right")
    return figure


def _draw(axes: Any, name: str, points: list[list[float]]) -> None:
    ks = range(1, len(points) + 1)
    mean, low, high = ([100 * point[place] for point in points] for place in range(3))
    (line,) = axes.plot(ks, mean, label=name, linewidth=1.6)
    axes.fill_between(ks, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
