"""What doctor makes of a machine, in tables."""

from __future__ import annotations

import pytest

from agent_raw_rag.cli.checks.disk import file_system, kind_of, linux_mounts, mac_mounts, room
from agent_raw_rag.cli.checks.finding import Finding, guarded, mended
from agent_raw_rag.cli.checks.retention import DAY, at_risk
from agent_raw_rag.errors import StoreBusyError, StoreError
from agent_raw_rag.ingest.waiting import Log
from agent_raw_rag.store.features import lacking

MOUNTS = linux_mounts(
    "/dev/sda / ext4 rw 0 0\nfiler:/home /home nfs4 rw 0 0\ndrvfs /mnt/c 9p rw 0 0\nx /mnt/my\\040disk cifs rw 0 0\n"
    "tmpfs /home/me/fast tmpfs rw 0 0\nodd\n"
)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/store", "ext4"), ("/home/me/.agent-raw-rag", "nfs4"), ("/home", "nfs4"), ("/homes", "ext4"),
        ("/mnt/c/Users/me", "9p"), ("/mnt/my disk/x", "cifs"), ("/home/me/fast/store", "tmpfs"),
    ],
)  # fmt: skip
def test_a_path_lies_on_the_longest_mount_point_above_it(path: str, kind: str) -> None:
    assert kind_of(path, MOUNTS) == kind


def test_the_mounts_of_a_mac_are_read() -> None:
    text = "/dev/disk1 on / (apfs, local, journaled)\n//me@nas/Home on /Volumes/x Home (smbfs, nodev, nosuid)\n"
    assert mac_mounts(text) == {"/": "apfs", "/Volumes/x Home": "smbfs"}


@pytest.mark.parametrize(
    ("path", "release", "level", "said"),
    [
        ("/var/store", "6.1", "ok", "ext4"),
        ("/var/store", "5.15-microsoft-standard-WSL2", "ok", "in WSL"),
        ("/home/me/x", "6.1", "warn", "network file system (nfs4)"),
        ("/mnt/c/x", "5.15-microsoft-standard-WSL2", "warn", "Windows drive"),
        ("/mnt/c/x", "6.1", "warn", "network file system (9p)"),
    ],
)
def test_a_file_system_without_shared_memory_is_a_warning(path: str, release: str, level: str, said: str) -> None:
    found = file_system(path, MOUNTS, "linux", release)
    assert found.level == level and said in found.text and bool(found.remedy) == (level == "warn")


def test_an_unknown_file_system_is_no_fault() -> None:
    assert file_system("/x", {}, "win32", "").level == "ok"


@pytest.mark.parametrize(("free", "level"), [(10**12, "ok"), (500_000_000, "ok"), (499_999_999, "warn"), (0, "error")])
def test_little_room_is_a_warning_and_none_an_error(free: int, level: str) -> None:
    assert room("/", free).level == level


def test_this_sqlite_has_all_that_is_needed() -> None:
    assert lacking() == []


def test_the_logs_that_are_due_come_in_the_order_in_which_they_go() -> None:
    now = 1000.0 * DAY
    logs = tuple(Log(f"/logs/{age}", now - age * DAY) for age in (1, 22, 24, 29, 50))
    assert [log.path for log in at_risk(logs, "/logs", 30, now)] == ["/logs/50", "/logs/29", "/logs/24"]
    assert at_risk(logs, "/log", 30, now) == []
    assert at_risk(logs, "/logs", 365, now) == []
    assert len(at_risk(logs, "/logs", 0, now)) == 5


def _failing(error: Exception) -> Finding:
    def fail() -> str:
        raise error

    return Finding("error", "x", "it is broken", "do so", fail)


def test_what_an_expected_error_stops_is_a_finding_and_what_was_found_before_it_stays() -> None:
    def look():  # type: ignore[no-untyped-def]
        yield Finding("ok", "x", "first")
        raise PermissionError(13, "Permission denied", "/secret")

    first, second = guarded("x", look)
    assert (first.text, second.level) == ("first", "error") and "/secret" in second.text and second.remedy


def test_somebody_who_writes_just_now_is_no_error() -> None:
    def look():  # type: ignore[no-untyped-def]
        raise StoreBusyError("Another process is writing.", hint="Try again.")
        yield

    assert [one.level for one in guarded("x", look)] == ["warn"]


def test_a_bug_looks_like_one() -> None:
    def look():  # type: ignore[no-untyped-def]
        yield 1 // 0

    with pytest.raises(ZeroDivisionError):
        guarded("x", look)
    with pytest.raises(ZeroDivisionError):
        mended(_failing(ZeroDivisionError()))


def test_a_mending_that_fails_says_why_and_stays_what_it_was() -> None:
    after = mended(_failing(StoreError("No room.")))
    assert after.level == "error" and "could not be mended: No room." in after.text and not after.fixed
