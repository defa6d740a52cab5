"""What one types, command by command: shown in the help below the first sentence."""

from __future__ import annotations

FIRST = (
    'moot "Should AI development be regulated by government?"',
    'moot "Cats are better than dogs" --rounds 2 --intensity 5',
    'moot "Tea is better than coffee" --for human --against ollama/llama3.2',
    'moot "This house would ban homework" --model ollama/llama3.2 -o debate.html',
    "moot show last",
    'moot "Tabs are better than spaces" --server http://127.0.0.1:8000',
)
EXAMPLES: dict[str, tuple[str, ...]] = {
    "ask": ('moot ask last "Who pays for it?" --to for',),
    "extend": (
        "moot extend last --seconds 60",
        "moot extend last --rounds 1",
    ),
    "take": (
        "moot take last against",
        "moot watch last --as against",
    ),
    "say": (
        'moot say last "Homework widens the gap it should close."',
        "moot say last - < speech.txt",
    ),
    "point": (
        'moot point last "And who would mark it?"',
        "moot point last no",
    ),
    "vote": ("moot vote last for",),
    "ballot": ('moot ballot last against "The cost was never answered." --speeches "2 4"',),
    "rejudge": (
        "moot rejudge last --judge ollama/qwen3 --judge ollama/gemma3",
        'moot rejudge last --criterion "Who was clearer?"',
    ),
    "invite": (
        "moot invite last participant --seat against --name Zoe",
        "moot invite last audience --many",
    ),
    "export": (
        "moot export last -o debate.html",
        "moot export legacy events.jsonl",
    ),
    "import": (
        "moot import legacy postgresql://me@db.example/app --dry-run",
        "moot import legacy old.db --table events",
        "moot import sessions postgresql://me@db.example/app",
    ),
    "migrate-store": (
        "moot migrate-store sqlite:moot.db postgresql://moot@db.example/moot --dry-run",
        "moot migrate-store sqlite:moot.db postgresql://moot@db.example/moot",
        "moot migrate-store postgresql://moot@db.example/moot sqlite:back.db",
    ),
    "conversations": ("moot conversations show 6f1c1c1e-5a0e-4f0e-9d55-0d5a3c0f1a11",),
    "serve": (
        "moot serve --open",
        "moot serve --no-run --host 0.0.0.0",
    ),
    "work": (
        "moot work",
        "moot work --concurrency 20 --port 8001",
    ),
    "cluster": (
        "moot cluster status",
        "moot cluster status --json",
    ),
    "join": ("moot join last --name Zoe --server https://moot.example",),
    "watch": (
        "moot take last against",
        "moot watch last --as against",
    ),
}


def example_lines(examples: tuple[str, ...]) -> str:
    return "".join(f"  {one}\n" for one in examples)
