"""What all shapes of replies have in common: ids, moments, amounts, and members that may be left out."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

LEFT_OUT: Any = Field(default_factory=lambda: None)

DEBATE_ID = "^deb_[0-9A-HJKMNP-TV-Z]{26}$"
DebateId = Annotated[str, Field(pattern=DEBATE_ID, examples=["deb_01HZ9X8K7M3QR5TNVWXYZ12345"])]
SeatId = Annotated[
    str, Field(pattern="^part_[0-9A-Za-z]{1,40}$", examples=["part_01HZ9X8K7N1QR5TNVWXYZ12345"])
]
JudgeId = Annotated[
    str, Field(pattern="^judge_[0-9A-Za-z]{1,40}$", examples=["judge_01HZ9X8K7N3QR5TNVWXYZ12345"])
]
Winner = Annotated[str, Field(pattern="^(?:tie|part_[0-9A-Za-z]{1,40})$")]
Moment = Annotated[
    str, Field(json_schema_extra={"format": "date-time"}, examples=["2024-12-03T05:30:00.000Z"])
]
Nth = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(ge=0, description="Seconds.")]
Count = Annotated[int, Field(ge=0)]
Dollars = Annotated[float, Field(ge=0)]
Points = Annotated[float, Field(ge=0, le=100)]


class Reply(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel,
        field_title_generator=lambda name, _: to_camel(name),
        use_attribute_docstrings=True,
    )
