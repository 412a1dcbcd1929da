"""What every section of the configuration is."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0, le=1)]


class Section(BaseModel):
    """Keys with strict types; an unknown one is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
