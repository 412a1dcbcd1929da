"""Action lines: one line a call, in the shapes that the agents really log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from agent_raw_rag.models import Action, Outcome, ToolCall, ToolResult
from agent_raw_rag.sanitize import Options
from agent_raw_rag.sanitize.actions import action_lines
from agent_raw_rag.sanitize.scrub import scrub
from agent_raw_rag.sanitize.tools import Category, category_of

PATCH = """*** Begin Patch
*** Update File: src/app.py
@@ def main():
-    run()
+    setup()
+    run()
*** Add File: docs/a.md
+- one
+- two
*** Delete File: old.py
*** End Patch"""

DIFF = """diff --git a/src/app.py b/src/app.py
--- a/src/app.py
+++ b/src/app.py
@@ -1,2 +1,2 @@
-old
--- a line that began with two dashes
+new
 same
"""


def line(name: str, args: Mapping[str, Any] | str, result: ToolResult | None = None) -> str:
    """The only line of a call."""
    (only,) = action_lines(Action(ToolCall(name, args, "1"), result), scrub, Options())
    return only


CLAUDE = [
    ("Bash", {"command": "pytest -q", "description": "Run tests"}, "[Bash] pytest -q"),
    ("Bash", {"command": "cat <<'E' > f\na\nb\nE"}, "[Bash] cat <<'E' > f …(+3 lines)"),
    ("Read", {"file_path": "/src/a.py", "offset": 3, "limit": 9}, "[Read] /src/a.py"),
    ("Grep", {"pattern": "def run", "path": "src", "output_mode": "content"}, "[Grep] def run in src"),
    ("Grep", {"pattern": "SESSION_TTL"}, "[Grep] SESSION_TTL"),
    ("Glob", {"pattern": "**/*.md"}, "[Glob] **/*.md"),
    ("LS", {"path": "/src"}, "[LS] /src"),
    ("Edit", {"file_path": "a.py", "old_string": "x = 1", "new_string": "x = 2\ny = 3"}, "[Edit] a.py (+2/-1)"),
    ("Edit", {"file_path": "a.py", "old_string": "a\nb\nc\n", "new_string": "a\nB\nc\n"}, "[Edit] a.py (+1/-1)"),
    ("Edit", {"file_path": "a.py", "old_string": "a\nb", "new_string": ""}, "[Edit] a.py (+0/-2)"),
    (
        "MultiEdit",
        {
            "file_path": "a.py",
            "edits": [{"old_string": "a", "new_string": "b"}, {"old_string": "", "new_string": "c\nd"}],
        },
        "[MultiEdit] a.py (+3/-1)",
    ),
    ("Write", {"file_path": "list.md", "content": "- one\n- two\n- three\n"}, "[Write] list.md (+3/-0)"),
    ("NotebookEdit", {"notebook_path": "n.ipynb", "new_source": "x = 1"}, "[NotebookEdit] n.ipynb (+1/-0)"),
    (
        "Task",
        {"description": "Find users", "prompt": "Find every user", "subagent_type": "Explore"},
        "[Task] Find users",
    ),
    ("Agent", {"prompt": "Find\nevery user"}, "[Agent] Find every user"),
    ("Task", {"name": "Helper", "prompt": "Find users"}, "[Task] Find users"),
    (
        "TodoWrite",
        {"todos": [{"content": "Build it", "status": "pending"}, {"content": "Test it"}]},
        "[TodoWrite] 2 items: Build it",
    ),
    ("TaskCreate", {"subject": "Make a rule", "description": "Long"}, "[TaskCreate] Make a rule"),
    ("WebSearch", {"query": "sqlite wal"}, "[WebSearch] sqlite wal"),
    (
        "WebFetch",
        {"url": "https://sqlite.org/wal.html", "prompt": "What is it?"},
        "[WebFetch] https://sqlite.org/wal.html",
    ),
    ("BashOutput", {"bash_id": "bash_1"}, "[BashOutput] bash_1"),
    ("mcp__github__create_issue", {"owner": "orchid", "title": "Bug"}, "[mcp__github__create_issue] orchid"),
    ("ExitPlanMode", {"plan": "1. Do\n2. Done"}, "[ExitPlanMode] 1. Do"),
]
CODEX = [
    ("shell", {"command": ["bash", "-lc", "ls -la"]}, "[shell] ls -la"),
    ("shell", {"command": ["/bin/bash", "-lc", "cd x && ls\nls"]}, "[shell] cd x && ls …(+1 lines)"),
    ("shell", {"command": ["git", "commit", "-m", "a b"]}, "[shell] git commit -m 'a b'"),
    ("shell", {"command": ["pwsh.exe", "-NoProfile", "-Command", "Get-Item x"]}, "[shell] Get-Item x"),
    ("shell", '{"command":["ls"],"timeout":1}', "[shell] ls"),
    ("shell", {"command": ["apply_patch", PATCH]}, "[shell] apply_patch src/app.py, docs/a.md, old.py (+4/-1)"),
    ("local_shell", {"command": ["bash", "-lc", "echo hi"], "env": {}}, "[local_shell] echo hi"),
    ("exec_command", '{"cmd": "cat big.txt", "workdir": "/home/dev"}', "[exec_command] cat big.txt"),
    ("shell_command", {"command": "rg quiet"}, "[shell_command] rg quiet"),
    ("apply_patch", PATCH, "[apply_patch] src/app.py, docs/a.md, old.py (+4/-1)"),
    ("apply_patch", {"input": PATCH}, "[apply_patch] src/app.py, docs/a.md, old.py (+4/-1)"),
    ("apply_patch", {"path": "a.py, b.py"}, "[apply_patch] a.py, b.py"),
    (
        "exec",
        "const r = await tools.exec_command({cmd: 'ls'});\ntext(r)",
        "[exec] const r = await tools.exec_command({cmd: 'ls'}); …(+1 lines)",
    ),
    ("write_stdin", {"session_id": 43, "chars": "y\n"}, "[write_stdin] y"),
    ("update_plan", {"plan": [{"step": "Read", "status": "done"}, {"step": "Write"}]}, "[update_plan] 2 items: Read"),
    ("spawn_agent", {"message": "check the docs"}, "[spawn_agent] check the docs"),
    ("web_search", {"query": "argparse rename"}, "[web_search] argparse rename"),
    ("view_image", {"path": "shot.png"}, "[view_image] shot.png"),
]
OPENCODE = [
    ("bash", {"command": "pytest -x", "description": "Run tests"}, "[bash] pytest -x"),
    ("read", {"filePath": "/a.py"}, "[read] /a.py"),
    ("edit", {"filePath": "/a.py", "oldString": "a", "newString": "b\nc"}, "[edit] /a.py (+2/-1)"),
    ("write", {"filePath": "/a.py", "content": "a\nb"}, "[write] /a.py (+2/-0)"),
    ("patch", {"patchText": DIFF}, "[patch] src/app.py (+1/-2)"),
    ("task", {"description": "count", "prompt": "count usages", "subagent_type": "general"}, "[task] count"),
    ("todowrite", {"todos": [{"content": "a"}]}, "[todowrite] 1 items: a"),
    ("webfetch", {"url": "https://orchid.dev", "format": "text"}, "[webfetch] https://orchid.dev"),
    ("bash", '{"command": "half', '[bash] {"command": "half'),
    ("bash", {}, "[bash]"),
]
PI = [
    ("bash", {"command": "npm run check", "timeout": 60}, "[bash] npm run check"),
    ("read", {"path": "docs/theme.md", "offset": 1}, "[read] docs/theme.md"),
    ("edit", {"path": "a.ts", "oldText": "a\nb", "newText": "a\nc\nd"}, "[edit] a.ts (+2/-1)"),
    ("edit", {"path": "a.py", "edits": [{"oldText": "run()", "newText": "await run()"}]}, "[edit] a.py (+1/-1)"),
    ("write", {"path": "a.ts", "content": "/**\n * A\n */\n"}, "[write] a.ts (+3/-0)"),
    ("task", {"context": "c", "tasks": [{"task": "count callers", "name": "Helper"}]}, "[task] count callers"),
    (
        "codemode",
        {"code": "const r = await tools.bash({command: 'ls'})"},
        "[codemode] const r = await tools.bash({command: 'ls'})",
    ),
    ("ls", {"path": "."}, "[ls] ."),
]
ANTIGRAVITY = [
    ("run_command", {"CommandLine": "pytest", "Cwd": "/abs", "SafeToAutoRun": True}, "[run_command] pytest"),
    ("run_command", {"CommandLine": '"pytest -q"', "Cwd": '"/abs"'}, "[run_command] pytest -q"),
    ("view_file", {"AbsolutePath": "/abs/a.py", "StartLine": 1}, "[view_file] /abs/a.py"),
    (
        "replace_file_content",
        {"TargetFile": "/abs/a.py", "TargetContent": "a", "ReplacementContent": "b\nc", "Instruction": "Change it"},
        "[replace_file_content] /abs/a.py (+2/-1)",
    ),
    (
        "multi_replace_file_content",
        {"TargetFile": "/abs/a.py", "ReplacementChunks": [{"TargetContent": "a", "ReplacementContent": ""}]},
        "[multi_replace_file_content] /abs/a.py (+0/-1)",
    ),
    (
        "write_to_file",
        {"TargetFile": "/abs/n.md", "CodeContent": "- a\n- b", "Overwrite": True},
        "[write_to_file] /abs/n.md (+2/-0)",
    ),
    ("grep_search", {"SearchPath": "/abs", "Query": "ttl", "MatchPerLine": True}, "[grep_search] ttl in /abs"),
    ("GREP_SEARCH", {"Query": "ttl"}, "[GREP_SEARCH] ttl"),
    ("list_dir", {"DirectoryPath": '"/tmp/repo"', "toolSummary": '"Listing"'}, "[list_dir] /tmp/repo"),
    ("search_web", {"query": "sqlite"}, "[search_web] sqlite"),
    ("read_url_content", {"Url": "https://orchid.dev"}, "[read_url_content] https://orchid.dev"),
    ("INVOKE_SUBAGENT", {"Prompt": "look at\nthe logs"}, "[INVOKE_SUBAGENT] look at the logs"),
]


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [*CLAUDE, *CODEX, *OPENCODE, *PI, *ANTIGRAVITY],
    ids=lambda value: value[:60] if isinstance(value, str) and value.startswith("[") else "",
)
def test_shows_the_target_of_a_call(name: str, args: Mapping[str, Any] | str, expected: str) -> None:
    assert line(name, args) == expected


@pytest.mark.parametrize(
    ("outcome", "code", "expected"),
    [
        (Outcome.OK, 0, "[Bash] make (exit 0)"),
        (Outcome.OK, None, "[Bash] make"),
        (Outcome.UNKNOWN, None, "[Bash] make"),
        (Outcome.UNKNOWN, 0, "[Bash] make (exit 0)"),
        (Outcome.FAILED, 2, "[Bash] make (exit 2)"),
        (Outcome.FAILED, None, "[Bash] make (failed)"),
        (Outcome.FAILED, 0, "[Bash] make (failed)"),
        (Outcome.REJECTED, None, "[Bash] make (rejected)"),
        (Outcome.INTERRUPTED, None, "[Bash] make (interrupted)"),
        (Outcome.INTERRUPTED, 130, "[Bash] make (exit 130)"),
    ],
)
def test_says_how_it_ended_only_as_the_log_does(outcome: Outcome, code: int | None, expected: str) -> None:
    assert line("Bash", {"command": "make"}, ToolResult("1", outcome, "", code)) == expected


def test_says_nothing_of_a_call_without_a_result() -> None:
    assert line("Bash", {"command": "make"}) == "[Bash] make"


def test_cuts_long_targets_and_says_so() -> None:
    assert line("Bash", {"command": "x" * 300}) == f"[Bash] {'x' * 199}…"
    assert line("Bash", {"command": "x" * 200}) == f"[Bash] {'x' * 200}"
    assert line("Read", {"file_path": "y" * 300}) == f"[Read] {'y' * 119}…"
    assert line("Task", {"prompt": "z " * 300}) == f"[Task] {('z ' * 300)[:199]}…"


def test_keeps_the_name_of_a_tool_short_and_printable() -> None:
    assert line("a\nb\x1b[0m\u202e" + "c" * 200, {}) == "[a b [0m " + "c" * 72 + "]"
    assert line("", {}) == "[tool]"


def test_an_unknown_tool_shows_its_first_text() -> None:
    assert line("frobnicate", {"count": 3, "deep": {"what": "the lock"}, "why": "x"}) == "[frobnicate] the lock"
    assert line("frobnicate", {"count": 3}) == "[frobnicate] 3"
    assert line("frobnicate", "plain words\nmore") == "[frobnicate] plain words"


@pytest.mark.parametrize(
    ("name", "category"),
    [
        ("unreadable", Category.OTHER),
        ("breadcrumbs", Category.OTHER),
        ("preview_build", Category.OTHER),
        ("credit", Category.OTHER),
        ("thread_count", Category.OTHER),
        ("mcp__fs__read_text_file", Category.READ),
        ("mcp__fs__edit_file", Category.EDIT),
        ("listOpenIssues", Category.READ),
        ("functions.exec_command", Category.SHELL),
        ("container.exec", Category.SHELL),
        ("HTTPFetchURL", Category.WEB),
    ],
)
def test_tells_the_category_by_whole_words(name: str, category: Category) -> None:
    assert category_of(name) is category
