"""Whom a server of models is believed by: the certificates of the system, for whatever asks one."""

from __future__ import annotations

import ssl


def trusted(root: str) -> ssl.SSLContext:
    """Whose certificates are believed at this address. To be called in a worker thread: loading them takes 50 ms and more.

    The variables ``SSL_CERT_FILE`` and ``SSL_CERT_DIR`` are not looked at, as no others of the environment are. Without TLS it
    is nobody, and nothing is loaded.
    """
    import httpx2  # its first import takes a while too

    if not root.startswith("https:"):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    found: ssl.SSLContext = httpx2.create_ssl_context(trust_env=False)
    return found
