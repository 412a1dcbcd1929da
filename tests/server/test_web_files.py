"""Which files of the page are served, and as what."""

from __future__ import annotations

from pathlib import Path

from agent_raw_rag.server.http.web import read_assets, web_part


def test_only_files_of_known_kinds_are_served_and_each_as_what_it_is(tmp_path: Path) -> None:
    kinds = {
        "index.html": "text/html; charset=utf-8", "app.js": "text/javascript; charset=utf-8",
        "app.css": "text/css; charset=utf-8", "favicon.svg": "image/svg+xml", "LICENSES.txt": "text/plain; charset=utf-8",
    }  # fmt: skip
    for name in (*kinds, "secret.py", "__init__.py", "app.js.map", "noending", ".hidden"):
        (tmp_path / name).write_text(name)
    (tmp_path / "folder.js").mkdir()
    found = read_assets(tmp_path)
    assert {name: asset.headers["content-type"] for name, asset in found.items()} == kinds
    assert {name: asset.content.decode() for name, asset in found.items()} == {name: name for name in kinds}


def test_only_a_name_that_changes_with_its_content_is_kept_by_browsers(tmp_path: Path) -> None:
    for name in ("index.html", "app-A7HGK3HQ.js", "app-JGEYNABK.css", "favicon.svg", "two-words.svg"):
        (tmp_path / name).write_text("x")
    kept = {name for name, asset in read_assets(tmp_path).items() if "immutable" in asset.headers["cache-control"]}
    assert kept == {"app-A7HGK3HQ.js", "app-JGEYNABK.css"}


def test_a_tag_changes_with_the_content(tmp_path: Path) -> None:
    tags = set()
    for content in ("one", "two", "one"):
        (tmp_path / "app.js").write_text(content)
        tags.add(read_assets(tmp_path)["app.js"].tag)
    assert len(tags) == 2


def test_a_checkout_without_built_files_says_how_to_build_them(tmp_path: Path) -> None:
    assert read_assets(tmp_path / "nothing") == {}
    part = web_part(tmp_path / "nothing")
    assert [route.door.path for route in part.routes] == ["/", "/assets/{file}"]
