"""The bad-input table, B151: invalid requests for turns, with the complete answers."""

from __future__ import annotations

from typing import Any

from tests.web.routes.bad_input_rows import MAL, NACC, NF, NO_DEBATE, ORI, VAL, Row, get, post

STREAM, INIT = "/api/debate/stream", "/api/debate/stream/init"
INVALID, NEEDED = "Invalid turn", "Needed from the second turn on"
TOPIC = "AI will replace most human jobs by 2040"
FIRST: dict[str, Any] = {
    "modelId": "scripted/plain",
    "topic": TOPIC,
    "role": "AFFIRMATIVE",
    "intensity": 3,
    "opponentMessage": None,
    "previousResponseId": None,
    "turnNumber": 1,
}
SECOND = {**FIRST, "role": "NEGATIVE", "turnNumber": 2, "opponentMessage": "Jobs have always changed."}
THIRD = {**FIRST, "turnNumber": 3, "opponentMessage": "Jobs have always changed."}
MISSING = b'{"error":"Missing required fields"}'
JSON = {"content-type": "application/json"}
FALSY: dict[str, Any] = {
    "modelId": (None, "", 0, False),
    "topic": (None, ""),
    "role": (None, ""),
    "intensity": (None, 0, ""),
    "turnNumber": (None,),
}
LENGTH = "Must be between 1 and 500 characters"
NUMBER, LEVEL = "Must be between 1 and 10", "Must be between 1 and 5"
WRONG: tuple[tuple[dict[str, Any], dict[str, str]], ...] = (
    ({**FIRST, "turnNumber": 0}, {"turnNumber": NUMBER}),
    ({**FIRST, "turnNumber": 11}, {"turnNumber": NUMBER}),
    ({**FIRST, "turnNumber": "1"}, {"turnNumber": "Must be an integer"}),
    ({**FIRST, "turnNumber": 1.5}, {"turnNumber": "Must be an integer"}),
    ({**FIRST, "role": "JUDGE"}, {"role": "Must be one of: AFFIRMATIVE, NEGATIVE"}),
    ({**FIRST, "role": "NEGATIVE"}, {"role": "Must be AFFIRMATIVE in this turn"}),
    ({**SECOND, "role": "AFFIRMATIVE"}, {"role": "Must be NEGATIVE in this turn"}),
    ({**SECOND, "opponentMessage": None}, {"opponentMessage": NEEDED}),
    ({**THIRD, "opponentMessage": " "}, {"opponentMessage": NEEDED}),
    ({**THIRD, "opponentMessage": 7}, {"opponentMessage": "Must be a string"}),
    ({**THIRD, "opponentMessage": "a\0b"}, {"opponentMessage": "Control characters are not allowed"}),
    ({**FIRST, "previousResponseId": "resp_1"}, {"previousResponseId": "This model has not spoken yet"}),
    ({**THIRD, "previousResponseId": "re sp"}, {"previousResponseId": "Must be the id of a response"}),
    ({**FIRST, "intensity": 6}, {"intensity": LEVEL}),
    ({**FIRST, "topic": "x" * 501}, {"topic": LENGTH}),
    ({**FIRST, "topic": "\u200b"}, {"topic": LENGTH}),
    ({**FIRST, "sessionId": 7}, {"sessionId": "Must be a string"}),
    ({**THIRD, "previousResponseId": 0}, {"previousResponseId": "Must be a string"}),
    ({**FIRST, "baseUrl": "http://127.0.0.1"}, {"baseUrl": "Unknown field"}),
    (
        {**FIRST, "modelId": "a b"},
        {"modelId": "Must be 1 to 200 letters, digits and . _ : @ / - in the form of a name"},
    ),
)

ROWS = (
    *(Row(id="B151", sent=post(path, {**FIRST, name: value}), status=400, headers=JSON, holds=MISSING)
      for path in (STREAM, INIT) for name, values in FALSY.items() for value in values),
    *(Row(id="B151", sent=post(path, {}), status=400, headers=JSON, holds=MISSING)
      for path in (STREAM, INIT)),
    *(Row(id="B151", sent=post(path, body), sort=VAL, detail=INVALID, errors=errors)
      for path in (STREAM, INIT) for body, errors in WRONG),
    *(Row(id="B151", sent=post(path, []), sort=VAL, detail=INVALID, errors={"body": "Must be an object"})
      for path in (STREAM, INIT)),
    *(Row(id="B151", sent=post(path, sent), sort=MAL, detail=detail)
      for path in (STREAM, INIT)
      for sent, detail in ((b'{"topic":"a","topic":"b"}', "Duplicate member"),
                           (b'{"intensity":NaN}', "NaN and Infinity are not JSON"))),
    Row(id="B151", sent=post(STREAM, FIRST, Accept="application/json"), sort=NACC),
    *(Row(id="B151", sent=post(path, FIRST, Origin="http://evil.example"), sort=ORI)
      for path in (STREAM, INIT)),
    *(Row(id="B151", sent=post(path, {**THIRD, "sessionId": "deb_unknown"}), sort=NF, detail=NO_DEBATE)
      for path in (STREAM, INIT)),
    *(Row(id="B151", sent=get(path), sort=NF, detail=NO_DEBATE)
      for path in (f"{STREAM}/deb_unknown", "/api/debate/session/deb_unknown")),
    # Without an id it is given all the same.
    *(Row(id="B151", sent=post(STREAM, body, Connection="close"), status=200, holds=b"event: complete",
          headers={"content-type": "text/event-stream", "x-session-id": None})
      for body in (THIRD, {**THIRD, "previousResponseId": "", "sessionId": None})),
)  # fmt: skip
