"""Writes the reference pages from the running product, so that they cannot drift from it.

``docs/generate.py`` writes; ``docs/generate.py --check`` says what differs and exits 1. The layer table of AGENTS.md stands
between two marks and is written too.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import difflib
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, TypeAdapter

from agent_raw_rag.adapters.wiring import Wiring
from agent_raw_rag.connect.hook import LIMIT_VARIABLE
from agent_raw_rag.server.whole_objects import WholeObjects

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"
COMMANDS = {
    "raw-rag": "agent_raw_rag.cli.app",
    "raw-rag-ingest": "agent_raw_rag.cli.ingest",
    "agent-raw-rag-mcp": "agent_raw_rag.server.stdio",
}
TABLES = {
    "meta": "Facts about the store as a whole.",
    "sources": "One log file or one foreign database each, with what it looked like when it was read last.",
    "cursors": "Where reading a source goes on; for a foreign database one row a session.",
    "sessions": "One conversation of one agent each.",
    "turns": "One contribution of one speaker each: the text that is kept. Triggers refuse to change or to delete what was said.",
    "chunks": "Windows of 256 tokens over a session's turns: what is ranked.",
    "dropped_chunks": "Chunks that were cut anew, for the lexical index to follow.",
    "vectors": "One vector for each text in each vector space.",
    "vector_spaces": "What made each vector space; `meta.active_space` names the one that is searched.",
    "quarantine": "Stretches of sources that are no records, with the reason.",
    "captured": "What is known of a turn that came through a door of the memory, and not from a log.",
    "notes": "Statements that are kept on purpose: facts, decisions, preferences, tasks, lessons, rules.",
    "note_changes": "Which note changed, in order, for what is derived from notes to follow.",
    "candidates": "Statements that were proposed as notes, with the words they rest on.",
    "unswept": "Turns that settled behind the sweep's cursor (`meta.swept`) and are still to be swept.",
    "journal": "Every write, decision, denial and act of administration, each chained to the one before.",
    "spaces": "The spaces that tokens open, in the store of the home folder only.",
    "tokens": "The tokens of the HTTP door, in the store of the home folder only. Their secrets are not kept.",
}

NOTES = {
    "sources.shape": "`lines`, `document` or `database`",
    "sources.device": "with `inode`, `size`, `mtime_ns`: as the file looked when it was read last",
    "sources.tally": "what was passed over: `kind|version|name` → count",
    "sources.error": "why it could not be read last time",
    "sources.gone": "1: the file no longer exists",
    "sources.preference": "of sources that hold the same turn, the one that sorts first is the better copy",
    "cursors.part": "the session, in a foreign database",
    "cursors.stamp": "fingerprint of what was read",
    "vector_spaces.kind": "of encoder, as `encoder.name` in the configuration",
    "vector_spaces.options": "what that encoder is made with, as JSON; never a key",
    "cursors.position": "first byte of the oldest open turn",
    "cursors.done": "up to where each session's parts behind `position` are settled",
    "cursors.state": "the adapter's state at `position`",
    "cursors.tally": "counts before `position`",
    "sessions.native": "the agent's own id",
    "sessions.parent": "native id of the session it belongs to or was forked from",
    "sessions.parent_kind": "`subagent`, `fork` or `continued`",
    "sessions.project": "root of the (main) repository, else `cwd`",
    "sessions.turns": "rows of any status",
    "sessions.exchange": "number of the last exchange",
    "sessions.branched": "1: some turns are abandoned",
    "sessions.forgotten": "1: what its log adds is forgotten on arrival",
    "sessions.kept": "1: no forgetting by filters takes it",
    "sessions.passing": "1: there for its own history only; no chunk, no search",
    "sessions.heard": "of a passing one: when the store was told of it last",
    "sessions.endings": "of a passing one: how often it has ended; later turns' keys hold it",
    "turns.ordinal": "the turn's number in its session, from 1",
    "turns.exchange": "number of the user turn it belongs to",
    "turns.role": "`user`, `assistant`, `task` or `summary`; from a memory door also `event` or `tool`",
    "turns.key": "hash of agent and native key: equal for every copy",
    "turns.status": "0 live, 1 copy, 2 forgotten",
    "turns.open": "1: it may still change",
    "turns.abandoned": "0 on the live path, 1 on a left branch, else the place of the rollback",
    "turns.branch_from": "number of the turn it answers, where that is not the one before",
    "turns.start_token": "place in the session's token stream",
    "turns.start": "with `end`: byte range in the source",
    "turns.record_ids": "native ids, as JSON",
    "turns.trail": "hashes of all record ids in its stretch of a tree log",
    "turns.redactions": "kinds of what was masked",
    "chunks.place": "the window's number in its session",
    "chunks.hash": "of the text: the key to its vectors",
    "chunks.stable": "1: its text can no longer change",
    "chunks.roles": "bits: 1 user, 2 assistant, 4 task, 8 summary, 16 event, 32 tool",
    "vectors.space": "model, revision and dimension",
    "vectors.vector": "half-precision floats",
    "captured.source": "who sent it, as the sender named itself",
    "captured.author": "who said it, as the sender told",
    "captured.partial": "1: the sender was cut off",
    "notes.kind": "`fact`, `decision`, `preference`, `task`, `lesson` or `rule`",
    "notes.statement_hash": "of the statement's normal form; no two active notes share it",
    "notes.author": "who wrote it down: a token's label, `owner`, `sweep`",
    "notes.reason": "why it no longer holds",
    "notes.metadata": "what else its writer said of it, as JSON",
    "notes.evidence": "ids of the turns it rests on, as JSON",
    "notes.candidate": "the candidate it was promoted from",
    "notes.status": "`active`, `superseded` or `deprecated`",
    "candidates.quote": "words of an evidence turn",
    "candidates.rule": "the trigger rule that found it",
    "candidates.status": "`pending`, `promoted`, `rejected` or `conflict`",
    "candidates.note": "the note it became or was merged into, or the one it contradicts",
    "journal.token": "the token's prefix",
    "journal.before": "with `after`: hashes of what was changed",
    "journal.chain": "hash of this row and of the chain before it",
    "tokens.hash": "of the secret",
    "tokens.prefix": "of the secret: what it is shown by",
}


def main() -> int:
    """Write, or with ``--check`` compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if anything differs")
    check = parser.parse_args().check
    stale = [path for path, text in pages().items() if _differs(path, text, write=not check)]
    if check and stale:
        print("Generated pages differ from the product. Run `make docs`.", file=sys.stderr)
    return 1 if check and stale else 0


def pages() -> dict[Path, str]:
    """Every generated file with the text it must have."""
    written = {REFERENCE / f"{name}.md": _page(make()) for name, make in PAGES.items()}
    return written | {ROOT / "AGENTS.md": _between_marks(ROOT / "AGENTS.md", "layers", layer_table())}


def _differs(path: Path, text: str, *, write: bool) -> bool:
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    if old == text:
        return False
    name = path.relative_to(ROOT).as_posix()
    if write:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"wrote {name}")
    else:
        difference = difflib.unified_diff(
            old.splitlines(), text.splitlines(), name, f"{name} (product)", lineterm="", n=1
        )
        print("\n".join(list(difference)[:60]))
    return True


# ---------------------------------------------------------------- pages


def cli() -> Iterable[str]:
    """Every command's own help."""
    yield "# Commands"
    yield "Each command's own `--help`. Exit codes: 0 done, 1 something failed, 2 wrong use."
    for program, module in COMMANDS.items():
        yield f"## {program}"
        yield _fenced("text", _help(program, module))
        for command in _subcommands(module):
            yield f"### {program} {command}"
            yield _fenced("text", _help(program, module, *command.split()))


def mcp_tools() -> Iterable[str]:
    """The tools as a client sees them."""
    from agent_raw_rag.runtime import Runtime
    from agent_raw_rag.server.app import build

    server, curating, chatting = (
        build(lambda: Runtime.load(environment={"RAW_RAG_HOME": os.devnull}), folder="/", curation=curation, chat=chat)
        for curation, chat in ((False, False), (True, False), (False, True))
    )
    tools = _listed(server)
    told = [{key: value for key, value in tool.items() if key != "wholeOutput"} for tool in tools]
    size = sum(len(json.dumps(tool, ensure_ascii=False, separators=(",", ":"))) for tool in told)
    yield "# MCP tools"
    yield f"What `agent-raw-rag-mcp` offers over stdio: {len(tools)} tools, {size:,} characters of definitions in all."
    yield "## Server instructions"
    yield _fenced("text", server.instructions or "")
    yield from _tools(tools)
    yield "## With `--curation`"
    yield "These are offered besides, where the server was started so, or with `curation = true` in the section `[mcp]`."
    yield from _tools(_listed(curating)[len(tools) :])
    yield "## With a model"
    yield "Offered besides, where the section `[llm]` names one; over HTTP to tokens with the scope `chat`."
    yield from _tools(_listed(chatting)[len(tools) :])
    yield from _prompts_and_resources(server)


def _prompts_and_resources(server: Any) -> Iterable[str]:
    prompts, templates = asyncio.run(server.list_prompts()), asyncio.run(server.list_resource_templates())
    yield "## Prompts"
    yield _rows(
        ("prompt", "arguments", "gives"),
        (
            (
                f"`{one.name}`",
                ", ".join(f"`{each.name}`{'' if each.required else ' (optional)'}" for each in one.arguments or ()),
                one.description or "",
            )
            for one in prompts
        ),
    )
    yield "## Resources"
    yield _rows(
        ("address", "type", "holds"),
        ((f"`{one.uri_template}`", one.mime_type or "", one.description or "") for one in templates),
    )
    yield "Project, agent and session arguments are completed."


def _listed(server: Any) -> list[dict[str, Any]]:
    """The tools as they are listed, with the whole output schemas: clients are not told which keys are always there."""
    from agent_raw_rag.server.schemas import slim

    models = {tool.name: tool.fn_metadata.output_model for tool in server._tool_manager.list_tools()}
    listed = [
        tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in asyncio.run(server.list_tools())
    ]
    for tool in listed:
        tool["wholeOutput"] = slim(
            TypeAdapter(models[tool["name"]]).json_schema(schema_generator=WholeObjects, mode="serialization")
        )
    return listed


def _tools(tools: list[dict[str, Any]]) -> Iterable[str]:
    for tool in tools:
        yield f"## {tool['name']}"
        yield tool.get("description", "")
        yield _rows(("argument", "type", "default", "meaning"), _arguments(tool["inputSchema"]))
        hints = tool.get("annotations", {})
        yield "Annotations: " + ", ".join(f"`{name}: {json.dumps(value)}`" for name, value in hints.items()) + "."
        yield "Structured output:"
        yield _rows(("key", "type", "given"), _outputs(tool["wholeOutput"]))
        for name, part in tool["wholeOutput"].get("$defs", {}).items():
            yield f"Each {name}: {part.get('description', '')}"
            yield _rows(("key", "type", "given"), _outputs(part))


def config() -> Iterable[str]:
    """All keys of the configuration file and all environment variables."""
    from agent_raw_rag import config as module

    yield "# Configuration"
    yield (
        "One TOML file: `--config FILE`, else the file that `RAW_RAG_CONFIG` names, else `~/.agent-raw-rag/config.toml` if it"
        " exists.\nEvery key has a default; an unknown key or a value of a wrong type is an error (exit code 2)."
    )
    for name, field in module.Settings.model_fields.items():
        if name in ("home", "file"):
            continue
        section = module.SourceSettings if name == "sources" else field.annotation
        assert isinstance(section, type)
        assert issubclass(section, BaseModel)
        yield f"## [{name}.AGENT]" if name == "sources" else f"## [{name}]"
        yield inspect.getdoc(section) or ""
        yield _rows(("key", "type", "default", "meaning"), _keys(section))
        for key, inner in _named_sections(section):
            yield f"## [{name}.{key}.NAME]"
            yield inspect.getdoc(inner) or ""
            yield _rows(("key", "type", "default", "meaning"), _keys(inner))
    yield "## Environment variables"
    yield _rows(("variable", "meaning"), ((f"`{name}`", meaning) for name, meaning in _variables()))


def schema() -> Iterable[str]:
    """Tables and columns of a store that was made just now."""
    from agent_raw_rag.store.connection import connect
    from agent_raw_rag.store.migrations import NAMES

    yield "# Store"
    yield "One SQLite file, `~/.agent-raw-rag/raw_rag.db`, in write-ahead-log mode. Instants are milliseconds since 1970, UTC."
    yield "Migrations, in order: " + ", ".join(f"`{name}`" for name in NAMES) + "."
    with tempfile.TemporaryDirectory() as folder:
        connection = connect(os.path.join(folder, "raw_rag.db"), write=True)
        names = [
            row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid")
        ]
        for table in names:
            if table.startswith(("sqlite_", "_")):
                continue
            yield f"## {table}"
            yield TABLES[table]
            yield _rows(("column", "type", "default", "note"), _columns(connection, table))
        connection.close()


def adapters() -> Iterable[str]:
    """One row an agent."""
    from agent_raw_rag.adapters.registry import adapters as rows

    yield "# Adapters"
    yield "One row an agent, as the registry holds it. Folders are looked at if they exist; nothing has to be set."
    for name, row in rows().items():
        yield f"## {row.title}"
        yield f"Agent name: `{name}`."
        yield _rows(
            ("folder", "files in it"),
            ((f"`{root.path}`", ", ".join(f"`{glob}`" for glob in root.patterns)) for root in row.roots({}, "~")),
        )
        moved = ", ".join(f"`{variable}`" for variable in row.environment)
        yield f"Moved by: {moved or 'nothing'}."
        yield "Formats:"
        yield "\n".join(f"- {form}".replace("<", "\\<") for form in row.formats)
        yield f"Resume: `{' '.join(row.resume('SESSION', None))}`." if row.resume else "Resume: no command."
        for one in row.wirings:
            yield f"`raw-rag connect {one.name}`: {_wired(one)}."


def redaction_rules() -> Iterable[str]:
    """The rule table. Examples stay templates: no secret is written out."""
    from agent_raw_rag.sanitize.rules import RULES

    yield "# Redaction rules"
    yield (
        f"{len(RULES)} rules, in order: of two that match the same place the first one names the mask, `[redacted:kind]`.\n"
        "In the examples `{a36}` stands for 36 made-up letters and digits (`a` letters and digits, `b` base64, `d` digits,"
        " `h` hex, `l` lower case,\n`u` upper case, `w` with `_` and `-`); what is masked stands between « and »."
    )
    yield _rows(
        ("kind", "keywords", "example", "stays"),
        (
            (
                f"`{rule.kind}`",
                " ".join(_code(word) for word in rule.keywords),
                _code(rule.example),
                _code(rule.counter),
            )
            for rule in RULES
        ),
    )


def errors() -> Iterable[str]:
    """The error tree."""
    from agent_raw_rag import errors as module

    classes = [kind for _, kind in inspect.getmembers(module, inspect.isclass) if issubclass(kind, module.RawRagError)]
    yield "# Errors"
    yield (
        "Every error raised on purpose, with what is wrong and a hint what to do. A command prints it on stderr and ends with the"
        " exit code;\nan MCP tool returns it as a tool error with the code."
    )
    yield _rows(
        ("error", "code", "exit code", "meaning"),
        (
            (f"`{kind.__name__}`", f"`{kind.code}`", str(kind.exit_status), (inspect.getdoc(kind) or "").split("\n")[0])
            for kind in sorted(classes, key=lambda kind: inspect.getsourcelines(kind)[1])
        ),
    )
    tree = (module.__doc__ or "").split("\n\n")[1]
    yield _fenced("text", tree)


def layers() -> Iterable[str]:
    """The import contract."""
    yield "# Layers"
    yield (
        "A package imports only from lower layers; packages of one layer do not import each other, apart from `config`"
        " and `log`.\n`make check` holds it."
    )
    yield layer_table()
    yield "## Doors"
    yield "A library behind a door is imported by these packages only."
    contracts = _contracts()
    doors = [one for one in contracts if one["type"] == "protected"]
    yield _rows(
        ("library", "packages"),
        ((_names(one["protected_modules"]), _names(one["allowed_importers"])) for one in doors),
    )
    pure = next(one for one in contracts if one["id"] == "pure")
    yield "## Pure packages"
    yield f"{_names(pure['source_modules'])} import none of {_names(pure['forbidden_modules'])}."


# ---------------------------------------------------------------- parts


def layer_table() -> str:
    """Layer, package and purpose: from the import contract and the packages' own docstrings. The top layer comes first."""
    contract = next(one for one in _contracts() if one["id"] == "layers")
    rows = []
    for number, layer in enumerate(contract["layers"]):
        for package in layer.replace("|", ":").split(":"):
            rows.append((str(len(contract["layers"]) - number), f"`{package.strip()}`", _purpose(package.strip())))
    return _rows(("layer", "package", "what it is"), rows)


def _purpose(package: str) -> str:
    """First sentence of a package's docstring, read without importing it."""
    folder = ROOT / "src" / "agent_raw_rag"
    file = folder / package / "__init__.py" if (folder / package).is_dir() else folder / f"{package}.py"
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    first = " ".join(text.split("\n\n")[0].split())
    return re.split(r"(?<=[a-z0-9)])[.;] ", first)[0].rstrip(".").replace("``", "`")


def _contracts() -> list[dict[str, Any]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = project["tool"]["importlinter"]["contracts"]
    return found


def _names(modules: list[str]) -> str:
    return ", ".join(f"`{name.removeprefix('agent_raw_rag.')}`" for name in modules)


def _subcommands(module: str) -> list[str]:
    """Names of a program's commands, or of those below one of them, as its help lists them."""
    app = getattr(importlib.import_module(module), "app", None)
    if app is None:
        return []
    from typer.main import get_command

    found = []
    for name, command in getattr(get_command(app), "commands", {}).items():
        inner = getattr(command, "commands", {})
        found += [f"{name} {one}" for one in inner] if inner else [] if command.hidden else [name]
    return found


def _help(program: str, module: str, *arguments: str) -> str:
    """What ``--help`` prints, without colours and boxes, 100 columns wide."""
    code = f"import sys; sys.argv[0] = {program!r}; from {module} import main; sys.exit(main())"
    environment = {
        **os.environ,
        "TYPER_USE_RICH": "0",
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "HOME": "/nowhere",
    }
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments, "--help"], capture_output=True, text=True, env=environment, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"{program} {' '.join(arguments)} --help failed:\n{done.stderr}")
    return "\n".join(line.rstrip() for line in done.stdout.strip("\n").splitlines())


def _arguments(schema: dict[str, Any]) -> Iterable[tuple[str, ...]]:
    required = schema.get("required", [])
    for name, one in schema.get("properties", {}).items():
        kind = one.get("type") or "/".join(choice.get("type", "?") for choice in one.get("anyOf", []))
        kind = " or ".join(kind) if isinstance(kind, list) else kind
        default = "required" if name in required else _code(json.dumps(one["default"])) if "default" in one else "none"
        meaning = one.get("description", "")
        if "enum" in one:
            meaning = f"{meaning} One of: {', '.join(_code(str(value)) for value in one['enum'])}."
        yield f"`{name}`", kind, default, meaning.strip()


def _outputs(schema: dict[str, Any]) -> Iterable[tuple[str, ...]]:
    """Key, type, and whether it is always there."""
    always = schema.get("required", [])
    for name, one in schema.get("properties", {}).items():
        yield f"`{name}`", _json_type(one), "always" if name in always else "optional"


def _json_type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    kind = schema.get("type", "any")
    if kind == "array" or (isinstance(kind, list) and "array" in kind):
        name = f"list of {_json_type(schema.get('items', {}))}"
    elif isinstance(schema.get("additionalProperties"), dict):
        name = f"object of {_json_type(schema['additionalProperties'])}"
    else:
        name = " or ".join(kind) if isinstance(kind, list) else kind
    return f"{name} or null" if isinstance(kind, list) and "null" not in name else name


def _named_sections(section: type[BaseModel]) -> Iterable[tuple[str, type[BaseModel]]]:
    """Keys that hold sections under names of one's own, and what these are."""
    for name, field in section.model_fields.items():
        kinds = get_args(field.annotation)
        if get_origin(field.annotation) is dict and issubclass(kinds[1], BaseModel):
            yield name, kinds[1]


def _keys(section: type[BaseModel]) -> Iterable[tuple[str, ...]]:
    for name, field in section.model_fields.items():
        if field.is_required():
            yield f"`{name}`", _type(field.annotation, field.metadata), "needed", field.description or ""
            continue
        default = field.get_default(call_default_factory=True)
        yield f"`{name}`", _type(field.annotation, field.metadata), _code(_toml(default)), field.description or ""


def _type(annotation: Any, metadata: list[Any]) -> str:
    if get_origin(annotation) is Literal:
        return " or ".join(_code(_toml(value)) for value in get_args(annotation))
    if get_origin(annotation) is dict:
        return "sections"
    parts = [part for part in get_args(annotation) if part is not NoneType]
    inner = parts[0] if len(parts) < len(get_args(annotation)) else annotation  # of ``X | None``
    name = {str: "text", int: "whole number", float: "number", bool: "true or false"}.get(inner, "list of texts")
    least = next((str(one.ge) for one in metadata if getattr(one, "ge", None) is not None), "")
    most = next((str(one.le) for one in metadata if getattr(one, "le", None) is not None), "")
    return f"{name}, {least} to {most}" if least and most else f"{name}, {least} or more" if least else name


def _toml(value: object) -> str:
    return json.dumps(value)


def _wired(one: Wiring) -> str:
    """Where a program's files stand, and which of our parts it takes."""
    paths = [*one.files.user({}, "~"), *one.files.project]
    more = [name for name, part in (("hooks", one.hooks or one.extension), ("instructions", one.instructions)) if part]
    return f"{one.title}, {', '.join(f'`{path}`' for path in paths)} ({one.syntax}); {', '.join(['server', *more])}"


def _variables() -> Iterable[tuple[str, str]]:
    from agent_raw_rag import config as module
    from agent_raw_rag.adapters.registry import adapters as rows
    from agent_raw_rag.memory import legacy

    yield module.HOME_VARIABLE, "The home folder: store, indexes and configuration. Default `~/.agent-raw-rag`."
    yield module.CONFIG_VARIABLE, "The configuration file. A missing one is an error."
    yield module.STORE_VARIABLE, "The store's SQLite file; wins over `store.path`."
    yield module.SPACE_VARIABLE, "The memory space that commands and the server on stdio work in. Default `default`."
    yield module.RULES_VARIABLES[0], "`0` or `1`; wins over `memory.rules_enabled`."
    yield module.RULES_VARIABLES[1], f"The same, where `{module.RULES_VARIABLES[0]}` is not set."
    yield legacy.VARIABLES[0], "A token of `raw-rag serve` that opens every space to read and write. Blank: none."
    yield legacy.VARIABLES[1], "The same; both may be set."
    yield (
        "RAW_RAG_LOG",
        "How much is logged: `DEBUG`, `INFO` (default of the daemon), `WARNING` (default of all else) or `ERROR`.",
    )
    yield LIMIT_VARIABLE, "Milliseconds that `raw-rag hook` may take in all; then it says nothing. Default 300."
    moving: dict[str, list[str]] = {}
    for row in rows().values():
        for variable in row.environment:
            moving.setdefault(variable, []).append(row.title)
    for variable, titles in moving.items():
        yield variable, f"Moves the logs of {' and of '.join(titles)}, as it does for the agent itself."


def _columns(connection: Any, table: str) -> Iterable[tuple[str, ...]]:
    foreign = {row["from"]: f"→ `{row['table']}`" for row in connection.execute(f"PRAGMA foreign_key_list({table})")}
    unique = {row["name"] for row in connection.execute(f"PRAGMA index_list({table})") if row["unique"]}
    alone = [[one["name"] for one in connection.execute(f"PRAGMA index_info('{index}')")] for index in sorted(unique)]
    for row in connection.execute(f"PRAGMA table_info({table})"):
        notes = ["primary key"] if row["pk"] else []
        notes += ["not null"] if row["notnull"] and not row["pk"] else []
        notes += ["unique"] if [row["name"]] in alone and not row["pk"] else []
        notes += [foreign[row["name"]]] if row["name"] in foreign else []
        notes += [NOTES[name]] if (name := f"{table}.{row['name']}") in NOTES else []
        yield f"`{row['name']}`", row["type"], _code(row["dflt_value"]) if row["dflt_value"] else "", ", ".join(notes)


def _page(parts: Iterable[str]) -> str:
    title, *rest = parts
    note = "<!-- Generated by docs/generate.py; do not edit. -->"
    return "\n\n".join([title, note, *(part.strip("\n") for part in rest if part)]) + "\n"


def _rows(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |" for line in lines
    )


def _code(text: str) -> str:
    """A code span, whatever backticks the text holds."""
    text = text.replace("\n", "⏎")
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```"


def _between_marks(path: Path, mark: str, text: str) -> str:
    page = path.read_text(encoding="utf-8")
    begin, end = f"<!-- {mark}: generated -->", f"<!-- /{mark} -->"
    head, rest = page.split(begin)
    return f"{head}{begin}\n{text}\n{end}{rest.split(end)[1]}"


EXPORT_RECORDS = {
    "source": "A log file, foreign database or service that turns came from.",
    "session": "A conversation. Its turns follow it, in their order; their numbers are not told, since the order gives them.",
    "turn": "One contribution of one speaker.",
    "note": "A statement that is kept on purpose, of any status.",
    "candidate": "A statement that was proposed as a note, of any status.",
    "journal": "An act. Only where nothing is left out, and up to the last one that is no export, import, backup or restore.",
}
EXPORT_NOTES = {
    "source.number": "what sessions and turns of this file name it by",
    "source.order": "of sources that hold the same turn, the one that sorts first is the better copy",
    "session.session": "`agent:native id`",
    "session.forgotten": "what its log adds is forgotten on arrival",
    "session.kept": "no forgetting by filters takes it",
    "session.endings": "how often it was there for its own history only, and ended; its turns' keys hold it",
    "session.last": "time of its last turn",
    "turn.id": "event id: `e` and the first 20 digits of the key",
    "turn.key": "what makes it this turn wherever it is met; 32 hexadecimal digits",
    "turn.status": "`live`; `copy`: another session has the words; `forgotten`: a tombstone",
    "turn.text_hash": "of a copy: of its words",
    "turn.open": "it may still change",
    "turn.abandoned": "above 0: on a left branch, or taken back",
    "turn.answers": "id of the turn it answers, where that is not the one before it",
    "turn.start": "with `end`: byte range in the source",
    "turn.record_ids": "native ids",
    "turn.trail": "hashes of all record ids in its stretch of a tree log, hexadecimal",
    "turn.redactions": "kinds of what was masked",
    "turn.captured": "of a turn that came through a memory door: `source`, `author`, `partial`",
    "note.evidence": "ids of the turns it rests on",
    "candidate.quote": "words of an evidence turn",
    "journal.before": "with `after`: hashes of what was changed",
    "journal.chain": "hash of this row and of the chain before it",
}


def http_api() -> Iterable[str]:
    """The operations of the REST API, from the document that the server gives out."""
    from agent_raw_rag.server.http.rest import OPERATIONS
    from agent_raw_rag.server.http.rest.openapi import document

    told = document(OPERATIONS)
    yield "# HTTP API"
    yield told["info"]["description"]
    yield "`GET /openapi.json` is the same as an OpenAPI 3.1 document, with every schema in full."
    places = [(method.upper(), path, one) for path, ways in told["paths"].items() for method, one in ways.items()]
    yield _rows(
        ("operation", "scope", "what it does"),
        ((f"`{method} {path}`", one.get("x-scope") or "", one["summary"]) for method, path, one in places),
    )
    for method, path, one in places:
        yield f"## {method} {path}"
        yield from _http_operation(one)


def _http_operation(one: dict[str, Any]) -> Iterable[str]:
    yield one.get("description", one["summary"])
    parameters = [row for row in one.get("parameters", ()) if row["in"] != "header"]
    asked = {"required": [row["name"] for row in parameters if row["required"]],
             "properties": {row["name"]: row["schema"] for row in parameters}}  # fmt: skip
    body = one.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    for title, schema in (("In the path and the query:", asked), ("In the body:", body)):
        if schema.get("properties"):
            yield title
            yield _rows(("name", "type", "default", "meaning"), _arguments(schema))
    for media, content in one["responses"]["200"]["content"].items():
        if content.get("schema", {}).get("properties"):
            yield "Gives:"
            yield _rows(("key", "type", ""), _outputs(content["schema"]))
        elif media != "application/json":
            yield f"Gives `{media}`."
    yield f"Refusals: {', '.join(status for status in one['responses'] if status != '200')}."


def export_format() -> Iterable[str]:
    """The form of an export."""
    from agent_raw_rag.memory.portable.form import FIELDS, NEEDED, TYPES, VERSION
    from agent_raw_rag.sources.kinds import FORMAT

    yield "# Export format"
    yield (
        f"What `raw-rag export` writes and `raw-rag import` reads: `{FORMAT}`, version {VERSION}. JSON lines in UTF-8, one"
        " record a line."
    )
    yield (
        "Equal stores give equal bytes. Imported into an empty store, an export gives itself again. Instants are milliseconds"
        " since 1970 UTC.\nA field that is null, false or empty is left out; the ones in **bold** are always there. What is"
        " derived (chunks, vectors, indexes) is not in it, nor are tokens."
    )
    yield "## First line"
    yield (f'`{{"format": "{FORMAT}", "version": {VERSION}, "generation": …, "filter": {{…}}, "counts": {{…}}}}`')
    yield (
        "The store's own name, which an empty store takes over, so that captures and candidates are known again; what was asked"
        " for, if not all;\nand how many records of each type follow."
    )
    order = ", ".join(f"`{one}`" for one in TYPES if one != "turn")
    yield f"Then the records, by type in this order: {order}; a session's `turn`s follow it."
    for kind in TYPES:
        yield f"## {kind}"
        yield EXPORT_RECORDS[kind]
        yield _rows(("field", "JSON", ""), (_field(kind, name, types, NEEDED) for name, types in FIELDS[kind].items()))
    yield "## Last line"
    yield '`{"type": "end", "records": …, "sha256": …}`'
    yield (
        "How many records there were, and the checksum of all lines before this one, line breaks included. An import reads the"
        " whole file before it\nwrites anything, and refuses one that was cut or changed."
    )
    yield "## Versions"
    yield (
        "A program refuses a version that it does not know. A field never gets another meaning: a new one makes a new version."
    )


def _field(
    kind: str, name: str, types: tuple[type, ...], needed: Mapping[str, tuple[str, ...]]
) -> tuple[str, str, str]:
    shown = {str: "string", int: "integer", float: "number", bool: "true", list: "array of strings", dict: "object"}
    return f"**{name}**" if name in needed[kind] else name, shown[types[0]], EXPORT_NOTES.get(f"{kind}.{name}", "")


PAGES: dict[str, Callable[[], Iterable[str]]] = {
    "cli": cli,
    "mcp-tools": mcp_tools,
    "http-api": http_api,
    "config": config,
    "schema": schema,
    "adapters": adapters,
    "redaction-rules": redaction_rules,
    "errors": errors,
    "layers": layers,
    "export-format": export_format,
}

if __name__ == "__main__":
    sys.exit(main())
