"""Processes that do a step together: every part is done once, and whatever becomes of a member the leader goes on."""

import os
import pathlib
import platform
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from tfg.core.numerics import team_member
from tfg.core.numerics.products import divide
from tfg.core.numerics.rehearsal import Rehearsal
from tfg.core.numerics.shared_memory import SharedMemory
from tfg.core.numerics.team import Lost, Team
from tfg.core.numerics.teamwork import BOARD_BYTES, Form, JointStep, here, result_array

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="other systems: there are teams on Linux on x86 only"
)

PARTS = 6
FORM = Form((PARTS, 500), np.dtype(np.float32))


class Steps:
    """Steps for teams; what they do beside their work is said by attributes, which members have as of the fork."""

    leader = os.getpid()
    fails_in_members = fails_in_leader = dies_in_members = False
    pause = 0.0

    def twice(self, x):
        """2 x, and who made which row."""
        result, makers = result_array(x.shape, x.dtype), result_array((PARTS,), np.int64)

        def fill(row):
            is_member = os.getpid() != self.leader
            if is_member and self.dies_in_members:
                os.kill(os.getpid(), signal.SIGKILL)
            if (is_member and self.fails_in_members) or (not is_member and self.fails_in_leader):
                raise ZeroDivisionError("not this one")
            time.sleep(self.pause)
            np.multiply(x[row], 2, out=result[row])
            makers[row] = os.getpid()

        divide(fill, range(PARTS), into=result)
        return result, makers

    def in_two_divisions(self, x):
        """The sum of the rows of 2 x, from what all have made."""
        first, second = result_array(x.shape, x.dtype), result_array((PARTS,), x.dtype)
        divide(lambda row: np.multiply(x[row], 2, out=first[row]), range(PARTS), into=first)
        divide(lambda row: second.__setitem__(row, first.sum(0)[row]), range(PARTS), into=second)
        return second


    def lets_go_of_the_first(self, x):
        """Rows of the sum of 2 x, of an array that nobody needs when the next one is made; members are slow to read it."""
        first = result_array(x.shape, x.dtype)
        divide(lambda row: np.multiply(x[row], 2, out=first[row]), range(PARTS), into=first)
        if os.getpid() != self.leader:
            time.sleep(0.005)
        total = first.sum(0)
        first = None
        second = result_array(x.shape, x.dtype)

        def fill(row):
            time.sleep(self.pause)
            np.multiply(total, row, out=second[row])

        divide(fill, range(PARTS), into=second)
        return second


@pytest.fixture
def steps():
    return Steps()


@pytest.fixture
def form(monkeypatch):
    """A function from calls to a team for them; what has been formed ends with the test. Its patience lasts on any machine."""
    teams = []
    monkeypatch.setattr("tfg.core.numerics.team._MOMENT", 10.0)

    def formed(*calls, size=2):
        here.size = size
        steps = [JointStep(call, (FORM,), (None,)) for call in calls]
        teams.append(Team(SharedMemory(1 << 24, BOARD_BYTES), steps, size))
        return teams[-1]

    yield formed
    here.size = 0
    for team in teams:
        team.dismiss()


def some():
    return np.random.default_rng(0).random(FORM.shape, np.float32)


def members_of(team):
    return [member.process for member in team._members]


def ignored(process):
    """The signals that a process ignores, as bits."""
    lines = pathlib.Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1], 16) for line in lines if line.startswith("SigIgn"))


def wait_until(condition):
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_all_processes_do_parts(form, steps, size):
    steps.pause = 0.01
    team, x = form(steps.twice, size=size), some()
    makers = set()

    def have_all_done_parts():
        (result, found), is_shared = team.run_patiently(0, [x])
        assert is_shared
        np.testing.assert_array_equal(result, 2 * x)
        makers.update(found.tolist())
        return makers == {os.getpid(), *members_of(team)}

    wait_until(have_all_done_parts)


def test_every_part_is_done_once_in_many_runs(form, steps):
    team, x = form(steps.twice, steps.in_two_divisions), some()
    for number in range(2000):
        x[0, 0] = number
        result, makers = team.run(0, [x])
        assert (result == 2 * x).all()
        assert set(makers.tolist()) <= {os.getpid(), *members_of(team)}
        second = team.run(1, [x])
        np.testing.assert_array_equal(second, (2 * x).sum(0)[:PARTS])


def test_what_the_leader_needs_no_more_stays_until_the_step_ends(form, steps):
    steps.pause = 0.002
    team, x = form(steps.lets_go_of_the_first), some()
    for _ in range(10):
        found = team.run(0, [x])
        np.testing.assert_array_equal(found, np.arange(PARTS, dtype=np.float32)[:, None] * (2 * x).sum(0))


def test_inputs_may_lie_anywhere(form, steps):
    team, x = form(steps.twice), some()
    inside = team.memory.empty((PARTS, 500), np.float32)
    inside[...] = x
    wide = team.memory.empty((PARTS, 1000), np.float32)
    wide[:, ::2] = x
    frozen = x.copy()
    frozen.flags.writeable = False
    for given in (x, inside, wide[:, ::2], np.asfortranarray(x), frozen, np.broadcast_to(x[:1], x.shape)):
        result, _ = team.run_patiently(0, [given])[0]
        np.testing.assert_array_equal(result, 2 * given)


def test_a_member_that_fails_loses_the_step_and_does_the_next(form, steps):
    steps.pause, steps.fails_in_members = 0.01, True
    team, x = form(steps.twice, steps.in_two_divisions), some()
    with pytest.raises(Lost):
        team.run_patiently(0, [x])
    assert team.is_there
    found, is_shared = team.run_patiently(1, [x])
    assert is_shared
    np.testing.assert_array_equal(found, (2 * x).sum(0)[:PARTS])


def test_an_error_of_the_leader_loses_the_step_when_the_members_have_stopped(form, steps):
    steps.pause = 0.01
    team, x = form(steps.twice), some()
    steps.fails_in_leader = True
    with pytest.raises(Lost) as found:
        team.run_patiently(0, [x])
    assert isinstance(found.value.__cause__, ZeroDivisionError)
    steps.fails_in_leader = False
    np.testing.assert_array_equal(team.run(0, [x])[0], 2 * x)


def test_a_team_is_dismissed_when_a_member_dies(form, steps):
    steps.dies_in_members, steps.pause = True, 0.01
    team, x = form(steps.twice), some()
    with pytest.raises(Lost):
        team.run_patiently(0, [x])
    assert not team.is_there


def test_the_leader_takes_the_first_parts_and_members_the_last(form, steps):
    steps.pause = 0.002
    team, x = form(steps.twice), some()
    owns = set()
    for _ in range(5):
        (_, makers), _ = team.run_patiently(0, [x])
        owns.add(own := int(np.sum(makers == os.getpid())))
        assert (makers[:own] == os.getpid()).all()
    assert owns - {0, PARTS}


def test_a_member_that_dies_with_the_lock_leaves_it_to_nobody(form, steps, monkeypatch):
    claim = team_member._MemberSide.claim

    def claim_and_die(self, ticket):
        self.lock()
        os.kill(os.getpid(), signal.SIGKILL)
        return claim(self, ticket)

    monkeypatch.setattr(team_member._MemberSide, "claim", claim_and_die)
    team = form(steps.twice)
    with pytest.raises(Lost):
        for _ in range(1000):
            team.run_patiently(0, [some()])
    assert not team.is_there


def test_the_leader_does_all_when_members_do_not_come(form, steps):
    team, x = form(steps.twice), some()
    (process,) = members_of(team)
    os.kill(process, signal.SIGSTOP)
    for _ in range(5):
        result, makers = team.run(0, [x])
        np.testing.assert_array_equal(result, 2 * x)
        assert set(makers.tolist()) == {os.getpid()}
    os.kill(process, signal.SIGCONT)
    wait_until(lambda: process in team.run_patiently(0, [x])[0][1])
    np.testing.assert_array_equal(result, 2 * x)


def test_who_comes_late_writes_nowhere(form, steps):
    """It is stopped at any place of a step; what has its memory by then stays as it is."""
    steps.pause = 0.0
    team, x = form(steps.twice), some()
    (process,) = members_of(team)
    for i in range(60):
        os.kill(process, signal.SIGSTOP)
        time.sleep(0.0002 * (i % 7))
        os.kill(process, signal.SIGCONT)
        team.run(0, [x])
        taken = [team.memory.empty(FORM.shape, np.float32) for _ in range(4)]
        for array in taken:
            array[...] = i
        time.sleep(0.0005)
        assert all((array == i).all() for array in taken)


def test_a_signal_in_the_middle_of_a_step_ends_the_team(form, steps):
    team, x = form(steps.twice), some()
    (process,) = members_of(team)
    before = signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    steps.pause = 0.2
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            team.run(0, [x])
    finally:
        signal.signal(signal.SIGALRM, before)
    assert not team.is_there
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_a_dismissed_team_writes_to_nobody_and_does_nothing(form, steps):
    team = form(steps.twice)
    wait_until(lambda: team.board[team._members[0].sleeps])
    team.dismiss()
    reader, writer = os.pipe()  # with the numbers that the team's had
    with pytest.raises(Lost):
        team.run(0, [some()])
    team.rest()
    os.set_blocking(reader, False)
    with pytest.raises(BlockingIOError):
        os.read(reader, 1)
    os.close(reader)
    os.close(writer)


def test_dismissed_members_are_gone(form, steps):
    team = form(steps.twice, size=3)
    processes = members_of(team)
    team.dismiss()
    team.dismiss()
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_members_hold_no_files(form, steps):
    reader, writer = os.pipe()
    team = form(steps.twice)
    os.close(writer)
    assert os.read(reader, 1) == b""  # nobody else has the other end
    os.close(reader)
    (process,) = members_of(team)
    wait_until(lambda: len(list(pathlib.Path(f"/proc/{process}/fd").iterdir())) == 4)  # three of /dev/null, and the pipe


def test_one_that_is_forked_from_the_leader_has_no_team(form, steps):
    team = form(steps.twice)
    process = os.fork()
    if not process:
        found = team.is_there
        team.dismiss()
        os._exit(found)
    assert os.waitpid(process, 0)[1] == 0
    assert team.is_there
    np.testing.assert_array_equal(team.run(0, [some()])[0], 2 * some())


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), signal.SIGKILL)", "sys.exit(0)", "os._exit(0)", "1 / 0"])
def test_members_end_with_their_leader(end):
    code = f"""
        import os, signal, sys
        import numpy as np
        from tfg.core.numerics.shared_memory import SharedMemory
        from tfg.core.numerics.team import Team
        from tfg.core.numerics.teamwork import BOARD_BYTES
        team = Team(SharedMemory(1 << 20, BOARD_BYTES), [], 3)
        print(*[member.process for member in team._members], flush=True)
        {end}
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True)
    processes = done.stdout.split()
    assert len(processes) == 2
    wait_until(lambda: not any(os.path.exists(f"/proc/{process}") for process in processes))


def test_members_leave_interrupts_to_their_leader(form, steps):
    team, x = form(steps.twice), some()
    (process,) = members_of(team)
    wait_until(lambda: ignored(process) >> (signal.SIGINT - 1) & 1)
    os.kill(process, signal.SIGINT)
    wait_until(lambda: process in team.run_patiently(0, [x])[0][1])


def test_a_step_without_room_is_lost(form, steps):
    team = form(steps.twice)
    kept = []
    for size in (1 << 20, 1 << 12):
        while (array := team.memory.empty((size,), np.uint8)) is not None:
            kept.append(array)
    with pytest.raises(Lost):
        team.run(0, [some()])
    del kept
    np.testing.assert_array_equal(team.run(0, [some()])[0], 2 * some())


def rehearsed(call):
    here.size = 2
    try:
        memory = SharedMemory(1 << 24, BOARD_BYTES)
        return Rehearsal(memory, 2), some()
    finally:
        here.size = 0


def test_a_rehearsal_tells_what_a_team_would_save(steps):
    steps.pause = 0.01
    rehearsal, x = rehearsed(steps.twice)
    (result, _), seconds, saved = rehearsal.rehearse(steps.twice, [x])
    np.testing.assert_array_equal(result, 2 * x)
    assert seconds >= 0.06
    assert 0 < saved < 0.6 * seconds


def writes_before(x):
    result = result_array(x.shape, x.dtype)
    result[...] = 0
    divide(lambda row: np.add(result[row], x[row], out=result[row]), range(PARTS), into=result)
    return result


def writes_behind(x):
    result = result_array(x.shape, x.dtype)
    divide(lambda row: np.copyto(result[row], x[row]), range(PARTS), into=result)
    result[-1, -1] += 1
    return result


def writes_alone(x):
    result = result_array(x.shape, x.dtype)
    np.copyto(result, x)
    return result


def fails_without_numbers(x):
    result = result_array(x.shape, x.dtype)
    divide(lambda row: np.copyto(result[row], x[row]), range(PARTS), into=result)
    assert (result == x).all()
    return result


@pytest.mark.parametrize(
    ("call", "is_sound"),
    [(writes_before, False), (writes_behind, False), (writes_alone, False), (fails_without_numbers, True)],
)
def test_a_rehearsal_finds_what_writes_beside_its_parts(call, is_sound):
    rehearsal, x = rehearsed(call)
    assert rehearsal.leaves_alone(call, [x]) is is_sound
