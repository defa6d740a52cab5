"""What every store must do with access tokens and invitations."""

from __future__ import annotations

from datetime import timedelta

import msgspec
import pytest

from moot.core.errors import Invalid, UnknownDebate
from moot.store.contract import AccessToken, Store, StoredInvitation, digest, new_secret
from moot.testing.store_contract.steps import Clock, open_debate


def invitation(clock: Clock, name: str, debate: str = "d1", **more: object) -> StoredInvitation:
    given = StoredInvitation(debate, name, digest(f"{debate} {name}"), "audience", clock.now)
    return msgspec.structs.replace(given, **more)


@pytest.mark.asyncio
class AccessContract:
    """Tokens by name, and invitations by debate and digest."""

    # --- tokens ---------------------------------------------------------------------------------------------

    async def test_a_token_is_kept_by_name_until_it_is_dropped(self, store: Store, clock: Clock) -> None:
        assert await store.tokens() == ()
        viewer = AccessToken(
            "zoë", digest("one"), "viewer", "theirs", clock.now, clock.now + timedelta(days=1)
        )
        owner = AccessToken("ann", digest("two"), "owner", "", clock.now)
        await store.save_token(viewer)
        await store.save_token(owner)
        assert await store.tokens() == (owner, viewer)
        newer = AccessToken("ann", digest("three"), "moderator", "ours", clock.now)
        await store.save_token(newer)
        assert await store.tokens() == (newer, viewer)
        assert await store.delete_token("ann")
        assert not await store.delete_token("ann")
        assert await store.tokens() == (viewer,)

    async def test_a_token_counts_until_it_expires(self, store: Store, clock: Clock) -> None:
        secret = new_secret()
        await store.save_token(
            AccessToken("a", digest(secret), "owner", "a", clock.now, clock.now + timedelta(days=1))
        )
        await store.save_token(AccessToken("b", digest(new_secret()), "viewer", "b", clock.now))
        tokens = await store.tokens()
        assert secret not in repr(tokens)
        assert tokens[0].digest == digest(secret) != tokens[1].digest
        assert [token.expired(clock.now) for token in tokens] == [False, False]
        clock.move(days=1)
        assert [token.expired(clock.now) for token in tokens] == [True, False]

    # --- invitations ----------------------------------------------------------------------------------------

    async def test_an_invitation_is_found_by_its_digest_until_it_is_withdrawn(
        self, store: Store, clock: Clock
    ) -> None:
        await open_debate(store)
        zoe = invitation(
            clock, "zoë", role="participant", seat="part_1", expires_at=clock.now + timedelta(days=1)
        )
        ann = invitation(clock, "ann", many=True)
        await store.add_invitation(zoe)
        await store.add_invitation(ann)
        assert await store.invitations("d1") == (ann, zoe)
        assert await store.invitations("d2") == ()
        assert await store.invitation(ann.digest) == ann
        assert await store.invitation(zoe.digest) == zoe
        assert await store.invitation(digest("another")) is None
        assert await store.delete_invitation("d1", "ann")
        assert not await store.delete_invitation("d1", "ann")
        assert await store.invitation(ann.digest) is None
        assert await store.invitations("d1") == (zoe,)

    async def test_of_one_name_there_is_one_invitation_to_a_debate(self, store: Store, clock: Clock) -> None:
        await open_debate(store, "d1")
        await open_debate(store, "d2")
        await store.add_invitation(invitation(clock, "ann"))
        await store.add_invitation(invitation(clock, "ann", "d2"))
        with pytest.raises(Invalid, match="of that name"):
            await store.add_invitation(invitation(clock, "ann", digest=digest("more")))

    async def test_an_invitation_that_has_expired_counts_for_nothing(
        self, store: Store, clock: Clock
    ) -> None:
        await open_debate(store)
        ann = invitation(clock, "ann", expires_at=clock.now + timedelta(seconds=10))
        await store.add_invitation(ann)
        clock.move(seconds=9.5)
        assert await store.invitation(ann.digest) == ann
        clock.move(seconds=0.5)
        assert await store.invitation(ann.digest) is None
        assert await store.invitations("d1") == ()
        again = invitation(clock, "ann", digest=digest("again"))
        await store.add_invitation(again)
        assert await store.invitations("d1") == (again,)

    async def test_nobody_is_invited_to_a_debate_that_does_not_exist(
        self, store: Store, clock: Clock
    ) -> None:
        with pytest.raises(UnknownDebate):
            await store.add_invitation(invitation(clock, "ann"))

    async def test_many_invitations_are_looked_up_at_once(self, store: Store, clock: Clock) -> None:
        await open_debate(store)
        ann, bob = invitation(clock, "ann"), invitation(clock, "bob")
        late = invitation(clock, "late", expires_at=clock.now + timedelta(seconds=10))
        for each in (ann, bob, late):
            await store.add_invitation(each)
        clock.now += timedelta(seconds=11)
        digests = {each.digest for each in (ann, late)} | {digest("another")}
        assert await store.invited(digests) == (ann,)
        assert set(await store.invited({ann.digest, bob.digest})) == {ann, bob}
        assert await store.invited(()) == ()

    async def test_who_joined_by_a_link_counts_no_longer_than_the_link(
        self, store: Store, clock: Clock
    ) -> None:
        await open_debate(store)
        link, other = (invitation(clock, name, many=True) for name in ("hall", "stairs"))
        zoe, kim = invitation(clock, "zoe", via=link.digest), invitation(clock, "kim", via=other.digest)
        for each in (link, other, zoe, kim):
            await store.add_invitation(each)
        assert await store.invitation(zoe.digest) == zoe
        assert await store.delete_invitation("d1", "hall")
        assert await store.invitation(zoe.digest) is None
        assert await store.invitations("d1") == (kim, other)
        # One who joins while the link is being withdrawn.
        eve = invitation(clock, "eve", via=link.digest)
        await store.add_invitation(eve)
        assert await store.invitation(eve.digest) is None
        assert await store.invited({eve.digest, kim.digest}) == (kim,)
        await store.add_invitation(invitation(clock, "hall", digest=digest("again"), many=True))
        assert await store.invitation(eve.digest) is None

    async def test_invitations_go_with_their_debate(self, store: Store, clock: Clock) -> None:
        await open_debate(store)
        ann = invitation(clock, "ann")
        await store.add_invitation(ann)
        await store.delete("d1")
        assert await store.invitation(ann.digest) is None
        assert await store.invitations("d1") == ()
