"""A small service on loopback that speaks all four dialects, for programs that run in a loop of their own.

It answers a plain question with a sentence and a request for JSON with JSON, and notes what it was sent.
"""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType
from typing import Any, Self

SENTENCE, ANSWER = "It is blue.", '{"colour": "blue", "letters": 4}'
LIST = {"data": [{"id": "served"}], "models": [{"name": "served"}]}


class Service:
    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        """Path, headers and body of each request."""
        self.listings: list[dict[str, str]] = []
        """Headers of each request for the list of models."""
        self.status = 200
        self.form_status = 200
        """Of a request for JSON."""
        self.thoughts_status = 200
        """Of a request to be shown what the model thinks."""
        self.error: dict[str, Any] = {}
        self.stores = True
        self.listed = json.dumps(LIST).encode()
        self.figures = True
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = Thread(target=self._server.serve_forever, args=(0.02,), name="service", daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def reply(self, path: str, body: dict[str, Any]) -> bytes:
        said = ANSWER if wants_form(body) else SENTENCE
        if path.endswith("/responses"):
            return responses(said, self.figures, self.stores)
        if path.endswith("/messages"):
            return messages(said)
        if "streamGenerateContent" in path:
            return contents(said)
        return completions(said, self.figures)

    def status_of(self, body: dict[str, Any]) -> int:
        if self.thoughts_status != 200 and "summary" in body.get("reasoning", {}):
            return self.thoughts_status
        return self.form_status if self.form_status != 200 and wants_form(body) else self.status

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                headers = {name.lower(): value for name, value in self.headers.items()}
                service.asked.append((self.path, headers, body))
                status = service.status_of(body)
                if status == 200:
                    self._say(200, service.reply(self.path, body), "text/event-stream")
                else:
                    self._say(status, json.dumps({"error": service.error}).encode())

            def do_GET(self) -> None:
                service.listings.append(dict(self.headers))
                self._say(200, service.listed)

            def _say(self, status: int, said: bytes, kind: str = "application/json") -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(said)))
                self.send_header("x-request-id", "req-7")
                self.end_headers()
                self.wfile.write(said)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler


def events(*said: dict[str, Any]) -> bytes:
    return b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in said)


def wants_form(body: dict[str, Any]) -> bool:
    sent = json.dumps(body)
    return any(word in sent for word in ("json_schema", "json_object", "application/json"))


def responses(said: str, figures: bool, stores: bool = True) -> bytes:
    thought = {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "Look up."}]}
    words = {"type": "output_text", "text": said, "annotations": []}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [words]}
    usage = {"input_tokens": 20, "output_tokens": 10, "output_tokens_details": {"reasoning_tokens": 5}}
    whole = {"id": "resp_1", "status": "completed", "store": stores, "output": [thought, message]}
    delta = {"output_index": 1, "item_id": "msg_1", "content_index": 0, "delta": said}
    told = (
        {"type": "response.created", "response": {"id": "resp_1", "store": stores}},
        {"type": "response.output_item.done", "output_index": 0, "item": thought},
        {"type": "response.output_text.delta", **delta},
        {"type": "response.output_item.done", "output_index": 1, "item": message},
        {"type": "response.completed", "response": {**whole, "usage": usage if figures else None}},
    )
    return events(*({**event, "sequence_number": number} for number, event in enumerate(told)))


def messages(said: str) -> bytes:
    usage = {"input_tokens": 20, "output_tokens": 1}
    return events(
        {"type": "message_start", "message": {"id": "msg_1", "content": [], "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": said}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 10}},
        {"type": "message_stop"},
    )


def contents(said: str) -> bytes:
    candidate = {"content": {"role": "model", "parts": [{"text": said}]}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 20, "candidatesTokenCount": 10, "totalTokenCount": 30}
    return events({"candidates": [candidate], "usageMetadata": usage, "responseId": "g_1"})


def completions(said: str, figures: bool) -> bytes:
    begin = {"index": 0, "delta": {"role": "assistant", "content": said}, "finish_reason": None}
    end = {"index": 0, "delta": {}, "finish_reason": "stop"}
    usage = {"usage": {"prompt_tokens": 20, "completion_tokens": 10}} if figures else {}
    chunks = ({"id": "c_1", "choices": [begin]}, {"id": "c_1", "choices": [end], **usage})
    return events(*chunks) + b"data: [DONE]\n\n"
