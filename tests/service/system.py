"""``systemctl --user`` and ``launchctl`` that keep state and really start what they are told to: for systems without a
session of their own. Put beside a PATH by ``lay_out``; each is one file that runs by itself."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_SHARED = """\
#!{python}
import json, os, plistlib, re, shlex, signal, subprocess, sys
from pathlib import Path
import psutil

STATE = Path({folder!r}, "{name}.json")
ERRORS = Path({folder!r}, "{name}.stderr")

def load():
    return json.loads(STATE.read_text("utf-8")) if STATE.exists() else {{}}

def save(state):
    STATE.write_text(json.dumps(state), "utf-8")

def alive(pid):
    try:
        return bool(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False

def start(words, environment):
    kept = {{name: os.environ[name] for name in ("HOME", "PATH", "LANG") if name in os.environ}}
    with ERRORS.open("ab") as errors:
        process = subprocess.Popen(
            words, env={{**kept, **environment}}, cwd=os.environ["HOME"], stdin=subprocess.DEVNULL, stdout=errors,
            stderr=errors, start_new_session=True,
        )
    return process.pid

def stop(pid):
    if alive(pid):
        process = psutil.Process(pid)
        process.terminate()
        process.wait(20)

def fail(status, text):
    print(text, file=sys.stderr)
    sys.exit(status)
"""
_SYSTEMCTL = """\
def unquoted(text):
    unescaped = [re.sub(r"\\\\x([0-9a-f]{2})", lambda found: chr(int(found[1], 16)), one) for one in shlex.split(text)]
    return [one.replace("%%", "%") for one in unescaped]

def unit():
    config = os.environ.get("XDG_CONFIG_HOME") or os.environ["HOME"] + "/.config"
    path = Path(config, "systemd", "user", "agent-raw-rag.service")
    return path.read_text("utf-8") if path.exists() else None

assert sys.argv[1] == "--user", sys.argv
verb, *rest = sys.argv[2:]
state, text = load(), unit()
if verb == "show-environment":
    print("HOME=" + os.environ["HOME"])
elif verb == "daemon-reload":
    save({**state, "loaded": text})
elif state.get("loaded") is None:
    fail(5, "Unit agent-raw-rag.service not found.")
elif verb == "enable":
    save({**state, "enabled": True})
elif verb == "restart":
    stop(state.get("pid"))
    lines = state["loaded"].splitlines()
    (command,) = [line.removeprefix("ExecStart=") for line in lines if line.startswith("ExecStart=")]
    variables = [line.removeprefix("Environment=") for line in lines if line.startswith("Environment=")]
    program, *words = unquoted(command)
    environment = dict(unquoted(line)[0].split("=", 1) for line in variables)
    save({**state, "pid": start([program, *(word.replace("$$", "$") for word in words)], environment)})
elif verb == "disable":
    stop(state.get("pid"))
    save({**state, "enabled": False, "pid": None})
elif verb == "show":
    pid = state.get("pid")
    active = alive(pid)
    print("ActiveState=" + ("active" if active else "failed" if pid else "inactive"))
    print("SubState=" + ("running" if active else "failed" if pid else "dead"))
    print(f"MainPID={pid if active else 0}\\nExecMainStatus={1 if pid and not active else 0}")
else:
    fail(1, f"Unknown command verb {verb}.")
"""
_LAUNCHCTL = """\
verb, *rest = sys.argv[1:]
state = load()
label = rest[0].split("/")[2] if rest and rest[0].count("/") == 2 else None
if verb == "print" and label is None:
    print("type = login")
elif verb == "print" and not state.get("loaded"):
    fail(113, f'Could not find service "{label}" in domain')
elif verb == "print":
    pid = state.get("pid")
    said = f"state = running\\n\\tpid = {pid}" if alive(pid) else "state = not running\\n\\tlast exit code = 1"
    print(f"{rest[0]} = {{\\n\\t{said}\\n}}")
elif verb == "enable":
    pass
elif verb == "bootout":
    if not state.get("loaded"):
        fail(3, "Boot-out failed: 3: No such process")
    stop(state.get("pid"))
    save({})
elif verb == "bootstrap":
    if state.get("loaded"):
        fail(5, "Bootstrap failed: 5: Input/output error")
    facts = plistlib.loads(Path(rest[1]).read_bytes())
    save({"loaded": True, "pid": start(facts["ProgramArguments"], facts.get("EnvironmentVariables", {}))})
else:
    fail(64, f"Unrecognized subcommand: {verb}")
"""
PROGRAMS = {"systemctl": _SYSTEMCTL, "launchctl": _LAUNCHCTL}


def lay_out(folder: Path, name: str) -> dict[str, str]:
    """One of the programs, first on a PATH. Returns that PATH as variables; its state stands in ``folder``."""
    bin_ = folder / "bin"
    bin_.mkdir(parents=True, exist_ok=True)
    program = bin_ / name
    shared = _SHARED.format(python=sys.executable, folder=str(folder), name=name)
    program.write_text(f"{shared}\n{PROGRAMS[name]}", encoding="utf-8")
    program.chmod(0o755)
    return {"PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}"}
