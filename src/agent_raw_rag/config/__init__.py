"""Settings: read once, from one TOML file and a few environment variables; frozen afterwards.

Where the file is: ``--config``, else ``$RAW_RAG_CONFIG``, else ``config.toml`` in the home folder if it exists. A file
that was asked for and is missing, and any key or value that is not known, is an error: nothing is ignored.
"""

from __future__ import annotations

import difflib
import os
import sys
import tomllib
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import BaseModel, Field, ValidationError, model_validator

from agent_raw_rag.config.gateway import CaptureSettings, ChatSettings, LlmSettings, ProxySettings
from agent_raw_rag.config.memory import HttpSettings, McpSettings, MemorySettings, PromotionSettings
from agent_raw_rag.config.section import Section as _Section
from agent_raw_rag.config.section import Share
from agent_raw_rag.errors import ConfigError

HOME_VARIABLE = "RAW_RAG_HOME"
CONFIG_VARIABLE = "RAW_RAG_CONFIG"
STORE_VARIABLE = "RAW_RAG_DB_PATH"
SPACE_VARIABLE = "RAW_RAG_SPACE"
RULES_VARIABLES = ("RAW_RAG_RULES_ENABLED", "OCTOP_MEMORY_MCP_RULES_ENABLED")
"""The first that is set says whether agents may save rules, whatever the file says."""

_SWITCH = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
Seconds = Annotated[float, Field(gt=0, le=3600)]


class StoreSettings(_Section):
    """Where the store is."""

    path: str = Field("", description="The SQLite file. Default: `raw_rag.db` in the home folder.")


class ChunkSettings(_Section):
    """How sessions are cut into windows. A change takes effect with `raw-rag-ingest --rebuild`."""

    size: Annotated[int, Field(ge=16, le=2048)] = Field(256, description="Tokens (cl100k_base) of a window.")
    overlap: Annotated[int, Field(ge=0)] = Field(32, description="Tokens that a window shares with the one before.")

    @model_validator(mode="after")
    def _fits(self) -> ChunkSettings:
        if self.overlap >= self.size:
            raise ValueError(f"overlap ({self.overlap}) must be less than size ({self.size})")
        return self


class SanitizeSettings(_Section):
    """What is kept of a log."""

    redact: bool = Field(True, description="Mask secrets before anything is stored.")
    error_tail_lines: Annotated[int, Field(ge=0, le=200)] = Field(
        15, description="Output lines kept of a failed command."
    )


class SearchSettings(_Section):
    """How a question is answered."""

    candidates: Annotated[int, Field(ge=1, le=4096)] = Field(128, description="Chunks that the coarse ranking keeps.")
    top_k: Annotated[int, Field(ge=1, le=100)] = Field(15, description="Hits of an answer, at most.")
    max_tokens: Annotated[int, Field(ge=200, le=100_000)] = Field(6000, description="Token budget of an answer.")
    dense_weight: Share = Field(0.55, description="Share of the dense score in the fusion; the rest is lexical.")
    lexical: bool = Field(True, description="Rank by words.")
    dense: bool = Field(True, description="Rank by vectors, where there is an encoder.")
    exact: bool = Field(
        True, description="Identifiers, paths, error texts and quoted phrases of a query weigh more than its words."
    )
    learned: bool = Field(
        True, description="Rank by a learned score over what words, vectors and turns say (with the embedded model)."
    )
    neighbours: bool = Field(
        False,
        description="The windows before and after a window speak for it, a little. Off: it did not help (LoCoMo).",
    )
    time_words: bool = Field(
        True, description='Times that a query names ("last week", "in March", 昨天) are preferred; nothing is left out.'
    )
    recency: bool = Field(True, description="Of hits that rank alike the newer one comes first.")
    near_duplicates: bool = Field(
        True, description="Fold windows whose text is all but the same into the best of them."
    )
    rerank_budget_ms: Annotated[int, Field(ge=0, le=600_000)] = Field(
        4000,
        description="Milliseconds from the question on that reranking may use: as many candidates as fit. 0: none.",
    )
    rerank_threshold: Share = Field(
        0.5, description="Hits that a reranker finds less likely are left out, where its score is a probability."
    )
    rerank_fallback: Annotated[int, Field(ge=0, le=100)] = Field(
        3, description="So many hits stay when all of them are below the threshold."
    )
    time_order: bool = Field(True, description="Show passages oldest first; false: best first.")
    whole_turns: bool = Field(True, description="Show the whole turns that a hit touches; false: the window's text.")
    once: bool = Field(True, description="Show a turn once, however many hits touch it.")

    @model_validator(mode="after")
    def _ranks(self) -> Self:
        if not self.lexical and not self.dense:
            raise ValueError("lexical and dense are both off, so that nothing would ever be found")
        return self


class _ModelSettings(_Section):
    """What names a model, whichever kind it is of."""

    model: str = Field(
        "",
        description="`mlx`: a Hugging Face id (`raw-rag models list`) or a folder. `http`: the server's name for it.",
    )
    url: str = Field("", description="`http`: where the server is, such as `http://127.0.0.1:8080/v1`.")
    instruction: str | None = Field(
        None, description="What the model is told a query is for. Default: the model's own."
    )
    key_variable: str = Field("", description="`http`: the environment variable that holds the key.")
    batch_texts: Annotated[int, Field(ge=1, le=4096)] = Field(32, description="`http`: texts in one request.")
    idle_seconds: Annotated[float, Field(ge=0)] = Field(
        300.0, description="`mlx`: unused for so long, the model leaves memory; 0: never."
    )

    _takes: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Kind -> the keys that it obeys."""

    @model_validator(mode="after")
    def _obeyed(self) -> Self:
        name = str(getattr(self, "name"))  # noqa: B009 - every section of models has one
        idle = sorted(self.model_fields_set - {"name", "refill_share", *self._takes.get(name, ())})
        if idle:
            raise ValueError(f"{', '.join(idle)} means nothing with name = {name!r}")
        if name == "http" and not self.url:
            raise ValueError("name = 'http' needs url")
        return self

    def options(self) -> dict[str, Any]:
        """What the model is made with: the keys that are set and that its kind obeys."""
        taken = self._takes.get(str(getattr(self, "name")), ())  # noqa: B009
        return {key: getattr(self, key) for key in taken if key in self.model_fields_set}


class EncoderSettings(_ModelSettings):
    """Which model makes vectors. A change leaves the index searchable: the new space fills first."""

    name: Literal["auto", "embedded", "mlx", "http", "hashing", "none"] = Field(
        "auto",
        description="`auto`: the model that made the index; for a new one `mlx` where its weights are present, else `embedded`. "
        "`embedded`: the model in the package. `mlx`: Qwen3-Embedding. `http`: a server. `none`: lexical search only. "
        "`hashing`: for tests.",
    )
    dim: Annotated[int, Field(ge=0, le=8192)] = Field(0, description="Dimensions of a vector; 0: the model's own.")
    revision: str = Field("", description="`http`: tells apart two models of one name.")
    ask_dim: bool = Field(False, description="`http`: let the server shorten its vectors to `dim`.")
    timeout_seconds: Seconds = Field(60.0, description="`http`: how long an answer to a batch may take.")
    query_seconds: Seconds = Field(3.0, description="`http`: how long a search waits for its query's vector.")
    retries: Annotated[int, Field(ge=0, le=100)] = Field(
        4, description="`http`: how often a batch is sent again to a server that is busy or not there."
    )
    refill_share: Annotated[float, Field(ge=0.05, le=1)] = Field(
        0.5, description="Share of the time spent on filling a space that is not searched yet."
    )

    _takes: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "mlx": ("model", "dim", "instruction", "idle_seconds"),
        "http": (
            "url",
            "model",
            "dim",
            "instruction",
            "revision",
            "ask_dim",
            "key_variable",
            "timeout_seconds",
            "query_seconds",
            "batch_texts",
            "retries",
        ),
        "hashing": ("dim",),
    }


class RerankerSettings(_ModelSettings):
    """Which model reads the best candidates once more. A change embeds nothing anew."""

    name: Literal["auto", "late", "mlx", "http", "overlap", "none"] = Field(
        "auto",
        description="`auto`: `mlx` where its weights are present, else `late` where the embedded model encodes. "
        "`late`: late interaction with the model in the package. `mlx`: Qwen3-Reranker. `http`: a server. "
        "`none`: no reranking. `overlap`: for tests.",
    )
    form: Literal["auto", "jina", "cohere", "vllm", "llamacpp", "tei"] = Field(
        "auto", description="`http`: whose form of `/rerank` the server speaks."
    )

    probability: bool | None = Field(
        None, description="`http`: whether the scores are probabilities. Default: as the form promises."
    )
    timeout_seconds: Seconds = Field(10.0, description="`http`: how long all passages of a query may take together.")

    _takes: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "mlx": ("model", "instruction", "idle_seconds"),
        "http": (
            "url",
            "model",
            "form",
            "instruction",
            "probability",
            "key_variable",
            "timeout_seconds",
            "batch_texts",
        ),
    }


class SourceSettings(_Section):
    """One agent's logs."""

    enabled: bool = Field(True, description="Read this agent's logs.")
    folders: list[str] = Field(
        default_factory=list,
        description="The agent's data folders (such as `~/.claude`), instead of the ones it uses by default.",
    )


class DaemonSettings(_Section):
    """What `raw-rag-ingest --watch` and the service keep to."""

    busy_load: Annotated[float, Field(ge=0, le=100)] = Field(
        0.8,
        description="Load per core, its own left out, from which new text waits for its vectors; words find it at once. "
        "0: it never waits.",
    )
    on_battery: bool = Field(False, description="Make vectors on battery too.")


class Settings(_Section):
    """Everything that can be set."""

    store: StoreSettings = StoreSettings()
    chunks: ChunkSettings = ChunkSettings()
    sanitize: SanitizeSettings = SanitizeSettings()
    search: SearchSettings = SearchSettings()
    encoder: EncoderSettings = EncoderSettings()
    reranker: RerankerSettings = RerankerSettings()
    daemon: DaemonSettings = DaemonSettings()
    mcp: McpSettings = McpSettings()
    http: HttpSettings = HttpSettings()
    memory: MemorySettings = MemorySettings()
    promotion: PromotionSettings = PromotionSettings()
    capture: CaptureSettings = CaptureSettings()
    proxy: ProxySettings = ProxySettings()
    llm: LlmSettings = LlmSettings()
    chat: ChatSettings = ChatSettings()
    sources: dict[str, SourceSettings] = Field(default_factory=dict)
    home: str = Field("", description="Set by the environment, never in the file.")
    file: str | None = Field(None, description="The file these settings came from.")

    def store_path(self) -> str:
        """Absolute path of the SQLite file."""
        return os.path.abspath(os.path.expanduser(self.store.path or os.path.join(self.home, "raw_rag.db")))


def load(path: str | None, environment: Mapping[str, str], agents: Callable[[], tuple[str, ...]]) -> Settings:
    """The settings in force. ``agents`` is asked for the known agents only if the file names any.

    Raises:
        ConfigError: what is wrong, in which file, at which key, and the nearest valid one.
    """
    home = _home(environment.get(HOME_VARIABLE) or "~/.agent-raw-rag")
    asked = path or environment.get(CONFIG_VARIABLE)
    file = os.path.abspath(os.path.expanduser(asked)) if asked else os.path.join(home, "config.toml")
    values = _read(file) if asked or os.path.exists(file) else {}
    _check_agents(values, agents, file)
    if environment.get(STORE_VARIABLE):
        values = {**values, "store": {**_table(values, "store"), "path": environment[STORE_VARIABLE]}}
    rules = _switch(environment, RULES_VARIABLES)
    if rules is not None:
        values = {**values, "memory": {**_table(values, "memory"), "rules_enabled": rules}}
    for reserved in ("home", "file"):
        if reserved in values:
            raise ConfigError(
                f"{file}: unknown key {reserved!r}.", hint=f"Use ${HOME_VARIABLE} to move the home folder."
            )
    try:
        return Settings(**{**values, "home": home, "file": file if values or asked else None})
    except ValidationError as error:
        raise ConfigError(_explain(error, file)) from error


def user_home(environment: Mapping[str, str]) -> str:
    """The folder that agents call home. On Windows that is not ``HOME``, which only shells of other systems set there."""
    variable = "USERPROFILE" if sys.platform == "win32" else "HOME"
    return environment.get(variable) or os.path.expanduser("~")


def _home(named: str) -> str:
    found = os.path.expanduser(named)
    if found.startswith("~"):  # a folder of that name would be made wherever we are started
        raise ConfigError(f"There is no home folder {named}.", hint=f"Set ${HOME_VARIABLE} to an absolute path.")
    return os.path.abspath(found)


def _read(file: str) -> dict[str, Any]:
    try:
        with open(file, "rb") as stream:
            return tomllib.load(stream)
    except OSError as error:
        raise ConfigError(f"The configuration {file} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"The configuration {file} is not valid TOML: {error}.") from error


def _table(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    table = values.get(name, {})
    return table if isinstance(table, dict) else {}


def _switch(environment: Mapping[str, str], names: tuple[str, ...]) -> bool | None:
    """What the first of these variables that is set says; None: none is."""
    name = next((name for name in names if environment.get(name, "").strip()), None)
    if name is None:
        return None
    said = environment[name].strip().lower()
    if said not in _SWITCH:
        raise ConfigError(f"${name} is {said[:80]!r}.", hint="Say 1 or 0.")
    return _SWITCH[said]


def _check_agents(values: Mapping[str, Any], agents: Callable[[], tuple[str, ...]], file: str) -> None:
    for name in _table(values, "sources"):
        if name not in agents():
            raise ConfigError(f"{file}: unknown key 'sources.{name}'.", hint=_nearest(name, agents(), "sources."))


_NAMED_DEPTH = 3
"""Parts of a key in a section under a section's name of the user's; below, a slip is likelier than the wrong section."""


def _explain(error: ValidationError, file: str) -> str:
    told = error.errors()
    first = next(
        (one for one in told if one["type"] == "extra_forbidden"), told[0]
    )  # a typo first: it makes another key missing
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        name, place, siblings = str(first["loc"][-1]), key.rpartition(".")[0], _siblings(first["loc"])
        beside = len(first["loc"]) > _NAMED_DEPTH and difflib.get_close_matches(name, siblings, 1, 0.8)
        hint = (None if beside else _elsewhere(name)) or _nearest(name, siblings, place)
        return f"{file}: unknown key {key!r}. {hint}"
    return f"{file}: {key or 'a value'}: {str(first['msg']).removeprefix('Value error, ')}."


def _elsewhere(name: str) -> str | None:
    """The hint for a key that stands in the wrong section, or in none."""
    for section, found in Settings.model_fields.items():
        kind = found.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel) and name in kind.model_fields:
            return f"Did you mean '{section}.{name}'?"
    return None


def _siblings(place: tuple[int | str, ...]) -> tuple[str, ...]:
    section: type[BaseModel] = Settings
    parts = iter(place[:-1])
    for part in parts:
        found = section.model_fields.get(str(part))
        kind = found.annotation if found is not None else None
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            section = kind
        else:  # sections of one kind, each under a name of the user's
            kinds = (one for one in get_args(kind) if isinstance(one, type) and issubclass(one, BaseModel))
            section = next(kinds, SourceSettings)
            next(parts, None)
    return tuple(name for name in section.model_fields if name not in ("home", "file"))


def _nearest(name: str, valid: tuple[str, ...], prefix: str = "") -> str:
    dotted = f"{prefix.rstrip('.')}." if prefix else ""
    close = difflib.get_close_matches(name, valid, 1, 0.5)
    if close:
        return f"Did you mean '{dotted}{close[0]}'?"
    return f"Valid here: {', '.join(dotted + one for one in valid)}."
