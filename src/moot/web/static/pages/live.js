// The chamber: a debate as it is held, and as it was held when it is over.

import { html, render, useEffect, useLayoutEffect, useRef, useState } from '../../vendor/preact.js';
import { jump, toEnd, useFollow } from '../lib/follow_scroll.js';
import { go } from '../lib/router.js';
import { useSayings } from '../lib/announcements.js';
import { wide } from '../lib/viewport.js';
import { ensureStyle } from '../lib/stylesheet.js';
import { useTitle } from '../lib/title.js';
import { watch } from '../lib/watch_debate.js';
import { BallotForm } from '../parts/ballot_form.js';
import { Controls, deedsFor } from '../parts/controls.js';
import { Desk } from '../parts/speech_editor.js';
import { AfterBar } from '../parts/export_menu.js';
import { Floor } from '../parts/transcript.js';
import { Money } from '../parts/cost_meter.js';
import { Outline } from '../parts/outline.js';
import { Waiting } from '../parts/pending_remarks.js';
import { useRole } from '../parts/role_switch.js';
import { Awaited, Connection, Stuck, Trouble } from '../parts/status.js';
import { Voting } from '../parts/audience_voting.js';

await Promise.all([ensureStyle('live'), ensureStyle('verdict')]);

const sought = () => /^#turn-(\d+)$/.exec(location.hash)?.[1] ?? null;

export default function Live({ id }) {
  const [room, enter] = useState(null);
  const { role, seat, setRole } = useRole(id);
  // Whoever sits down watches as that seat: the server then shows no more than it may see.
  useEffect(() => {
    const { room, leave } = watch(id, seat);
    enter(room);
    return leave;
  }, [id, seat]);
  if (!room?.ready.value) return html`<${Entrance} room=${room} />`;
  return html`<${Chamber} key=${seat ?? ''} ...${{ room, id, role, seat, setRole }} />`;
}

const CLOSED = {
  gone: ['There is no such debate', 'It may have been deleted, or the address is wrong.'],
  denied: ['This debate is not open to you', 'It needs an invitation, or a token of your own.'],
};

/** Before one is let in, or instead of it. */
function Entrance({ room }) {
  const line = room?.line.value;
  const closed = CLOSED[line];
  if (!closed) {
    return html`<main id="main" class="wide" aria-busy="true">
      <h1 class="visually-hidden" tabindex="-1">Debate</h1>
      <p class="soft" role="status">${line === 'lost' ? 'The server cannot be reached. Trying again…' : ''}</p>
    </main>`;
  }
  return html`<main id="main" class="wide"><div class="empty stack">
    <h1 tabindex="-1">${closed[0]}</h1>
    <p>${(line === 'denied' && room.trouble.value?.detail) || closed[1]}</p>
    <p class="row">
      <a class="btn" href="/debates">All debates</a>
      ${line === 'denied' && html`<a class="btn" href="/settings">Settings</a>`}
    </p>
  </div></main>`;
}

function Chamber({ room, id, role, seat, setRole }) {
  const [log, showLog] = useState(false);
  const [bill, showBill] = useState(false);
  const page = useRef();
  const goes = () => !room.at('now').peek().endedAt;
  const following = useFollow(page, goes, sought() === null);
  useTitle(room);
  useSayings(room);
  useSought(following);
  useVerdict(room, following);
  const read = (number) => {
    following.value = false;
    history.replaceState(null, '', `#turn-${number}`);
    jump(number, { focus: true });
  };
  const pick = (number) => {
    showLog(false);
    // The sheet gives the focus back to where it was; the speech has it afterwards.
    setTimeout(() => read(number));
  };
  const follow = () => {
    following.value = true;
    toEnd();
  };
  const stage = `/debate/${id}/stage`;
  const keys = {
    f: ['Follow what is being said', follow],
    g: ['Log, with a way to every speech', () => showLog(true)],
    ArrowLeft: ['Speech before', () => step(-1, read)],
    ArrowRight: ['Next speech', () => step(1, read)],
    $: ['Cost and tokens by model', () => showBill(true)],
    z: ['Stage, for a projector', () => go(stage)],
  };
  const now = room.at('now').value;
  const isOver = now.endedAt && !now.beingJudged && deedsFor(now, room.me.value, role).length === 0;
  const own = seat && now.speaking.find((number) => isOwn(room.at('turns', number).peek(), seat));
  const showsLog = { 'aria-keyshortcuts': 'g', 'aria-haspopup': 'dialog', onClick: () => showLog(true) };
  const tools = html`
    <${Connection} room=${room} />
    <button type="button" class="quiet" ...${showsLog}>Log</button>
    <a class="quiet roomy" href=${stage} aria-keyshortcuts="z">Stage</a>
    <${Money} room=${room} open=${bill} show=${showBill} />
  `;
  const rail = wide.value ? null : html`<div class="tools">${tools}</div>`;
  return html`
    <main id="main" class="chamber ${now.endedAt ? 'over' : 'going'}" ref=${page}>
      <${Floor} room=${room} id=${id} keys=${keys} onPick=${read} without=${own || null} rail=${rail}>
        <${Trouble} room=${room} id=${id} />
        <${Stuck} room=${room} id=${id} />
        <${Awaited} room=${room} />
        ${seat && html`<${Desk} room=${room} id=${id} seat=${seat} />`}
        <${Voting} room=${room} id=${id} />
        <${BallotForm} room=${room} id=${id} />
      <//>
    </main>
    <div class="queue ${following.value || now.endedAt ? '' : 'brief'}"><${Waiting} room=${room} /></div>
    ${wide.value && html`<${InTheTopLine}>${tools}<//>`}
    ${!following.value && !now.endedAt && html`<${FollowButton} onClick=${follow} />`}
    ${log && html`<${Outline} room=${room} onPick=${pick} onClose=${() => showLog(false)} />`}
    <${Controls} ...${{ room, id, role, seat, setRole }} />
    ${isOver && html`<section class="bar" aria-label="Afterwards"><${AfterBar} room=${room} id=${id} /></section>`}
  `;
}

const FollowButton = (way) => html`<button type="button" class="btn follow" aria-keyshortcuts="f" ...${way}>
  <span aria-hidden="true">↓</span> Follow
</button>`;

const isOwn = (turn, seat) => turn?.seat === seat && turn.byHand;

/** A link to a speech leads there, when the page is opened and afterwards. */
function useSought(following) {
  useLayoutEffect(() => {
    const look = () => {
      const number = sought();
      if (number && jump(number)) following.value = false;
    };
    look();
    addEventListener('hashchange', look);
    return () => removeEventListener('hashchange', look);
  }, []);
}

/** Whoever follows is led to the beginning of the verdict, not past it. */
function useVerdict(room, following) {
  const count = room.keys('verdicts').value.length;
  const before = useRef(count);
  useEffect(() => {
    const verdict = document.getElementById('verdict');
    if (count > before.current && following.peek()) verdict?.scrollIntoView({ block: 'start' });
    before.current = count;
  }, [count]);
}

/** To the speech before or behind the one at the top of the window. */
function step(by, read) {
  const speeches = [...document.querySelectorAll('.speech[id]')].filter((speech) => speech.checkVisibility());
  const margin = (speech) => Number.parseFloat(getComputedStyle(speech).scrollMarginTop);
  const top = (speech) => speech.getBoundingClientRect().top - margin(speech);
  const found = by > 0 ? speeches.find((speech) => top(speech) > 4) : speeches.findLast((speech) => top(speech) < -4);
  if (found) read(found.id.slice('turn-'.length));
}

/** At the end of the page's top line, which stands outside of it. */
function InTheTopLine({ children }) {
  const end = useRef();
  useEffect(() => {
    end.current ??= document.getElementById('end');
    if (end.current) render(html`${children}`, end.current);
  });
  useEffect(() => () => end.current && render(null, end.current), []);
  return null;
}
