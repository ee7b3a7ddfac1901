"""Processes that end with the one that started them."""

import json
import os
import signal
import sys

from lab_machine.kernel_calls import die_with_parent
from soft_roce.problem import Problem


def exit_status(wait_status):
    code = os.waitstatus_to_exitcode(wait_status)
    return 128 - code if code < 0 else code


def wait_and_hand_on(child):
    """Waits for a child; SIGTERM and SIGHUP are handed on, and SIGINT is left to the child, which gets it from the
    terminal."""
    handed_on = (signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, lambda number, _: os.kill(child, number)) for number in handed_on}
    before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return exit_status(os.waitpid(child, 0)[1])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def child_that_dies_with_us(action):
    """Forks; the child does action() and exits with what it returns."""
    parent = os.getpid()
    child = os.fork()
    if child:
        return child
    try:
        die_with_parent()
        # In a new PID namespace the parent has no number that a child could compare.
        if os.getppid() not in (parent, 0):
            os._exit(1)
        os._exit(action())
    except Problem as problem:
        print(f"lab: {problem}", file=sys.stderr)
        os._exit(problem.status)
    except OSError as error:
        print(f"lab: {error}", file=sys.stderr)
        os._exit(1)
    finally:
        os._exit(1)


def result_of_child(action):
    """What action() returns, as JSON carries it, when a process of its own does it: one that may enter other
    namespaces."""
    read_end, write_end = os.pipe()

    def write_result():
        found = action()
        with os.fdopen(write_end, "w") as pipe:
            json.dump(found, pipe)
        return 0

    child = child_that_dies_with_us(write_result)
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        text = pipe.read()
    status = exit_status(os.waitpid(child, 0)[1])
    if status != 0 or not text:
        raise Problem("the lab could not be read or changed, see above", status or 1)
    return json.loads(text)
