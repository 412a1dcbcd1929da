"""Redaction: found wherever it stands, nothing else touched, and never slow."""

from __future__ import annotations

import base64
import random
import time

import pytest

from agent_raw_rag.sanitize import RULES, clean_label, clean_name, plant, redact
from tests.sanitize.texts import HARMLESS, PLACES

KEY = plant("«ghp_{a36}»")[1]
VALUE = plant("«{a24}»")[1]


def _survives(secret: str, text: str) -> bool:
    """Of a key in several lines, the second one is the first that matters."""
    line = secret if "\n" not in secret else secret.split("\n")[1]
    return line in redact(text)[0]


@pytest.mark.parametrize("place", PLACES)
def test_finds_nearly_every_kind_in_every_place(place: str) -> None:
    planted = [(rule.kind, *plant(rule.example)) for rule in RULES]
    missed = [kind for kind, text, secret in planted if _survives(secret, PLACES[place](text))]
    assert len(missed) <= 0.02 * len(planted), missed


def test_finds_98_percent_over_all_places() -> None:
    planted = [plant(rule.example) for rule in RULES]
    found = [not _survives(secret, put(text)) for text, secret in planted for put in PLACES.values()]
    assert sum(found) / len(found) >= 0.98


@pytest.mark.parametrize("text", HARMLESS)
def test_leaves_what_is_no_secret(text: str) -> None:
    assert redact(text) == (text, ())


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ('password = "hunter2!x"', 'password = "[redacted:password]"'),
        ("DB_PASSWORD=hunter2", "DB_PASSWORD=[redacted:env-secret]"),
        ("the password is hunter2!x.", "the password is [redacted:password]"),
        ('{"db_password": "Tr0ub4dor&3"}', '{"db_password": "[redacted:password]"}'),
        ('{\\"password\\": \\"Tr0ub4dor&3\\"}', '{\\"password\\": \\"[redacted:password]\\"}'),
        ("Server=db;User Id=sa;Password=Tr0ub4dor;", "Server=db;User Id=sa;Password=[redacted:password];"),
        (f"?token={VALUE}&page=2", "?token=[redacted:token]&page=2"),
        (f"const apiKey: string = '{VALUE}'", "const apiKey: string = '[redacted:api-key]'"),
        (f'os.environ["API_KEY"] = "{VALUE}"', 'os.environ["API_KEY"] = "[redacted:api-key]"'),
        (f"| API_TOKEN | {VALUE} |", "| API_TOKEN | [redacted:token] |"),
        (
            f"https://bob:swordfish@git.orchid.dev/{VALUE}",
            f"https://bob:[redacted:url-password]@git.orchid.dev/{VALUE}",
        ),
        ("mongodb+srv://app:p4ss@c.mongodb.net", "mongodb+srv://app:[redacted:database-url]@c.mongodb.net"),
        (f"OPENAI_API_KEY={KEY}", "OPENAI_API_KEY=[redacted:github-pat]"),
        (f"https://{KEY}@github.com/orchid/app", "https://[redacted:github-pat]@github.com/orchid/app"),
    ],
)
def test_masks_the_value_and_keeps_its_name(text: str, masked: str) -> None:
    assert redact(text)[0] == masked


def test_names_every_mask() -> None:
    text, kinds = redact(f"{KEY} and again {KEY}, then password: 'Tr0ub4dor&3'")
    assert text == "[redacted:github-pat] and again [redacted:github-pat], then password: '[redacted:password]'"
    assert sorted(kinds) == ["github-pat", "github-pat", "password"]


def test_masks_what_overlaps_as_one_under_the_name_that_says_most() -> None:
    assert redact(f"Authorization: Bearer {KEY}") == ("Authorization: Bearer [redacted:github-pat]", ("github-pat",))


def test_keeps_the_letters_around_a_secret() -> None:
    assert (
        redact(f"鑰匙{KEY}。\U0001f511{KEY}\U0001f511")[0]
        == "鑰匙[redacted:github-pat]。\U0001f511[redacted:github-pat]\U0001f511"
    )


ARMOUR, _ = plant("-----BEGIN OPENSSH PRIVATE KEY-----\n{b70}\n{b70}\n{b33}==\n-----END OPENSSH PRIVATE KEY-----")


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (f"before\n{ARMOUR}\nafter", "before\n[redacted:private-key]\nafter"),
        (ARMOUR.replace("\n", "\\n"), "[redacted:private-key]"),
        (f'"key": "{ARMOUR.replace(chr(10), chr(92) * 2 + "n")}"', '"key": "[redacted:private-key]"'),
        (ARMOUR.partition("\n-----END")[0] + "\n\nThat was it.", "[redacted:private-key]\n\nThat was it."),
        (ARMOUR.partition("\n-----END")[0][:-9], "[redacted:private-key]"),
        (f"{ARMOUR}\n{ARMOUR}", "[redacted:private-key]\n[redacted:private-key]"),
    ],
    ids=["whole", "escaped", "escaped twice", "without its end", "cut off", "two"],
)
def test_masks_a_private_key_whole(text: str, masked: str) -> None:
    assert redact(text)[0] == masked


def test_what_a_mask_lays_bare_is_masked_too() -> None:
    text = f"password={KEY}Tr0ub4dor&3x"
    masked, _ = redact(text)
    assert redact(masked) == (masked, ())
    assert "Tr0ub4dor" not in masked


def test_cleans_what_cannot_be_stored() -> None:
    assert redact("a\ud83d\x00b\r\nc\rd\te\x1b[0m")[0] == "a\ufffdb\nc\nd\te[0m"
    assert redact("\ud83d\ude00")[0] == "\U0001f600"


def test_leaves_a_clean_text_the_very_same_object() -> None:
    text = "nothing here, 什麼都沒有"
    assert redact(text)[0] is text


def test_a_label_is_one_line_without_secrets() -> None:
    assert clean_label(f" Deploy\nwith {KEY}\t(staging) ") == "Deploy with [redacted:github-pat] (staging)"
    assert clean_label("/home/dev/My  Project") == "/home/dev/My  Project"


_SIZE = 240_000
HOSTILE = {
    "one letter": "a",
    "prefixes": "ghp_",
    "dashes": "sk-",
    "assignments": "api_key=",
    "names": "token_a.b-c:",
    "long names": "token_",
    "urls": "://a:b",
    "armour heads": "-----BEGIN RSA PRIVATE KEY-----",
    "armour bodies": "-----BEGIN RSA PRIVATE KEY-----\n- a",
    "jwt heads": ".eyJ",
    "curl": "curl -u a:",
    "cookies": "cookie: sess",
    "words": "password is ",
    "quotes": '"password": "',
    "headers": "authorization: bearer ",
    "backslashes": '\\\\\\"',
    "marks": "aaa8Q~",
    "spaces": "token   ",
    "ideographs": "密碼token",
    "controls": "\r\x00\ud800",
    "secrets": "https://user:p4ssw0rd@host ",
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_takes_time_in_proportion_to_the_text(piece: str) -> None:
    """Twice the text costs about twice the time; a quadratic pattern would cost four times, a cubic one eight."""
    short, long = (_seconds(piece * (size // len(piece))) for size in (_SIZE // 2, _SIZE))
    assert long < max(3.2 * short, 0.2)


def test_takes_a_big_blob_in_its_stride() -> None:
    blob = base64.b64encode(random.Random(1).randbytes(1_500_000)).decode()
    assert _seconds(blob) < 3


def _seconds(text: str) -> float:
    """The least of three runs, in time of this process."""
    spent = []
    for _ in range(3):
        start = time.process_time()
        redact(text)
        spent.append(time.process_time() - start)
    return min(spent)


def test_names_that_are_masked_alike_stay_apart() -> None:
    first, second = clean_name(f"{KEY} one"), clean_name(f"{KEY}")
    assert first != second and KEY not in first + second
    assert clean_name(KEY) == clean_name(f" {KEY}\n")
    assert clean_name("claude  work\n3") == "claude work 3"
