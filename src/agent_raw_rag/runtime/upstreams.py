"""Settings -> the upstreams of the proxy."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_raw_rag.config.gateway import ProxySettings
    from agent_raw_rag.gateway.upstream import Upstream


def upstreams_of(settings: ProxySettings) -> list[Upstream]:
    """All of them, in the order of the configuration."""
    from agent_raw_rag.gateway.upstream import Upstream

    return [
        Upstream(
            name, one.url, one.form, one.key_variable, one.auth == "passthrough", tuple(one.models),
            one.connect_seconds, one.read_seconds,
        )
        for name, one in settings.upstreams.items()
    ]  # fmt: skip
