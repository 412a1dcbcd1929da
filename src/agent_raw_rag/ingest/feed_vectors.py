"""PLACEHOLDER"""


def feed_cache(connection, home, space):  # type: ignore
    pass
