"""Pieces of patterns that the context rules share."""

from __future__ import annotations

QUOTE = r"\\{0,3}[\"'`]"
"""A quote, escaped or not."""
OPEN = r"(?:\\{0,3}[\"'`])?"
B64 = r"[A-Za-z0-9+/]"
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

UNTELLING = (
    r"name|type|kind|url|uri|path|file|dir|arn|id|ids|len|length|size|count|limit|max|min|ttl|exp|expir[a-z]*|age|field"
    r"|param|header|prefix|suffix|class|ref|version|provider|policy|hint|label|store|manager|format|index|usage|budget"
    r"|regex|pattern|hash|sha[0-9]*|digest|checksum|rotation|required|enabled|error|endpoint|algorithm|alg|env|var|vault"
    r"|scope[a-z]*"
)
"""Words that turn ``token_...`` into something that is no token."""

TAIL = r"(?:[_.-](?!(?:" + UNTELLING + r")(?![a-z]))[a-z0-9]{1,20}+|key|value|string|secret|token){0,3}+"
"""The rest of a name after its telling word."""

ENV_TAIL = r"(?:_(?!(?:" + UNTELLING.upper() + r")(?![A-Z]))[A-Z0-9]{1,20}+){0,3}+"

IS = (
    r"(?:\\{0,3}[\"'`]|\]){0,3}[ \t]{0,3}"
    r"(?::[ \t]{0,2}(?:str|string|bytes|secretstr|&'static str)(?:[ \t]?\|[ \t]?\w{1,16})?[ \t]{0,2}(?==))?"
    r"(?::=|={1,3}>?|:{1,2}|->|>(?!\s)|%3d)[ \t]{0,4}"
)
"""Between a name and its value: ``=``, ``: ``, ``" : ``, ``=>``, ``'] = ``, ``: str = ``, ``%3D``."""

NEXT_TO = r"(?:" + IS + r"|" + QUOTE + r",[ \t]?(?=[\"'`])|[ \t]?\|[ \t]{1,8})"
"""Also ``setenv("NAME", "value")`` and the cells of a table."""

_VALUE = (
    r"(?:[bru]{1,2}(?=[\"']))?(?:"
    r"\\{0,3}\"((?:[^\"\\\s]|\\[/u]){%(n)d,512}+)(?=\\{0,3}\")"
    r"|\\{0,3}'([^'\\\s]{%(n)d,512}+)(?=\\{0,3}')"
    r"|\\{0,3}`([^`\\\s]{%(n)d,512}+)(?=\\{0,3}`)"
    r"|([^\s\"'`\\,;<>(){}\[\]&|$%%][^\s\"'`\\,;<>(){}\[\]&|]{%(m)d,511}+)(?!\(|\[(?!\d{1,3}m)))"
)


def value(least: int) -> str:
    """A value in quotes of some sort, or a bare one that nothing like a call follows."""
    return _VALUE % {"n": least, "m": least - 1}


def after(*words: str) -> str:
    """Stands directly after one of the words; a space in them is any of ``_``, ``-``, ``.`` or nothing."""
    spelt = {word.replace(" ", joint) for word in words for joint in ("[_.-]", "")}
    return "(?:" + "|".join(f"(?<={word})" for word in sorted(spelt, key=lambda word: (len(word), word))) + ")"


NO_CURSOR = "".join(
    f"(?<!{word})(?<!{word}[_-])" for word in ("next", "page", "continuation", "cancel", "sync", "resume", "publickey")
)
"""Not the token that only fetches the next page."""

DATABASE = after(
    *("postgres", "postgresql", "mysql", "mariadb", "mongodb", r"\+srv", "redis", "rediss", "amqp", "amqps", "mssql"),
    *("sqlserver", "clickhouse", "cockroachdb", "asyncpg", "psycopg", "psycopg2", "pymysql"),
)

_COOKIE = r"[a-z0-9_.-]{1,60}+"
_SESSION = r"[a-z0-9_.-]{0,40}?(?:sess|sid|auth|token|jwt)"
COOKIES = (
    r"cookie\\{0,3}[\"']?[ \t]{0,2}[:=,][ \t]{0,2}[\"']?"
    r"(?:(?:"
    + _COOKIE
    + r"=\[redacted:[a-z0-9-]{1,40}\]|(?!"
    + _SESSION
    + r")"
    + _COOKIE
    + r"=[^;\s\"']{0,400}+);\s?){0,30}+"
    r"" + _COOKIE + r"=([^\s;\"'\\,]{16,4096}+)"
)
"""The first cookie whose name tells of a session; those before it are passed over."""

_GAP = r"(?:\s|\\[nrt\\]|[\"'`|>+,]){1,64}+"
PRIVATE_KEY = (
    r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
    # Whole, if its end stands within 16 KB and no other armour between; else what still looks like its body.
    r"(?:(?=[^-]{0,600}?" + B64 + r"{24})[^-]{0,16384}+(?:-(?!----)[^-]{0,4096}+){0,16}-----END [A-Z0-9 ]{0,60}-----"
    r"|(?:"
    + _GAP
    + r"(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): ?[^\n\\]{0,120}+|"
    + B64
    + r"{40,}+={0,2}))++"
    r"(?:" + _GAP + r"=?" + B64 + r"{4,76}+={0,2}(?![^\s\"'\\`]))?)"
)
_LINE = r"(?:\s|\\{1,3}[nr]){1,4}"
PUTTY_LINES = r"((?:" + _LINE + B64 + r"{40,64}={0,2}){1,99}(?:" + _LINE + B64 + r"{1,64}={0,2})?)"
