"""The programs that a session has made, for tests of the choices that a program makes over its runs."""


def programs(session):
    """Return the program of each fetch and feed, in the order of the first runs."""
    return [prepared.program for prepared in session._prepared.values()]
