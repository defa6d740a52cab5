"""No tokenizer makes more tokens of a text than the bound that is reserved for it."""

from __future__ import annotations

import base64
import random
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.terms import Model
from moot.core.token_bounds import TOKENIZERS, most_tokens, tokens_by_script
from tests.rules.random_debates import LAW

splintr = pytest.importorskip("splintr", reason="the extra `tokenizers` is not installed")

IN_USE = (
    *(
        "o200k_base",
        "cl100k_base",
        "llama3",
        "deepseek_v3",
        "mistral_v3",
        "gemma2",
        "gemma3",
        "gemma4",
        "qwen2",
    ),
    *("qwen3", "glm4", "kimi_k2", "phi4", "olmo2"),
)
"""Of models that are still served; the tokenizers of 2023 with 32,000 tokens are not among them."""
_chance = random.Random(1)
TEXTS = {
    "prose": "The proposition claims that rules slow progress; aviation, medicine and banking say otherwise. "
    * 9,
    "short words": " a" * 300,
    "capitals": "THE HOUSE BELIEVES THAT HOMEWORK SHOULD BE BANNED. " * 9,
    "code": "def cost(price: Price | None, usage: Usage) -> Money:\n    return price.input * usage[0]\n" * 9,
    "digits": "".join(_chance.choice("0123456789") for _ in range(600)),
    "numbers": " ".join(str(_chance.randrange(10**6)) for _ in range(200)),
    "random letters": "".join(_chance.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(900)),
    "random words": " ".join("".join(_chance.choices("abcdefghijklmnopqrstuvwxyz", k=5)) for _ in range(200)),
    "base64": base64.b64encode(_chance.randbytes(900)).decode(),
    "hexadecimal": _chance.randbytes(600).hex(),
    "signs": "".join(_chance.choice("!@#$%^&*()_+-=[]{};:,.<>/?|`~") for _ in range(600)),
    "white space": "\n\t \n" * 200,
    "Finnish": "Tekoälyn kehittämistä tulisi säännellä, jotta kansalaisten oikeudet turvataan. " * 5,
    "German": "Rechtsschutzversicherungsgesellschaften müssen öffentlich geprüft werden. " * 5,
    "Russian": "Следует ли правительству регулировать развитие искусственного интеллекта? " * 5,
    "Greek": "Πρέπει η κυβέρνηση να ρυθμίζει την ανάπτυξη της τεχνητής νοημοσύνης; " * 5,
    "Arabic": "هل يجب على الحكومة تنظيم تطوير الذكاء الاصطناعي؟ " * 5,
    "Hebrew": "האם על הממשלה להסדיר את פיתוח הבינה המלאכותית? " * 5,
    "Hindi": "क्या सरकार को कृत्रिम बुद्धिमत्ता के विकास को विनियमित करना चाहिए? " * 5,
    "Thai": "รัฐบาลควรกำกับดูแลการพัฒนาปัญญาประดิษฐ์หรือไม่ " * 5,
    "Tamil": "அரசாங்கம் செயற்கை நுண்ணறிவை ஒழுங்குபடுத்த வேண்டுமா? " * 5,
    "Georgian": "უნდა არეგულირებდეს თუ არა მთავრობა ხელოვნური ინტელექტის განვითარებას? " * 5,
    "Amharic": "መንግሥት የሰው ሰራሽ ብልህነትን መቆጣጠር አለበት? " * 5,
    "Chinese": "政府是否应该监管人工智能的发展？反方认为监管会阻碍创新。" * 5,
    "Japanese": "政府は人工知能の開発を規制すべきでしょうか。反対側は妨げると主張する。" * 5,
    "Korean": "정부가 인공지능 개발을 규제해야 하는가? 반대 측은 혁신을 저해한다고 주장한다. " * 5,
    "Vietnamese": "Chính phủ có nên điều chỉnh sự phát triển của trí tuệ nhân tạo không? " * 5,
    "emoji": "👍🏽👩‍👩‍👧‍👦🔥💯🦤🫠" * 20,
    "rare scripts": "".join(chr(_chance.randrange(0x400, 0x1FFF)) for _ in range(400)),
}


@cache
def tokenizer(name: str) -> Any:
    return splintr.Tokenizer.from_pretrained(name)


@pytest.mark.parametrize("kind", TEXTS)
def test_no_tokenizer_in_use_makes_more_tokens_than_the_count_by_script(kind: str) -> None:
    text = TEXTS[kind]
    bound = tokens_by_script(text)
    counts = {name: len(tokenizer(name).encode(text)) for name in IN_USE}
    # Some tokenizers begin every text with a token of its own, which the overhead of a message covers.
    assert {name: count for name, count in counts.items() if count > bound + 1} == {}
    assert bound <= len(text.encode())


@given(st.text(max_size=200))
@LAW
def test_the_bound_of_any_text_is_at_most_its_bytes(text: str) -> None:
    assert tokens_by_script(text) <= len(text.encode()) + 1


@given(st.text(max_size=80))
@LAW
def test_no_text_has_more_tokens_than_its_bound(text: str) -> None:
    assert len(tokenizer("o200k_base").encode(text)) <= tokens_by_script(text) + 1


@pytest.mark.parametrize(
    "label", ["openai/gpt-6", "mistral/mistral-large", "deepseek/deepseek-v4", "google/gemini-4"]
)
def test_where_the_tokenizer_is_known_it_counts(label: str) -> None:
    provider, _, name = label.partition("/")
    text = TEXTS["prose"]
    counted = most_tokens(text, Model(provider, name))
    exact = next(len(tokenizer(found).encode(text)) for pattern, found in TOKENIZERS if pattern.match(label))
    assert exact <= counted <= exact * 1.1
    assert counted < tokens_by_script(text) / 2


def test_an_unknown_model_is_counted_by_script() -> None:
    text = TEXTS["prose"]
    assert most_tokens(text, Model("acme", "oracle")) == tokens_by_script(text)
