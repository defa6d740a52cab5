"""The debates of this machine: the arena, with what the terminal needs beyond it."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from moot import formats
from moot.api.v1.people_replies import invitation_reply
from moot.cli.commands.debate import DEFAULT_FORMAT, DEFAULT_ROUNDS, NO_JUDGE, DebateCliOptions
from moot.cli.render.progress import install_bar
from moot.client import Invitation
from moot.core.choices import WinningRule
from moot.core.errors import Invalid
from moot.core.terms import HUMAN, Format, InvitationRole, PollSettings
from moot.core.visibility import OWNER
from moot.engine.arena import Arena
from moot.models.discovery import FREE_MODEL
from moot.models.registry import DefaultModel
from moot.rules import participation
from moot.rules.debate_setup import SeatSetup, Setup, default_winning_rule, opening_event
from moot.store.contract import StoredInvitation, digest, new_secret
from moot.views import exports
from moot.views.poll_results import PollReport, poll_report

TURN_FORMAT = "free"


class LocalSource(Arena):
    """Use `LocalSource.open`."""

    async def start_debate(self, motion: str, options: DebateCliOptions) -> tuple[str, str]:
        """The id of the debate, and what to say below its heading. Raises Invalid.

        Models that are not installed yet are fetched, with a progress bar.
        """
        name = options.format or (TURN_FORMAT if "turns" in options.settings else DEFAULT_FORMAT)
        fmt = formats.load(name, self.settings.formats)
        models = options.models_for(len(fmt.chairs))
        default = DefaultModel("") if all(models) else await self.providers.default()
        setup = await self._setup_of(motion, options, fmt, [model or default.name for model in models])
        await self._fetch_models(setup)
        debate_id = (await self.create(setup)).debate.id
        await self.start(debate_id)
        return debate_id, _why_this_model(default)

    async def _setup_of(
        self, motion: str, options: DebateCliOptions, fmt: Format, models: list[str]
    ) -> Setup:
        settings = options.settings
        for name in settings.get("tools", ()):
            if not self.tools.knows(name):
                raise Invalid(f"There is no tool {name!r}. `moot tools` lists what there is.")
        polls = PollSettings(seconds=options.audience) if options.audience is not None else None
        winning = options.winning_rule or default_winning_rule(fmt, polls)
        usual = {"rounds": DEFAULT_ROUNDS} if fmt.name == DEFAULT_FORMAT else {}
        return await self.setup(
            motion,
            format=fmt,
            seats=[self._seat(options, index, model) for index, model in enumerate(models)],
            model=options.model,
            judge=NO_JUDGE if _has_no_judge(winning, options.judges) else None,
            judges=options.judges,
            auto=not options.manual,
            winning=winning,
            polls=polls,
            **usual | settings,
        )

    def _seat(self, options: DebateCliOptions, index: int, model: str) -> SeatSetup:
        seat = options.seat(index)
        return SeatSetup(
            model=self.model(model, effort=seat.effort, verbosity=seat.verbosity),
            persona=seat.persona,
            objective=seat.objective,
            stand_in=self.model(options.stand_in) if options.stand_in and model == HUMAN else None,
        )

    async def _fetch_models(self, setup: Setup) -> None:
        # Checked first: nothing is fetched for a debate that cannot be held.
        opening_event(setup)
        speaking = [seat.stand_in or seat.model for seat in setup.seats]
        models = [model for model in (*speaking, *(judge.model for judge in setup.judges)) if not model.human]
        with install_bar() as report:
            await self.providers.prepare(models, report)

    # --- reading ------------------------------------------------------------------------------------------

    async def document(self, debate_id: str, name: str, *, reasoning: bool = False) -> bytes:
        return exports.render(name, await self.state(debate_id), OWNER, reasoning=reasoning)

    async def poll_results(self, debate_id: str) -> PollReport | None:
        return poll_report(await self.state(debate_id))

    async def draft(self, debate_id: str, seat: str) -> str:
        return participation.draft(await self.state(debate_id), seat)

    # --- invitations --------------------------------------------------------------------------------------

    async def invite(
        self,
        debate_id: str,
        role: InvitationRole,
        *,
        seat: str | None,
        judge: str | None,
        name: str,
        days: float | None,
        many: bool,
    ) -> Invitation:
        token, now = new_secret(), datetime.now(UTC)
        name = name or f"{role}-{secrets.token_hex(4)}"
        expires_at = now + timedelta(days=days) if days is not None else None
        stored = StoredInvitation(debate_id, name, digest(token), role, now, seat, judge, many, expires_at)
        await self.store.add_invitation(stored)
        return invitation_reply(stored, token)

    async def invitations(self, debate_id: str) -> Sequence[Invitation]:
        return [invitation_reply(stored) for stored in await self.store.invitations(debate_id)]

    async def uninvite(self, debate_id: str, name: str) -> None:
        await self.store.delete_invitation(debate_id, name)


def _has_no_judge(winning: WinningRule, judges: tuple[str, ...]) -> bool:
    if winning == "user-decides" or judges == (NO_JUDGE,):
        return True
    return winning == "audience" and not judges


def _why_this_model(default: DefaultModel) -> str:
    """Where a model that no one has named costs money: why it was chosen, and which would cost nothing."""
    if not default.why:
        return ""
    return f"Using {default.name} ({default.why}). Free instead: --model {FREE_MODEL}"
