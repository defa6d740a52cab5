"""The examples of the OpenAPI document: bodies, replies and events of one debate."""

from __future__ import annotations

from typing import Any

from moot.api.v1.fields import CREATE_DEBATE

DEBATE = "deb_01HZ9X8K7M3QR5TNVWXYZ12345"
PRO, CON = "part_01HZ9X8K7N1QR5TNVWXYZ12345", "part_01HZ9X8K7N2QR5TNVWXYZ12345"
JUDGE = "judge_01HZ9X8K7N3QR5TNVWXYZ12345"
CLAUDE, GPT = "anthropic/claude-3-5-sonnet-20241022", "openai/gpt-4-turbo-preview"
OPUS = "anthropic/claude-3-opus-20240229"
TOPIC: str = CREATE_DEBATE["topic"]
NAMES = ("Pro-Regulation (Claude)", "Anti-Regulation (GPT-4)")
BODIES: dict[str, Any] = {
    "SubmitRound": {"action": "next_round"},
    "TriggerJudge": {"reason": "Both sides have made their case."},
    "Pause": {"now": False},
    "Resume": {"step": "turn"},
    "Ending": {"reason": "Time is up."},
    "Skip": {"turn": 3},
    "Nothing": {},
    "Inject": {"text": "What about open-source models?"},
    "Decide": {"winner": PRO, "reason": "The better answer to every question."},
    "Invite": {"role": "audience", "many": True},
    "Join": {"name": "Zoë"},
    "Draft": {"text": "Rules that are clear cost less than", "live": True},
    "Say": {"text": "Rules that are clear cost less than rules that are not."},
    "Point": {"text": "Who would pay for that?"},
    "Answer": {"accept": True},
    "Question": {"text": "What about small companies?"},
    "Vote": {"choice": "undecided"},
    "CastBallot": {"winner": "tie", "reasoning": "Neither answered the other.", "cites": [1]},
    "ExperimentVote": {"voter": "Zoe", "debate": "deb_01HZ9X8K7M3QR5TNVWXYZ12345", "winner": "A"},
    "Extend": {"seconds": 60},
    "Rejudge": {"reason": "A second opinion."},
    "NewInstall": {"source": "hf:Qwen/Qwen2.5-1.5B-Instruct-GGUF/qwen2.5-1.5b-instruct-q4_k_m.gguf"},
    "NewKey": {"key": "the-key-that-the-service-has-shown"},
    "NewToken": {"name": "zoe", "role": "viewer", "days": 30},
}


def keyless(provider: str, model: str) -> dict[str, Any]:
    """A debate that any server can hold."""
    choice = {"provider": provider, "modelId": model}
    return {
        "topic": "Homework should be abolished",
        "format": "oxford",
        "participants": [
            {"name": "Ada", "position": "for", "model": choice},
            {"name": "Ben", "position": "against", "model": choice},
        ],
        "judge": {"name": "The judge", "model": choice},
        "config": {"maxRounds": 2},
    }


def _at(time: str) -> str:
    return f"2024-12-03T05:{time}.000Z"


_TABLE: dict[str, Any] = {
    "participants": [
        {"id": PRO, "name": NAMES[0], "model": CLAUDE, "position": "for", "color": "#FF6B6B"},
        {"id": CON, "name": NAMES[1], "model": GPT, "position": "against", "color": "#4ECDC4"},
    ],
    "judge": {"id": JUDGE, "name": "Judge Claude", "model": OPUS},
    "judges": [{"id": JUDGE, "name": "Judge Claude", "model": OPUS}],
}
_CONFIG: dict[str, Any] = {
    **CREATE_DEBATE["config"],
    "autoProgress": True,
    "winningCondition": "ai-judge",
    "intensity": 3,
    "showReasoning": True,
    "personSeconds": 300,
    "prep": False,
    "blind": False,
}
_COSTS: dict[str, Any] = {
    "totalCost": 0.015,
    "costByModel": {CLAUDE: 0.015},
    "totalTokens": 250,
    "tokensByModel": {CLAUDE: {"inputTokens": 50, "outputTokens": 200}},
    "estimated": False,
    "unpriced": [],
}
_VERDICT: dict[str, Any] = {
    "winner": PRO,
    "scores": {
        PRO: {"score": 85, "strengths": ["Answers every objection"], "weaknesses": ["Few examples"]},
        CON: {"score": 78, "strengths": ["Plain and concrete"], "weaknesses": ["Leaves safety aside"]},
    },
    "reasoning": "The case for regulation met the case against it on its own ground.",
    "criteria": {"argument": "Both sides reasoned soundly; the first went further."},
    "tokensUsed": 2100,
    "outcome": "win",
    "headline": f"{NAMES[0]} wins",
    "by": "judges",
    "margin": 7.0,
    "agreement": 1.0,
    "flips": 0,
    "doubts": [],
}
_BALLOT: dict[str, Any] = {
    "judge": JUDGE,
    "judgeName": "Judge Claude",
    "order": 0,
    **{member: _VERDICT[member] for member in ("winner", "scores", "reasoning", "criteria")},
    "cites": [1, 4],
}
_REACHED: dict[str, Any] = {
    "judging": 1,
    **_VERDICT,
    "judges": _TABLE["judges"],
    "ballots": [_BALLOT, {**_BALLOT, "order": 1}],
}
_INVITED: dict[str, Any] = {
    "debateId": DEBATE,
    "name": "zoe",
    "role": "participant",
    "seat": PRO,
    "many": False,
    "createdAt": _at("30:00"),
}
_SHOWN = "moot_3q2-7wAAR3Zh1cJq0mYt8b5xkWw2nTqLx9uDf6AaBbC"
_TOKEN: dict[str, Any] = {
    "name": "zoe",
    "role": "viewer",
    "owner": "zoe",
    "createdAt": _at("30:00"),
    "expiresAt": None,
    "expired": False,
}
_INSTALL: dict[str, Any] = {
    "name": "qwen2.5-coder-1.5b",
    "title": "Qwen2.5 Coder 1.5B Instruct",
    "bytes": 1_117_320_768,
    "licence": "Apache-2.0",
    "summary": "Ten times as large as SmolLM2, slower, and a clearly better debater.",
    "small": True,
    "label": "local/qwen2.5-coder-1.5b",
    "source": None,
    "memoryBytes": 1_829_052_844,
    "tokensPerSecond": 22,
    "fits": True,
    "state": "installing",
    "done": 209_715_200,
    "total": 1_117_320_768,
    "error": None,
}
_KEY: dict[str, Any] = {
    "provider": "openai",
    "title": "OpenAI",
    "set": True,
    "source": "environment",
    "variable": "OPENAI_API_KEY",
    "variableSet": True,
    "test": None,
    "saved": False,
    "needed": True,
    "host": "api.openai.com",
}
_SPEECH: dict[str, Any] = {
    "participantId": PRO,
    "participantName": NAMES[0],
    "tokensUsed": 250,
    "turn": 1,
    "speech": 1,
    "phase": "opening",
    "words": 5,
}
_CONVERSATION_ID = "6f1c1c1e-5a0e-4f0e-9d55-0d5a3c0f1a11"
_MILLISECONDS = 1_746_090_000_000
_CONVERSATION: dict[str, Any] = {
    "id": _CONVERSATION_ID,
    "kind": "imported",
    "title": None,
    "source": "postgresql://me@db.example/app#events",
    "events": 2,
    "firstTs": _MILLISECONDS,
    "lastTs": _MILLISECONDS + 1500,
}
_REASONING: dict[str, Any] = {
    "type": "reasoning",
    "id": "rs_1",
    "output_index": 0,
    "sequence_number": 3,
    "parts": [
        {
            "summary_index": 0,
            "type": "summary_text",
            "text": "Look it up first.",
            "sequence_number": 4,
            "is_complete": True,
            "created_at": _MILLISECONDS,
        }
    ],
    "combined_text": "Look it up first.",
    "effort_level": "low",
    "reasoning_tokens": 12,
}
_ROUND: dict[str, Any] = {"roundNumber": 1, "totalTokens": 250, "roundCost": 0.015}
_WORDS = "Government regulation of AI is crucial"


def _acted(message: str, **more: Any) -> dict[str, Any]:
    return {"debateId": DEBATE, "currentRound": 2, "status": "debating", "message": message, **more}


def _poll(name: str, votes: int) -> dict[str, Any]:
    return {"poll": name, "open": False, "votes": votes, "endsAt": None, "late": 0, "single": 0}


def _change(
    choice: str, before: int, after: int, points: float, persuadable: int, won: int
) -> dict[str, Any]:
    figures = {"before": before, "after": after, "points": points, "persuadable": persuadable, "won": won}
    interval = {"low": points - 20, "high": points + 20}
    return {"choice": choice, "label": choice.capitalize(), **figures, "interval": interval}


REPLIES: dict[str, Any] = {
    "CreateDebateResponse": {
        "id": DEBATE,
        "status": "initializing",
        "topic": TOPIC,
        **_TABLE,
        "config": _CONFIG,
        "createdAt": _at("30:00"),
        "streamUrl": f"/api/v1/debates/{DEBATE}/stream",
        "warnings": ["The judge is of the same family as Pro-Regulation (Claude): Anthropic."],
        "format": "oxford",
    },
    "ListDebatesResponse": {
        "debates": [
            {
                "id": DEBATE,
                "topic": TOPIC,
                "status": "debating",
                "participantCount": 2,
                "currentRound": 2,
                "maxRounds": 5,
                "totalCost": 0.03,
                "totalCostText": "$0.03",
                "createdAt": _at("30:00"),
                "format": "oxford",
                "unpriced": False,
                "participants": [
                    {
                        "shown": seat["model"].rpartition("/")[2],
                        **{member: seat[member] for member in ("name", "model", "position", "color")},
                    }
                    for seat in _TABLE["participants"]
                ],
                "strip": [0, 1, 0, 1],
                "given": 2,
            }
        ],
        "pagination": {"total": 1, "limit": 20, "offset": 0, "hasMore": False},
    },
    "DebateStatusResponse": {
        "id": DEBATE,
        "status": "debating",
        "topic": TOPIC,
        "currentRound": 1,
        "maxRounds": 5,
        **_TABLE,
        "rounds": [
            {**_ROUND, "responses": [{**_SPEECH, "contentPreview": _WORDS}], "timestamp": _at("30:06")}
        ],
        "speaking": [{"participantId": CON, "turn": 2, "speech": 2}],
        "polls": [{"poll": "before", "open": False, "votes": 30, "endsAt": None}],
        "warnings": [],
        "accidents": {PRO: {"over_length": 1}},
        "verdicts": 0,
        "costs": _COSTS,
        "createdAt": _at("30:00"),
        "updatedAt": _at("30:06"),
        "format": "oxford",
        "config": _CONFIG,
        "stopped": False,
        "pausing": False,
        "seq": 31,
    },
    "TranscriptResponse": {
        "debate": {
            "id": DEBATE,
            "topic": TOPIC,
            "format": "oxford",
            "status": "completed",
            "createdAt": _at("30:00"),
            "completedAt": _at("32:15"),
            "duration": 135.0,
            "ending": "All rounds were held.",
        },
        **_TABLE,
        "rounds": [
            {
                "roundNumber": 1,
                "responses": [
                    {
                        "participant": NAMES[0],
                        "participantId": PRO,
                        "turn": 1,
                        "phase": "opening",
                        "title": "Opening statement",
                        "content": _WORDS,
                        "words": 6,
                        "tokensUsed": 250,
                        "estimated": False,
                        "cost": 0.015,
                        "latencyMs": 3500,
                        "flags": [],
                        "notes": [],
                        "timestamp": _at("30:03"),
                        "budget": 180,
                    }
                ],
            }
        ],
        "remarks": [],
        "verdict": _VERDICT,
        "verdicts": [_REACHED],
        "audience": None,
        "accidents": {},
        "costs": _COSTS,
    },
    "SubmitRoundResponse": _acted("Round 2 is about to begin."),
    "TriggerJudgeResponse": {
        "debateId": DEBATE,
        "status": "judge_evaluating",
        "message": "The judge evaluates what was said.",
    },
    "PauseDebateResponse": {
        "debateId": DEBATE,
        "status": "paused",
        "pausedAt": _at("31:00"),
        "pausing": True,
    },
    "ResumeDebateResponse": {"debateId": DEBATE, "status": "debating", "resumedAt": _at("31:30")},
    "StopDebateResponse": {
        "debateId": DEBATE,
        "status": "judge_evaluating",
        "stoppedAt": _at("31:40"),
        "message": "The debate was stopped; the judge evaluates what was said.",
        "stopped": True,
    },
    "ActionResponse": _acted("The speech is skipped."),
    "InjectResponse": _acted(
        "It is heard by every speech that starts from now on.", status="queued", currentStatus="debating"
    ),
    "TicketResponse": {
        "debateId": DEBATE,
        "ticket": "R3Zh1cJq0mYt8b5xkWw2nTqLx9uDf6Aa",
        "expiresIn": 60,
        "streamUrl": f"/api/v1/debates/{DEBATE}/stream?ticket=R3Zh1cJq0mYt8b5xkWw2nTqLx9uDf6Aa",
    },
    "EventPage": {
        "events": [{"seq": 2, "at": "2024-12-03T05:30:00.000120Z", "event": {"type": "debate.started"}}],
        "after": 1,
        "next": 2,
        "hasMore": True,
    },
    "InstallResponse": _INSTALL,
    "InstallsResponse": {"models": [_INSTALL], "operator": True},
    "ProvidersResponse": {
        "providers": [
            {
                "name": "anthropic",
                "title": "Anthropic",
                "ready": False,
                "local": False,
                "keyName": "ANTHROPIC_API_KEY",
                "why": None,
                "missing": "Set ANTHROPIC_API_KEY.",
                "models": ["claude-haiku-5-5"],
            }
        ],
        "default": "local/smollm2-135m",
        "token": False,
        "operator": True,
        "version": "1.0.0",
    },
    "TokensResponse": {"tokens": [_TOKEN], "needed": True},
    "TokenResponse": {**_TOKEN, "token": _SHOWN, "warning": None},
    "InstallPreviewResponse": {
        "source": "hf:Qwen/Qwen2.5-1.5B-Instruct-GGUF/qwen2.5-1.5b-instruct-q4_k_m.gguf",
        "name": "qwen2.5-1.5b",
        "title": "Qwen2.5 1.5B Instruct",
        "bytes": 1_117_320_736,
        "licence": "Apache-2.0",
        "small": True,
        "memoryBytes": 1_829_052_809,
        "tokensPerSecond": 22,
        "fits": True,
        "installed": False,
    },
    "KeyStatus": _KEY,
    "KeysResponse": {"keys": [_KEY], "editable": True, "reason": None},
    "KeyTestResponse": {
        "provider": "openai",
        "ok": False,
        "message": "OpenAI rejected OPENAI_API_KEY (401).",
        "fix": "Check that the key is complete and belongs to this service.",
    },
    "FramesResponse": {
        "frames": [{"seq": 9, "at": _at("30:03"), "ops": [["add", ["turns", "1", "text"], "Rules that"]]}],
        "after": 8,
        "next": 9,
        "hasMore": True,
    },
    "HealthResponse": {"status": "ok", "store": "ok"},
    "ServicesResponse": {"status": "healthy", "services": {"groq": "unconfigured", "langgraph": "up"}},
    "InvitationResponse": {**_INVITED, "token": _SHOWN, "link": f"/debate/{DEBATE}#token={_SHOWN}"},
    "InvitationsResponse": {"invitations": [_INVITED]},
    "SeatResponse": {
        "debateId": DEBATE,
        "seat": PRO,
        "name": NAMES[0],
        "person": True,
        "draft": "Rules that are clear cost less than",
        "turn": 1,
        "phase": "opening",
        "title": "Opening statement",
        "endsAt": _at("35:00"),
        "secondsLeft": 214.3,
        "words": 7,
        "budget": 180,
        "point": None,
    },
    "PollsResponse": {
        "debateId": DEBATE,
        "sealed": False,
        "rule": "swing",
        "choices": ["for", "against", "undecided"],
        "polls": [
            {**_poll("before", 30), "byChoice": {"for": 8, "against": 10, "undecided": 12}},
            {**_poll("after", 30), "byChoice": {"for": 16, "against": 11, "undecided": 3}},
        ],
        "headline": "For, by a swing of 23.4 points",
        "pairs": 30,
        "table": [[7, 1, 0], [1, 8, 1], [8, 2, 2]],
        "changes": [
            _change("for", 8, 16, 26.7, 22, 9),
            _change("against", 10, 11, 3.3, 20, 3),
            _change("undecided", 12, 3, -30.0, 18, 1),
        ],
        "leader": "for",
        "lead": 23.4,
        "interval": {"low": -3.3, "high": 46.7},
        "account": ["The larger change wins: 23.4 points more for For."],
        "doubts": ["The swing may be chance: the lead lies between −3.3 and 46.7 points."],
    },
    "ConversationResponse": _CONVERSATION,
    "ConversationsResponse": {
        "conversations": [_CONVERSATION],
        "total": 1,
        "limit": 20,
        "offset": 0,
        "hasMore": False,
    },
    "ConversationEventsResponse": {
        "conversationId": _CONVERSATION_ID,
        "events": [
            {
                "id": "0b8f7a52-3c9d-4a8e-8f56-0c1b7a1d2e33",
                "role": "assistant",
                "segments": [
                    _REASONING,
                    {"type": "tool_call", "id": "call_1", "name": "search", "args": {"q": "homework"}},
                    {"type": "tool_result", "id": "call_1", "output": {"found": 3}},
                    {"type": "text", "text": "There are three studies."},
                ],
                "response_metadata": {"usage": {"reasoning_tokens": 12}},
                "ts": _MILLISECONDS + 1500,
                "order_key": "a1",
                "created_at": "2025-05-01T09:00:01.500000+00:00",
            }
        ],
        "next": "0b8f7a52-3c9d-4a8e-8f56-0c1b7a1d2e33",
        "hasMore": False,
    },
    "VerdictsResponse": {"debateId": DEBATE, "verdicts": [_REACHED], "beingJudged": False},
}
"""By the name of their schema."""


def _speaking(**members: Any) -> dict[str, Any]:
    position = {key: _SPEECH[key] for key in ("turn", "speech", "phase")}
    who = {"participantId": PRO, "participantName": NAMES[0], "roundNumber": 1}
    return {**who, **members, **position, "attempt": 1}


EVENTS: dict[str, Any] = {
    "status": {
        "debateId": DEBATE,
        "state": "awaiting_arguments",
        "currentRound": 1,
        "timestamp": _at("30:02"),
        "seq": 3,
    },
    "participant": _speaking(chunk=_WORDS, done=False, timestamp=_at("30:03"), seq=9),
    "round_complete": {
        **_ROUND,
        "responses": [{**_SPEECH, "content": _WORDS, "latencyMs": 3500}],
        "timestamp": _at("30:12"),
        "seq": 27,
    },
    "judge": {
        "chunk": "After careful consideration",
        "done": False,
        "judgeId": JUDGE,
        "order": 0,
        "attempt": 1,
        "timestamp": _at("32:05"),
        "seq": 210,
    },
    "verdict": {**_VERDICT, "timestamp": _at("32:15"), "seq": 230},
    "cost_update": {
        "totalCost": 0.015,
        "costByModel": {CLAUDE: 0.015},
        "tokensUsed": {"total": 250, "byModel": _COSTS["tokensByModel"]},
        "estimated": False,
        "unpriced": [],
        "timestamp": _at("30:06"),
        "seq": 14,
    },
    "cost_warning": {
        "threshold": 3.0,
        "currentCost": 3.01,
        "percentOfLimit": 60.2,
        "message": "The debate has cost $3.01; the warning was set at $3.00.",
        "timestamp": _at("31:50"),
        "seq": 190,
    },
    "error": {
        "type": "model_error",
        "message": "The provider is overloaded.",
        "participantId": CON,
        "attempt": 1,
        "retryInMs": 1000,
        "retryable": True,
        "timestamp": _at("30:08"),
        "seq": 19,
    },
    "complete": {
        "debateId": DEBATE,
        "totalRounds": 5,
        "finalCost": 1.25,
        "duration": 135.0,
        "verdict": _VERDICT,
        "stopped": False,
        "reason": "rounds",
        "timestamp": _at("32:15"),
        "seq": 231,
    },
}
"""By the name of the event."""
ERRORS = {"participants": ["Minimum 2 participants required"], "maxRounds": ["Must be between 1 and 10"]}
"""Of a debate that cannot be opened."""
