"""Linux: a unit of the user's own systemd."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping

from agent_raw_rag.errors import ServiceError
from agent_raw_rag.service.base import ServiceState, call, put_back, read, said, write
from agent_raw_rag.service.job import Job

UNIT = "agent-raw-rag.service"
_FOREGROUND = (
    "Run `raw-rag-ingest --watch` in the background yourself, from a terminal multiplexer or a start-up script."
)
_UNSAFE = re.compile(r"['\"\\\x00-\x1f\x7f]")
"""systemd starts no program whose path holds one of these; in arguments it takes them."""
_SHELL = "/bin/sh"
_TEMPLATE = """\
[Unit]
Description=Keeps the history of coding agents searchable
Documentation=man:systemd.service(5)

[Service]
ExecStart={command}
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
RestartSec=30
# Wrong use or a wrong configuration does not mend itself.
RestartPreventExitStatus=2
TimeoutStopSec=15
{rank}UMask=0077
NoNewPrivileges=yes
{environment}
[Install]
WantedBy=default.target
"""


_BEHIND = "Nice=10\nIOSchedulingClass=idle\n"


class Systemd:
    """The unit of the user that ``environment`` belongs to."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = environment
        home = environment.get("HOME") or os.path.expanduser("~")
        config = environment.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
        self.file = os.path.join(config, "systemd", "user", UNIT)

    def render(self, job: Job) -> str:
        """The unit."""
        lines = "".join(f"Environment={quoted(f'{name}={value}')}\n" for name, value in job.environment.items())
        program, *words = job.command
        if _UNSAFE.search(program):
            program, words = _SHELL, ["-c", 'exec "$0" "$@"', *job.command]
        command = " ".join([quoted(program), *(quoted(word, variables=True) for word in words)])
        return _TEMPLATE.format(command=command, environment=lines, rank="" if job.answers else _BEHIND)

    def install(self, job: Job) -> list[str]:
        """See ``Service``."""
        self._ask_for_bus()
        before, after = read(self.file), self.render(job)
        try:
            write(self.file, after)
            self._must("daemon-reload")
            self._must("enable", UNIT)
            self._must("restart", UNIT)
        except (OSError, ServiceError) as error:
            self._take_back(before)
            raise ServiceError(f"The service was not installed: {error}") from error
        return ["It ends when you log out, unless you run `loginctl enable-linger` once."]

    def uninstall(self) -> bool:
        """See ``Service``."""
        if read(self.file) is None:
            return False
        self._ask_for_bus()
        self._must("disable", "--now", UNIT)
        os.remove(self.file)
        self._must("daemon-reload")
        return True

    def state(self) -> ServiceState:
        """See ``Service``."""
        if read(self.file) is None:
            return ServiceState("not installed", self.file)
        try:
            self._ask_for_bus()
            shown = self._must("show", UNIT, "--property=ActiveState,SubState,MainPID,Result,ExecMainStatus").stdout
        except ServiceError as error:
            return ServiceState("unknown", self.file, detail=str(error))
        facts = dict(line.split("=", 1) for line in shown.splitlines() if "=" in line)
        running = facts.get("ActiveState") == "active"
        pid = int(facts.get("MainPID", "0") or 0)
        ended = f"{facts.get('SubState', '')}, last exit status {facts.get('ExecMainStatus', '?')}".lstrip(", ")
        return ServiceState("running" if running else "stopped", self.file, pid or None, "" if running else ended)

    def _take_back(self, before: str | None) -> None:
        """As it was before an installation: what stood there runs again, and nothing is enabled that is not there."""
        if before is None:
            self._systemctl("disable", "--now", UNIT)
        put_back(self.file, before)
        self._systemctl("daemon-reload")
        if before is not None:
            self._systemctl("restart", UNIT)

    def _ask_for_bus(self) -> None:
        try:
            done = self._systemctl("show-environment")
        except ServiceError as error:
            raise ServiceError(f"There is no systemd here: {error}", hint=_FOREGROUND) from error
        if done.returncode:
            raise ServiceError(
                f"The user's systemd does not answer ({said(done)}).",
                hint="In a container there is none; in WSL set `systemd=true` under [boot] in /etc/wsl.conf; over `su` or"
                f" `sudo`, log in as the user instead. {_FOREGROUND}",
            )

    def _must(self, *words: str) -> subprocess.CompletedProcess[str]:
        done = self._systemctl(*words)
        if done.returncode:
            raise ServiceError(f"`systemctl --user {' '.join(words)}` says: {said(done)}.")
        return done

    def _systemctl(self, *words: str) -> subprocess.CompletedProcess[str]:
        return call(["systemctl", "--user", *words], self.environment)


def quoted(text: str, *, variables: bool = False) -> str:
    """A word as systemd reads it back: specifiers are no more than text, nor are variables where systemd fills them in (in
    the arguments of a command, not in the name of its program)."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    escaped = re.sub(r"[\x00-\x1f\x7f]", lambda found: f"\\x{ord(found[0]):02x}", escaped)
    if variables:
        escaped = escaped.replace("$", "$$")
    return f'"{escaped}"'
