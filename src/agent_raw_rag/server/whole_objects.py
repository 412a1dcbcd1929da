"""JSON schemas of result objects as they are sent: every key is always there, whether its field has a default or not."""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import GenerateJsonSchema


class WholeObjects(GenerateJsonSchema):
    """For ``TypeAdapter.json_schema(schema_generator=…, mode="serialization")``."""

    def field_is_required(self, field: Any, total: bool) -> bool:
        """Whether a key is always there."""
        return field["type"] == "dataclass-field" or super().field_is_required(field, total)
