"""Which commands there are, and running one."""

import argparse
from collections.abc import Mapping

from app.commands import document_commands, memory_commands
from app.commands.running_sidecar import Command, Failed, complain, connected
from app.settings import Settings

NAMES = frozenset({*memory_commands.COMMANDS, *document_commands.NAMES})


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add them to the command line."""
    memory_commands.add_commands(commands)
    document_commands.add_commands(commands)


def run_remote(settings: Settings, arguments: argparse.Namespace) -> int:
    """Run one of the commands; the exit status."""
    for name, value in vars(arguments).items():
        if isinstance(value, str) and not _is_text(value):
            complain(arguments, f"--{name.replace('_', '-')} is not UTF-8")
            return 1
    commands: Mapping[str, Command] = {**memory_commands.COMMANDS, **document_commands.commands_for(settings)}
    try:
        with connected(settings, arguments) as client:
            return commands[arguments.command](client, arguments)
    except Failed as failure:
        complain(arguments, failure)
        return 1


def _is_text(given: str) -> bool:
    """Whether an argument was given in UTF-8; what was not comes as halves of surrogate pairs."""
    try:
        given.encode()
    except UnicodeEncodeError:
        return False
    return True
