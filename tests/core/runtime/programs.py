"""The programs of a session, for tests of a program's choices over several runs."""


def programs(session):
    """Return the program of each fetch and feed, in the order of the first runs."""
    return [prepared.program for prepared in session._prepared.values()]
