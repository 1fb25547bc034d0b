"""Runs a command that ends with the process that started it: ``python tether.py <pid of that process> <command> ...``.

A script of its own because the kernel must be asked in the child: between fork and exec of a process with threads
nothing safe can be run. On Linux the command gets SIGTERM when its parent dies, however that dies; elsewhere the next
start has to find it.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Ask for the signal, and become the command unless the parent is gone by then."""
    parent, command = int(sys.argv[1]), sys.argv[2:]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        sys.exit("the process that wanted this command is gone")
    os.execvp(command[0], command)  # noqa: S606 - the operator's own command


if __name__ == "__main__":
    main()
