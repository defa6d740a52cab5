"""`moot models`: what can argue here, what it costs, and whether it works; and how hard a seat thinks."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.cli.conftest import Moot
from tests.cli.provider_service import Service
from tests.cli.terminal import Terminal, environment, piped, words
from tests.support.hub import LoopbackHub

KEY = "canary-4711-canary"


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Generator[Service]:
    """Stands where every service that Moot knows would be."""
    monkeypatch.setenv("MOOT_RETRY_BASE_MS", "1")
    with Service() as service:
        for name in ("OPENAI", "ANTHROPIC", "GEMINI", "MISTRAL", "GROQ", "OPENROUTER", "DEEPSEEK", "XAI"):
            monkeypatch.setenv(f"{name}_BASE_URL", service.url)
            monkeypatch.setenv(f"{name}_API_KEY", KEY)
        yield service


def test_a_command_that_is_nearly_right_is_suggested(moot: Moot):
    code, _, err = moot("models", "instal", "qwen2.5-1.5b")
    assert code == 2
    assert "Did you mean `moot models install`?" in " ".join(err.split())


# --- the list -----------------------------------------------------------------------------------------


def test_services_with_a_key_come_first_and_are_the_default(moot: Moot, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    code, out, _ = moot("models")
    assert code == 0
    first = out.splitlines()[1]
    assert "●" in first
    assert "groq/openai/gpt-oss-120b" in first
    assert "GROQ_API_KEY is set" in first
    assert "Run `moot keys set openai`, or set OPENAI_API_KEY." in out
    assert "Without --model a debate uses groq/openai/gpt-oss-120b" in out
    assert KEY not in out


def test_a_key_in_the_file_counts_and_is_told_by_the_name_of_the_file(moot: Moot, data: Path):
    data.mkdir()
    (data / "moot.toml").write_text(f'[keys]\nmistral = "{KEY}"\n')
    _, out, _ = moot("models")
    assert "moot.toml has its key" in out
    assert KEY not in out


def test_endpoints_and_servers_of_ones_own_are_listed(moot: Moot, data: Path):
    data.mkdir()
    with Service() as service:
        (data / "moot.toml").write_text(
            f'[endpoints.mine]\nfamily = "openai_chat"\nbase_url = "{service.url}/v1"\n'
            f'[endpoints.vllm]\nbase_url = "{service.url}"\n'
        )
        _, out, _ = moot("models")
    assert "mine/\t" in out
    assert "name a model: mine/MODEL" in out
    assert "vllm/served" in out
    assert "vLLM is running" in out
    assert "a debate uses vllm/served" in out


@pytest.mark.parametrize("said", [b'{"data": [{"id": "\xff"}]}', b"[" * 200_000, b"<html>"])
def test_whatever_else_listens_at_the_port_of_a_server_is_not_that_server(
    moot: Moot, monkeypatch: pytest.MonkeyPatch, said: bytes
):
    with Service() as service:
        service.listed = said
        for name in ("OLLAMA", "LMSTUDIO", "LLAMACPP"):
            monkeypatch.setenv(f"{name}_BASE_URL", service.url)
        code, out, err = moot("models")
    assert code == 0, err
    assert "is running" not in out


# --- what they cost -----------------------------------------------------------------------------------


def test_the_catalogue_tells_what_a_model_reads_says_costs_and_can_do(moot: Moot):
    code, out, _ = moot("models", "--prices", "anthropic")
    assert code == 0
    row = next(line for line in out.splitlines() if line.startswith("anthropic/claude-haiku-5-5\t"))
    assert row.split()[1:5] == ["1M", "128k", "0.10+", "0.50+"]
    assert "thinks (none low medium high xhigh max)" in row
    assert "JSON schema" in row
    assert "openai/" not in out


def test_the_whole_catalogue_leaves_the_longest_lists_for_later(moot: Moot):
    _, out, _ = moot("models", "--prices")
    for provider in ("openai", "anthropic", "google", "mistral", "groq"):
        assert f"\n{provider}/" in f"\n{out}"
    assert "moot models --prices openrouter" in out
    assert "\nopenrouter/" not in out


def test_prices_of_ones_own_are_told_too(moot: Moot, data: Path):
    data.mkdir()
    (data / "moot.toml").write_text('[prices."mistral/*"]\ninput = "0.5"\noutput = "1.5"\n')
    assert "mistral/*, in 0.50, out 1.50" in moot("models", "--prices", "mistral")[1]


def test_what_the_operator_wrote_about_an_endpoint_holds_in_the_catalogue(moot: Moot, data: Path):
    data.mkdir()
    (data / "moot.toml").write_text(
        '[endpoints.openai]\nverbosity = false\nschema = "json"\nefforts = ["low"]\n'
        '[prices."openai/gpt-6-luna"]\ninput = "7"\noutput = "9"\n'
    )
    _, out, _ = moot("models", "--prices", "openai")
    row = next(line for line in out.splitlines() if line.startswith("openai/gpt-6-luna\t"))
    assert row.split()[3:5] == ["7.00", "9.00"]
    assert "thinks (low), JSON, chains" in row


def test_models_on_a_machine_of_ones_own_cost_nothing(moot: Moot, data: Path):
    data.mkdir()
    (data / "moot.toml").write_text(
        '[endpoints.box]\nfamily = "openai_chat"\nbase_url = "http://box:8000/v1"\nlocal = true\n'
        '[endpoints.mine]\nfamily = "openai_chat"\nbase_url = "http://mine:8000/v1"\n'
    )
    for name in ("ollama", "lmstudio", "llamacpp", "vllm", "box"):
        assert f"The models of {name} cost nothing." in moot("models", "--prices", name)[1]
    assert "No price list knows the models of mine" in moot("models", "--prices", "mine")[1]


def test_a_provider_that_is_not_there_is_named(moot: Moot):
    code, _, err = moot("models", "--prices", "opnai")
    assert code == 2
    assert "opnai" in err
    assert "openai" in err
    assert moot("models", "openai")[0] == 2


# --- whether one works --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "path", "header"),
    [
        ("openai/gpt-6-luna", "/v1/responses", f"Bearer {KEY}"),
        ("anthropic/claude-haiku-5-5", "/v1/messages", KEY),
        ("google/gemini-3.8-flash", "/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse", KEY),
        ("mistral/mistral-small-latest", "/v1/chat/completions", f"Bearer {KEY}"),
        ("groq/openai/gpt-oss-120b", "/openai/v1/chat/completions", f"Bearer {KEY}"),
        ("openrouter/openai/gpt-oss-120b", "/api/v1/chat/completions", f"Bearer {KEY}"),
        ("deepseek/deepseek-flash", "/chat/completions", f"Bearer {KEY}"),
        ("xai/grok-4.3", "/v1/responses", f"Bearer {KEY}"),
    ],
)
def test_every_service_is_tried_in_its_own_tongue(
    moot: Moot, service: Service, model: str, path: str, header: str
):
    code, out, err = moot("models", "test", model)
    assert code == 0, out + err
    assert "It is blue." in out
    assert "20 tokens in, 10 out" in out
    assert "✓\tJSON" in out
    assert "per million tokens; this answer cost $0.0000" in out
    assert [asked[0] for asked in service.asked] == [path, path]
    assert header in service.asked[0][1].values()
    assert KEY not in out + err


def test_what_a_responses_service_shows_is_told(moot: Moot, service: Service):
    _, out, _ = moot("models", "test", "openai/gpt-6-luna")
    assert "✓\treasoning\tshown" in out
    assert "✓\tchaining\tit gave a response id" in out


def test_a_model_nobody_knows_is_allowed_and_has_no_price(moot: Moot, service: Service):
    service.figures = False
    code, out, _ = moot("models", "test", "mistral/brand-new")
    assert code == 0
    assert "not reported: costs will be estimated" in out
    assert '[prices."mistral/brand-new"] in moot.toml can tell it' in out


def test_a_refused_key_says_which_one_it_was(moot: Moot, service: Service):
    service.status, service.error = 401, {"code": "invalid_api_key", "message": f"Incorrect API key: {KEY}"}
    code, out, err = moot("models", "test", "openai/gpt-6-luna")
    assert code == 1
    assert "OpenAI rejected OPENAI_API_KEY (401)." in out
    assert "from OPENAI_API_KEY" in out
    assert "HTTP 401" in out
    assert "req-7" in out
    assert KEY not in out + err


def test_the_reason_is_told_in_the_words_of_the_service_but_without_the_key(moot: Moot, service: Service):
    service.status, service.error = 400, {"message": f"Your organization must be verified. Key {KEY}\x1b[2J"}
    code, out, err = moot("models", "test", "openai/gpt-6-luna")
    assert code == 1
    assert "The service says: Your organization must be verified. Key …" in " ".join(out.split())
    assert KEY not in out + err
    assert "\x1b" not in out


def test_what_the_line_did_is_not_put_into_the_mouth_of_the_service(
    moot: Moot, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    _, out, _ = moot("models", "test", "openai/gpt-6-luna")
    assert "In detail: " in out
    assert "The service says" not in out


def test_what_the_first_question_showed_stays_when_the_second_fails(moot: Moot, service: Service):
    service.form_status, service.error = 429, {"message": "Too many requests."}
    code, out, _ = moot("models", "test", "openai/gpt-6-luna")
    assert code == 1
    assert "✓\tanswer" in out
    assert "It is blue." in out
    assert "✗\tJSON\tOpenAI limits how often it is called (429)." in out
    assert "The service says: Too many requests." in out


def test_a_service_that_stores_nothing_cannot_be_referred_to(moot: Moot, service: Service):
    service.stores = False
    code, out, _ = moot("models", "test", "openai/gpt-6-luna")
    assert code == 0
    assert "·\tchaining\tit stores no response: the whole history will be sent" in out


def test_an_account_that_may_not_see_thoughts_is_tried_without_them(moot: Moot, service: Service):
    service.thoughts_status = 400
    service.error = {"message": "Your organization must be verified.", "param": "reasoning.summary"}
    code, out, err = moot("models", "test", "openai/gpt-6-luna")
    assert code == 0, out + err
    assert "·\treasoning\tthe service does not show it to this account" in out


def test_a_model_without_its_provider_is_given_its_whole_name(moot: Moot):
    code, _, err = moot("models", "test", "gpt-5-mini")
    assert code == 2
    assert "Did you mean openai/gpt-5-mini?" in " ".join(err.split())
    code, _, err = moot("models", "test", "gpt-99")
    assert code == 2
    assert "There is no local model gpt-99." in err


def test_an_unknown_model_is_named_and_others_are_offered(moot: Moot, service: Service):
    service.status, service.error = 404, {"code": "model_not_found", "message": "no such model"}
    code, out, _ = moot("models", "test", "mistral/nonesuch")
    assert code == 1
    assert "mistral/nonesuch" in out
    assert "moot models --prices mistral" in out


def test_a_service_that_is_not_there_names_the_variable_that_says_where_it_is(
    moot: Moot, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    code, out, _ = moot("models", "test", "openai/gpt-6-luna")
    assert code == 1
    assert "cannot be reached" in out
    assert "OPENAI_BASE_URL" in out


def test_without_a_key_the_variable_to_set_is_named(moot: Moot):
    code, _, err = moot("models", "test", "google/gemini-3.8-flash")
    assert code == 1
    assert "GEMINI_API_KEY or GOOGLE_API_KEY" in err
    assert "moot keys set google" in err


def test_the_scripted_provider_can_be_tried(moot: Moot):
    code, out, _ = moot("models", "test", "scripted/demo")
    assert code == 0
    assert "✓\tJSON" in out


def test_a_local_model_that_is_not_here_says_how_to_get_it(moot: Moot):
    code, _, err = moot("models", "test", "local/smollm2-135m")
    assert code == 1
    assert "downloads are forbidden" in err


# --- why a debate failed, and what it will cost -------------------------------------------------------

REFUSAL = "This model has moved to another plan."


def test_a_debate_that_a_service_has_refused_says_how_to_see_why(moot: Moot, service: Service):
    service.status, service.error = 400, {"message": REFUSAL}
    code, out, err = moot("A motion to try", "--model", "openai/gpt-6-luna", "--rounds", "1")
    assert code == 1
    assert "MOOT_DEBUG=1 shows what the service said." in err
    assert REFUSAL not in out + err


def test_debugging_shows_what_the_service_said_and_no_event_has_it(data: Path, service: Service):
    service.status, service.error = 400, {"message": f"{REFUSAL} {KEY}"}
    env = {**os.environ, "MOOT_DEBUG": "1"}
    ended = piped(env, "A motion to try", "--model", "openai/gpt-6-luna", "--rounds", "1", "--json")
    assert ended.returncode == 1
    assert REFUSAL in ended.stderr
    assert REFUSAL not in ended.stdout
    assert KEY not in ended.stdout + ended.stderr


def test_a_default_that_a_key_has_brought_about_is_told_with_one_that_costs_nothing(
    moot: Moot, service: Service
):
    _, out, _ = moot("A motion to try", "--rounds", "1", "--judge", "none")
    told = "Using openai/gpt-6-luna (OPENAI_API_KEY is set"
    assert told in " ".join(out.split())
    assert "Free instead: --model local/smollm2-135m" in " ".join(out.split())
    assert "Free instead" not in moot("show", "last")[1]


def test_a_model_that_was_named_needs_no_reason(
    moot: Moot, service: Service, monkeypatch: pytest.MonkeyPatch
):
    options = ("--rounds", "1", "--judge", "none")
    assert "because" not in moot("A motion to try", "--model", "openai/gpt-6-luna", *options)[1]
    monkeypatch.setenv("MOOT_MODEL", "openai/gpt-6-luna")
    assert "because" not in moot("A motion to try", *options)[1]


# --- how hard, and how much ---------------------------------------------------------------------------


def test_each_side_thinks_and_says_as_it_is_told(moot: Moot, service: Service):
    moot(
        "A motion to try", "--model", "openai/gpt-6-luna", "--rounds", "1", "--judge", "none",
        "--effort", "low", "--effort-against", "high", "--verbosity", "medium", "--verbosity-for", "low",
    )  # fmt: skip
    told = [(body["reasoning"]["effort"], body["text"]["verbosity"]) for _, _, body in service.asked]
    assert told[:2] == [("low", "low"), ("high", "medium")]


def test_the_judge_is_not_told_how_hard_to_think(moot: Moot, service: Service):
    moot("A motion to try", "--for", "openai/gpt-6-luna", "--rounds", "1", "--effort-for", "low")
    asked = [body for _, _, body in service.asked]
    efforts = [body["reasoning"].get("effort") for body in asked if "format" in body.get("text", {})]
    assert efforts
    assert set(efforts) == {None}


def test_an_effort_that_a_model_does_not_take_is_refused_with_those_it_takes(moot: Moot, service: Service):
    code, _, err = moot("A motion to try", "--model", "openai/gpt-5-mini", "--effort", "xhigh")
    assert code == 2
    assert "minimal, low, medium, high" in " ".join(err.split())
    assert moot("A motion to try", "--model", "openai/gpt-4o", "--verbosity", "low")[0] == 2
    assert moot("A motion to try", "--model", "openai/gpt-6-luna", "--effort", "ultra")[0] == 2
    assert service.asked == []


# --- the doctor ---------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="modes are a thing of POSIX")
def test_the_doctor_warns_of_keys_that_others_may_read(moot: Moot, data: Path):
    data.mkdir()
    file = data / "moot.toml"
    file.write_text(f'[keys]\nopenai = "{KEY}"\n')
    file.chmod(0o644)
    _, out, _ = moot("doctor")
    assert f"chmod 600 {shlex.quote(str(file))}" in out
    assert "moot.toml (openai)" in out
    assert KEY not in out
    file.chmod(0o600)
    assert "chmod" not in moot("doctor")[1]


def test_the_doctor_notes_a_key_that_goes_unencrypted(moot: Moot, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://gateway.example/v1")
    assert "goes unencrypted to http://gateway.example/v1" in moot("doctor")[1]
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:4000/v1")
    assert "unencrypted" not in moot("doctor")[1]


def test_a_mistake_in_the_file_is_one_clear_line(moot: Moot, data: Path):
    data.mkdir()
    (data / "moot.toml").write_text(f'[keys]\nopnai = "{KEY}"\n')
    code, _, err = moot("models")
    assert code == 2
    assert "moot.toml" in "".join(err.split())
    assert "one of its names is not that of an endpoint" in " ".join(err.split())
    assert KEY not in err
    assert json.dumps(KEY) not in err


# --- models of the hub ----------------------------------------------------------------------------------


def test_size_licence_and_memory_are_shown_before_a_download_and_one_may_decline(data: Path):
    reference = "hf:maker/Toy-GGUF/toy-q4.gguf"
    with LoopbackHub() as hub:
        hub.repos["maker/Toy-GGUF"] = {"toy-q4.gguf": b"GGUF" + b"a" * 2_000_000}
        env = environment(data, MOOT_OFFLINE="", **hub.environ)
        with Terminal(env, "models", "install", reference) as terminal:
            shown = words(terminal.until("Download it? [Y/n]"))
            assert "download 2 MB, licence Apache-2.0" in shown
            assert "needs about 602 MB of memory" in shown
            terminal.type("n\n")
            assert terminal.ended() == 1
        assert not list(data.glob("models/*.gguf"))
        done = piped(env, "models", "install", reference, "--yes")
        assert done.returncode == 0
        assert 'moot "MOTION" --model local/toy-q4' in done.stdout
        assert "installed already" in piped(env, "models", "install", reference).stdout
        assert "Removed." in piped(env, "models", "remove", "toy-q4").stdout


# --- model servers before a debate ----------------------------------------------------------------------


def test_a_model_server_is_asked_before_there_is_a_debate(
    moot: Moot, monkeypatch: pytest.MonkeyPatch, unused_tcp_port: int
):
    with Service() as service:
        monkeypatch.setenv("OLLAMA_BASE_URL", service.url)
        code, _, err = moot("Tea is better than coffee", "--model", "ollama/servd")
        assert code == 2
        said = "Ollama has no model servd. Did you mean ollama/served? To pull it: moot models install"
        assert said in " ".join(err.split())
        code, _, _ = moot(
            "Tea is better than coffee", "--model", "ollama/served", "--turns", "1", "--judge", "none"
        )
        assert code == 0
    monkeypatch.setenv("OLLAMA_BASE_URL", f"http://127.0.0.1:{unused_tcp_port}")
    code, _, err = moot("Tea is better than coffee", "--model", "ollama/served")
    assert code == 1
    assert f"Ollama is not running at http://127.0.0.1:{unused_tcp_port}." in err
    assert "ollama serve" in err


def test_models_says_what_is_missing_and_what_to_do(moot: Moot):
    code, out, _ = moot("models")
    assert code == 0
    assert "local/smollm2-135m" in out
    assert "moot models install smollm2-135m" in out
    assert "Without --model a debate uses" in out


def test_installing_without_leave_to_download_is_one_clear_line(moot: Moot):
    code, _, err = moot("models", "install", "smollm2-135m")
    assert code == 1
    assert "downloads are forbidden" in err
    assert moot("models", "install", "no-such-model")[0] == 2
