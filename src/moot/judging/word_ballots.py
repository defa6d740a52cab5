"""Ballots of one word, for models that are too small to fill in a full one.

The judge reads what any judge reads, twice. Its reply is begun for it; the next word must be one of
the labels, and a sentence of reason follows. The probabilities that the model gave to the labels say how sure
it was: they are the points of the ballot, in percent, or the probabilities of the answers to a question. A
reply that names no label is no ballot.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from moot.core.state import Debate
from moot.core.terms import Ballot, Judge, PartyScore, Request, TokenOdds
from moot.judging.answer_ballots import party_of_choice
from moot.judging.ballots import contradicts_scores, word_beginning
from moot.judging.neutral_labels import choice_labels, labels
from moot.judging.parties import is_ranked
from moot.prompts.fences import without_fences
from moot.prompts.model_replies import UnreadableReply
from moot.prompts.small_model_prompts import whole_sentences

MAX_TOKENS = 48
"""Enough for the word and a sentence."""


def word_request(request: Request, debate: Debate, order: int) -> Request:
    """The request for a ballot as one for a single word with its reason."""
    return replace(
        request,
        max_tokens=min(request.model.max_tokens, MAX_TOKENS),
        schema=None,
        prefill=word_beginning(debate),
        words=_words(_names(debate, order)),
    )


def read_word_ballot(
    reply: str, tokens: Sequence[TokenOdds], debate: Debate, judge: Judge, order: int
) -> Ballot:
    """Raises UnreadableReply with what is wrong."""
    names, beginning = _names(debate, order), word_beginning(debate)
    words = _words(names)
    named = [index for index, word in enumerate(words) if reply.startswith(beginning + word)]
    if not named:
        raise UnreadableReply(f"it names none of: {', '.join(names)}")
    shares = word_shares(words, tokens)
    cast = Ballot(judge.id, order, None, {}, without_fences(whole_sentences(reply.strip(), 0.1)))
    if debate.setup.question is None:
        return _on_parties(cast, debate, list(labels(debate, order)), named[0], shares)
    if not shares:
        raise UnreadableReply("it does not say how probable the answer is")
    return replace(cast, winner=party_of_choice(debate, named[0]), probabilities=shares)


def word_shares(words: Sequence[str], tokens: Sequence[TokenOdds]) -> tuple[float, ...]:
    """How probable each of the words was, as shares of one; empty where nothing is known of any.

    A word counts by the first token that distinguishes it from the others, so that long words lose nothing to
    short ones; where several tokens begin it, by the most probable, which is the one that would be written. A
    word that is not among the listed tokens counts as impossible.
    """
    weights = dict.fromkeys(words, 0.0)
    written, likelihood = "", 1.0
    for token in tokens:
        for text, odds in token.odds.items():
            begun = [word for word in words if text and word.startswith(written + text)]
            if len(begun) == 1:
                weights[begun[0]] = max(weights[begun[0]], likelihood * odds)
        written += token.text
        if sum(word.startswith(written) for word in words) < 2:
            break
        likelihood *= token.odds.get(token.text, 0.0)
    total = sum(weights.values())
    return tuple(round(weight / total, 6) for weight in weights.values()) if total else ()


def _on_parties(
    cast: Ballot, debate: Debate, ids: Sequence[str], named: int, shares: Sequence[float]
) -> Ballot:
    scores = {one: PartyScore(round(100 * share, 1)) for one, share in zip(ids, shares, strict=False)}
    best_first = sorted(ids, key=lambda one: (one != ids[named], -scores[one].score)) if scores else ()
    return replace(
        cast,
        winner=ids[named],
        scores=scores,
        inconsistent=contradicts_scores(ids[named], scores),
        ranking=tuple(best_first) if is_ranked(debate) else (),
    )


def _names(debate: Debate, order: int) -> tuple[str, ...]:
    """The labels of the parties, or of the answers to the question."""
    return choice_labels(debate, order) if debate.setup.question else tuple(labels(debate, order).values())


def _words(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(f" {name}, because" for name in names)
