"""The operation ids of the API, which are the names of its routes: so generated clients call their
functions."""

from __future__ import annotations

_V1 = "/api/v1"
_DEBATE = f"{_V1}/debates/{{debateId}}"
_SEAT = f"{_DEBATE}/seats/{{seat}}"

OPERATION_IDS: dict[tuple[str, str], str] = {
    # Debates
    ("POST", f"{_V1}/debates"): "create_debate",
    ("GET", f"{_V1}/debates"): "list_debates",
    ("GET", _DEBATE): "get_debate",
    ("DELETE", _DEBATE): "delete_debate",
    ("GET", f"{_DEBATE}/status"): "get_status",
    ("GET", f"{_DEBATE}/setup"): "get_setup",
    ("GET", f"{_DEBATE}/transcript"): "export_transcript",
    # Following
    ("GET", f"{_DEBATE}/stream"): "stream_debate",
    ("GET", f"{_DEBATE}/events"): "list_events",
    ("GET", f"{_DEBATE}/events/stream"): "stream_events",
    ("GET", f"{_DEBATE}/calls/{{call}}"): "get_call",
    ("GET", f"{_DEBATE}/view"): "get_view",
    ("GET", f"{_DEBATE}/view/frames"): "list_view_frames",
    ("GET", f"{_DEBATE}/view/stream"): "stream_view",
    ("POST", f"{_DEBATE}/tickets"): "create_ticket",
    # Steering
    ("POST", f"{_DEBATE}/resume"): "resume_debate",
    ("POST", f"{_DEBATE}/skip"): "skip_speech",
    ("POST", f"{_DEBATE}/pause"): "pause_debate",
    ("POST", f"{_DEBATE}/rounds"): "start_round",
    ("POST", f"{_DEBATE}/retry"): "retry_debate",
    ("POST", f"{_DEBATE}/inject"): "inject_remark",
    ("POST", f"{_DEBATE}/extend"): "extend_debate",
    ("POST", f"{_DEBATE}/judge"): "judge_debate",
    ("POST", f"{_DEBATE}/decide"): "decide_winner",
    ("POST", f"{_DEBATE}/stop"): "stop_debate",
    ("POST", f"{_DEBATE}/abort"): "abort_debate",
    # People
    ("POST", f"{_DEBATE}/invitations"): "create_invitation",
    ("GET", f"{_DEBATE}/invitations"): "list_invitations",
    ("DELETE", f"{_DEBATE}/invitations/{{name}}"): "revoke_invitation",
    ("POST", f"{_DEBATE}/join"): "join_audience",
    ("POST", f"{_DEBATE}/questions"): "ask_question",
    ("GET", _SEAT): "get_seat",
    ("POST", f"{_SEAT}/take"): "take_seat",
    ("POST", f"{_SEAT}/leave"): "leave_seat",
    ("PUT", f"{_SEAT}/draft"): "save_draft",
    ("POST", f"{_SEAT}/speech"): "give_speech",
    ("POST", f"{_SEAT}/points"): "offer_point",
    ("POST", f"{_SEAT}/answer"): "answer_point",
    # Judging and voting
    ("POST", f"{_DEBATE}/rejudge"): "rejudge_debate",
    ("POST", f"{_DEBATE}/ballots"): "cast_ballot",
    ("GET", f"{_DEBATE}/verdicts"): "list_verdicts",
    ("GET", f"{_DEBATE}/polls"): "list_polls",
    ("POST", f"{_DEBATE}/polls/close"): "close_poll",
    ("POST", f"{_DEBATE}/votes"): "cast_vote",
    # Server
    ("POST", f"{_V1}/estimate"): "estimate_cost",
    ("GET", f"{_V1}/models"): "list_models",
    ("GET", f"{_V1}/formats"): "list_formats",
    ("GET", f"{_V1}/tools"): "list_tools",
    ("GET", f"{_V1}/statistics"): "get_statistics",
    ("GET", f"{_V1}/providers"): "list_providers",
    ("GET", f"{_V1}/providers/{{provider}}/reachable"): "check_provider",
    ("GET", f"{_V1}/extensions"): "list_extensions",
    ("GET", f"{_V1}/tokens"): "list_tokens",
    ("POST", f"{_V1}/tokens"): "create_token",
    ("DELETE", f"{_V1}/tokens/{{token}}"): "revoke_token",
    ("GET", f"{_V1}/installs"): "list_installs",
    ("POST", f"{_V1}/installs"): "install_source",
    ("POST", f"{_V1}/installs/preview"): "preview_install",
    ("POST", f"{_V1}/installs/{{model}}"): "install_model",
    ("DELETE", f"{_V1}/installs/{{model}}"): "stop_install",
    ("GET", f"{_V1}/keys"): "list_keys",
    ("PUT", f"{_V1}/keys/{{provider}}"): "save_key",
    ("DELETE", f"{_V1}/keys/{{provider}}"): "delete_key",
    ("POST", f"{_V1}/keys/{{provider}}/test"): "test_key",
    # Health
    ("GET", f"{_V1}/health"): "check_health_v1",
    ("GET", "/api/health"): "check_health_api",
    ("GET", "/health"): "check_health",
    ("GET", "/health/ready"): "check_ready",
    ("GET", "/health/live"): "check_live",
    ("GET", "/metrics"): "get_metrics",
}
