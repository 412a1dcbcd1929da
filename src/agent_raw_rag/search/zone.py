"""The user's time zone, with its rules for every day of the year, as the system knows it (``TZ`` included)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo

from agent_raw_rag.models import Millis


class SystemZone(tzinfo):
    """Local time by the system's rules. (``astimezone()`` alone freezes today's offset.)"""

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        """Offset of a wall-clock time."""
        return moment.replace(tzinfo=None).astimezone().utcoffset() if moment else None

    def dst(self, moment: datetime | None) -> timedelta | None:
        """Not told apart from the offset."""
        return None

    def tzname(self, moment: datetime | None) -> str | None:
        """Name of the zone at a wall-clock time."""
        return moment.replace(tzinfo=None).astimezone().tzname() if moment else None

    def fromutc(self, moment: datetime) -> datetime:
        """Wall-clock time of an instant."""
        return moment.replace(tzinfo=UTC).astimezone().replace(tzinfo=self)


SYSTEM_ZONE = SystemZone()


def shown(instant: Millis | None, zone: tzinfo) -> str | None:
    """An instant for people and programs: local time to the second, with its offset."""
    if instant is None:
        return None
    moment = datetime.fromtimestamp(instant / 1000, UTC)
    local = moment.astimezone() if zone is SYSTEM_ZONE else moment.astimezone(zone)
    return local.isoformat(timespec="seconds")
