"""macOS: a LaunchAgent of the user."""

from __future__ import annotations

import os
import plistlib
import re
import subprocess
import time
from collections.abc import Mapping

from agent_raw_rag.errors import ServiceError
from agent_raw_rag.service.base import ServiceState, call, put_back, read, said, write
from agent_raw_rag.service.job import Job

LABEL = "com.user.agent-raw-rag"
"""As version 0.2 called it, whose agent is thus replaced."""
_BEHIND: dict[str, object] = {"ProcessType": "Background", "LowPriorityIO": True, "Nice": 10}
_ANSWERING: dict[str, object] = {"ProcessType": "Standard"}
GONE_SECONDS = 20.0
"""``bootout`` returns before the old one has ended."""


class Launchd:
    """The LaunchAgent of a user."""

    def __init__(self, environment: Mapping[str, str], uid: int) -> None:
        self.environment = environment
        self.domain = f"gui/{uid}"
        home = environment.get("HOME") or os.path.expanduser("~")
        self.file = os.path.join(home, "Library", "LaunchAgents", f"{LABEL}.plist")

    def render(self, job: Job) -> str:
        """The property list."""
        facts: dict[str, object] = {
            "Label": LABEL,
            "ProgramArguments": job.command,
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": 30,
            "ExitTimeOut": 15,
            **(_ANSWERING if job.answers else _BEHIND),
            "Umask": 0o077,
        }
        if job.environment:
            facts["EnvironmentVariables"] = dict(job.environment)
        try:
            return plistlib.dumps(facts, sort_keys=False).decode()
        except ValueError as error:
            hint = "A property list holds no control characters and no broken UTF-8: rename the folder or the variable."
            raise ServiceError(f"The service cannot be described: {error}.", hint=hint) from error

    def install(self, job: Job) -> list[str]:
        """See ``Service``."""
        self._ask_for_session()
        before = read(self.file)
        try:
            write(self.file, self.render(job))
            self._leave()
            self._launchctl("enable", self._target)
            self._must("bootstrap", self.domain, self.file)
        except (OSError, ServiceError) as error:
            put_back(self.file, before)
            if before is not None:
                self._launchctl("bootstrap", self.domain, self.file)
            raise ServiceError(f"The service was not installed: {error}") from error
        return []

    def uninstall(self) -> bool:
        """See ``Service``."""
        if read(self.file) is None:
            return False
        self._leave()
        os.remove(self.file)
        return True

    def state(self) -> ServiceState:
        """See ``Service``."""
        if read(self.file) is None:
            return ServiceState("not installed", self.file)
        try:
            shown = self._launchctl("print", self._target)
        except ServiceError as error:
            return ServiceState("unknown", self.file, detail=str(error))
        if shown.returncode:
            return ServiceState("stopped", self.file, detail="not loaded")
        pid = re.search(r"^\s*pid = (\d+)", shown.stdout, re.MULTILINE)
        ended = re.search(r"^\s*last exit code = (.+)$", shown.stdout, re.MULTILINE)
        if pid:
            return ServiceState("running", self.file, int(pid[1]))
        return ServiceState("stopped", self.file, detail=f"last exit status {ended[1]}" if ended else "")

    @property
    def _target(self) -> str:
        return f"{self.domain}/{LABEL}"

    def _ask_for_session(self) -> None:
        done = self._launchctl("print", self.domain)
        if done.returncode:
            raise ServiceError(
                f"There is no graphical session to run it in ({said(done)}).",
                hint="Log in at the screen once and try again, or run `raw-rag-ingest --watch` yourself.",
            )

    def _leave(self) -> None:
        self._launchctl("bootout", self._target)
        deadline = time.monotonic() + GONE_SECONDS
        while self._launchctl("print", self._target).returncode == 0:
            if time.monotonic() >= deadline:
                raise ServiceError("The service that runs does not end.", hint="Try again in a moment.")
            time.sleep(0.2)

    def _must(self, *words: str) -> None:
        done = self._launchctl(*words)
        if done.returncode:
            raise ServiceError(f"`launchctl {' '.join(words)}` says: {said(done)}.")

    def _launchctl(self, *words: str) -> subprocess.CompletedProcess[str]:
        return call(["launchctl", *words], self.environment)
