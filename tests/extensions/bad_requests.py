"""The bad-input table, B140 to B149: invalid requests to the compatibility APIs, and the complete answers."""

from __future__ import annotations

from typing import Any

from tests.web.routes.bad_input_rows import INVALID, MNA, NACC, NF, NO_DEBATE, ORI, VAL, Row, get, post

EVIL = "http://evil.example"
QUICK = "/api/debate"
STREAM = {"content-type": "text/event-stream", "x-debate-id": None}
SHORT = {"Connection": "close"}
TOPIC = {"topic": "Test topic"}
BAD = "INVALID_REQUEST"
LENGTH, ROUNDS = "Must be between 1 and 500 characters", "Must be between 1 and 5"
TOPICS: tuple[tuple[dict[str, Any], str], ...] = (
    ({}, "Field required"),
    ({"topic": ""}, LENGTH),
    ({"topic": " \u200b "}, LENGTH),
    ({"topic": "x" * 501}, LENGTH),
    ({"topic": None}, "Must be a string"),
    ({"topic": 7}, "Must be a string"),
)

ROWS = (
    *(Row(id="B140", sent=post(path, body), sort=VAL, detail=INVALID, errors={"topic": message},
          code="INVALID_TOPIC")
      for path in (QUICK, f"{QUICK}/create") for body, message in TOPICS),
    *(Row(id="B141", sent=post(QUICK, {**TOPIC, "maxRounds": rounds}), sort=VAL, detail=INVALID,
          errors={"maxRounds": ROUNDS}, code=BAD) for rounds in (0, 6, 1.5, "3", None)),
    Row(id="B142", sent=post(QUICK, TOPIC, **SHORT), status=200, headers=STREAM, holds=b'"totalRounds":3'),
    Row(id="B143", sent=get(QUICK), sort=MNA, headers={"allow": "POST"}, code=BAD),
    Row(id="B144", sent=post(QUICK, TOPIC, Accept="application/json"), sort=NACC, code=BAD),
    Row(id="B145", sent=post(QUICK, TOPIC, Content_Type="text/plain;charset=UTF-8", **SHORT), status=200,
        headers=STREAM, holds=b'data: {"type":"agent_start","agent":"Optimist","round":0'),
    *(Row(id="B146", sent=post(path, TOPIC, Content_Type="text/plain;charset=UTF-8", Origin=EVIL), sort=ORI,
          code=BAD)
      for path in (QUICK, f"{QUICK}/create")),
    *(Row(id="B149", sent=get(f"/api/{path}"), sort=NF, detail=NO_DEBATE)
      for path in ("debates/none", "debates/none/stream", "debate/none/stream")),
)  # fmt: skip
