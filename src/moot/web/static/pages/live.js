// The page of a debate, live or finished.

import { html, render, useEffect, useLayoutEffect, useRef, useState } from '../../vendor/preact.js';
import { Parts } from '../lib/extensions.js';
import { jump, toEnd, useFollow } from '../lib/follow_scroll.js';
import { useAnnouncements, useTitle } from '../lib/notifications.js';
import { wide } from '../lib/preferences.js';
import { go } from '../lib/router.js';
import { seatStyle } from '../lib/seats.js';
import { Words } from '../lib/ui.js';
import { ensureStyle } from '../lib/stylesheet.js';
import { watch } from '../lib/watch_debate.js';
import { Voting } from '../parts/audience_voting.js';
import { BallotForm } from '../parts/ballot_form.js';
import { Controls, commandsFor } from '../parts/controls.js';
import { CostMeter } from '../parts/cost_meter.js';
import { AfterDebateBar, hasThoughts } from '../parts/export_menu.js';
import { NoDebate, isMissing } from '../parts/not_found.js';
import { Outline } from '../parts/outline.js';
import { ReasoningDialog } from '../parts/reasoning.js';
import { useRole } from '../parts/role_switch.js';
import { SpeechEditor } from '../parts/speech_editor.js';
import { Connection, Facts, FailureNotice, Stuck, VerdictPending } from '../parts/status.js';
import { Transcript } from '../parts/transcript.js';

await Promise.all([ensureStyle('live'), ensureStyle('verdict')]);

const sought = () => /^#turn-(\d+)$/.exec(location.hash)?.[1] ?? null;

export default function Live({ id }) {
  const [debate, enter] = useState(null);
  const { role, seat, setRole } = useRole(id);
  // A user at a seat watches as that seat: the server sends no more than it may see.
  useEffect(() => {
    const { debate, leave } = watch(id, seat);
    enter(debate);
    return leave;
  }, [id, seat]);
  if (!debate?.ready.value) return html`<${Entrance} debate=${debate} />`;
  return html`<${Chamber} key=${seat ?? ''} ...${{ debate, id, role, seat, setRole }} />`;
}

/** Shown until the debate is loaded, or instead of it. */
function Entrance({ debate }) {
  if (isMissing(debate)) return html`<${NoDebate} debate=${debate} />`;
  return html`<main id="main" class="wide" aria-busy="true">
    <h1 class="visually-hidden" tabindex="-1">Debate</h1>
    <p class="soft" role="status">${debate?.connection.value === 'lost' ? 'The server cannot be reached. Trying again…' : ''}</p>
  </main>`;
}

function Chamber({ debate, id, role, seat, setRole }) {
  const [log, showLog] = useState(false);
  const [bill, showBill] = useState(false);
  const [minds, showMinds] = useState(false);
  const page = useRef();
  // Not when it ends under the eyes of the reader: the page would move.
  const [wasOver] = useState(() => Boolean(debate.at('now').peek().endedAt));
  const goes = () => !debate.at('now').peek().endedAt;
  const following = useFollow(page, goes, sought() === null);
  useTitle(debate);
  useAnnouncements(debate);
  useSought(following);
  useVerdict(debate, following);
  const read = (number) => {
    following.value = false;
    history.replaceState(null, '', `#turn-${number}`);
    jump(number, { focus: true });
  };
  const pick = (number) => {
    showLog(false);
    // The dialog restores the focus first; then the speech gets it.
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
    ...(!debate.at('now').value.endedAt && { b: ['Reasoning, side by side', () => showMinds(true)] }),
  };
  const now = debate.at('now').value;
  const isOver = now.endedAt && !now.beingJudged && commandsFor(now, debate.me.value, role).length === 0;
  const own = seat && now.speaking.find((number) => isOwn(debate.at('turns', number).peek(), seat));
  const showsLog = { 'aria-keyshortcuts': 'g', 'aria-haspopup': 'dialog', onClick: () => showLog(true) };
  const tools = html`
    <${Connection} debate=${debate} />
    <button type="button" class="quiet" ...${showsLog}>Log</button>
    ${hasThoughts(debate) && html`<button type="button" class="quiet roomy" aria-keyshortcuts="b" aria-haspopup="dialog"
      onClick=${() => showMinds(true)}>Reasoning</button>`}
    <a class="quiet roomy" href=${stage} aria-keyshortcuts="z">Stage</a>
    <${CostMeter} debate=${debate} open=${bill} show=${showBill} />
  `;
  const rail = wide.value ? null : html`<div class="tools">${tools}</div>`;
  return html`
    <main id="main" class="chamber ${now.endedAt ? 'over' : 'going'}" ref=${page}>
      <${Transcript} debate=${debate} id=${id} keys=${keys} onPick=${read} without=${own || null} rail=${rail}
        above=${wasOver && html`<${Outcome} debate=${debate} />`}>
        <${FailureNotice} debate=${debate} id=${id} />
        <${Stuck} debate=${debate} id=${id} />
        <${VerdictPending} debate=${debate} id=${id} />
        <${Parts} place="live" debate=${debate} id=${id} /><${Facts} debate=${debate} />
        ${seat && html`<${SpeechEditor} debate=${debate} id=${id} seat=${seat} />`}
        <${Voting} debate=${debate} id=${id} />
        <${BallotForm} debate=${debate} id=${id} />
      <//>
    </main>
    <div class="queue ${following.value || now.endedAt ? '' : 'brief'}"><${Waiting} debate=${debate} /></div>
    ${wide.value && html`<${InTheTopLine}>${tools}<//>`}
    ${!following.value && !now.endedAt && html`<${FollowButton} onClick=${follow} />`}
    ${minds && html`<${ReasoningDialog} debate=${debate} onClose=${() => showMinds(false)} />`}
    ${log && html`<${Outline} debate=${debate} onPick=${pick} onClose=${() => showLog(false)} />`}
    <${Controls} ...${{ debate, id, role, seat, setRole }} />
    ${isOver && html`<section class="bar" aria-label="Afterwards"><${AfterDebateBar} debate=${debate} id=${id} /></section>`}
  `;
}

/** The result above the speeches of a debate that was over when the page was opened. */
function Outcome({ debate }) {
  const now = debate.at('now').value;
  if (!now.endedAt || now.beingJudged || now.trouble) return null;
  return html`<p class="outcome">
    <b><${Words}>${now.phase}<//></b><a class="btn" href="#verdict">See ${
      debate.keys('verdicts').value.length ? 'the verdict' : 'why'
    }</a>
  </p>`;
}

const FollowButton = (way) => html`<button type="button" class="btn follow" aria-keyshortcuts="f" ...${way}>
  <span aria-hidden="true">↓</span> Follow
</button>`;

const isOwn = (turn, seat) => turn?.seat === seat && turn.byHand;

/** Scrolls to the speech in the address, when the page is opened and when the address changes. */
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

/** When following, scrolls to the beginning of the verdict, not to its end. */
function useVerdict(debate, following) {
  const count = debate.keys('verdicts').value.length;
  const before = useRef(count);
  useEffect(() => {
    const verdict = document.getElementById('verdict');
    if (count > before.current && following.peek()) verdict?.scrollIntoView({ block: 'start' });
    before.current = count;
  }, [count]);
}

/** To the speech before or after the one at the top of the window. */
function step(by, read) {
  const speeches = [...document.querySelectorAll('.speech[id]')].filter((speech) => speech.checkVisibility());
  const margin = (speech) => Number.parseFloat(getComputedStyle(speech).scrollMarginTop);
  const top = (speech) => speech.getBoundingClientRect().top - margin(speech);
  const speech = by > 0 ? speeches.find((speech) => top(speech) > 4) : speeches.findLast((speech) => top(speech) < -4);
  if (speech) read(speech.id.slice('turn-'.length));
}

/** Renders into the top line of the frame, which is outside the page. */
function InTheTopLine({ children }) {
  const end = useRef();
  useEffect(() => {
    end.current ??= document.getElementById('end');
    if (end.current) render(html`${children}`, end.current);
  });
  useEffect(() => () => end.current && render(null, end.current), []);
  return null;
}

function Waiting({ debate }) {
  const { waiting } = debate.at('now').value;
  if (waiting.length === 0) return null;
  const { seats } = debate.at('about').value;
  return html`<section class="waiting" aria-label="Waiting to be heard">
    <h3>Waiting to be heard</h3>
    <ul class="plain">${waiting.map(
      (number) => html`<${Remark} key=${number} remark=${debate.at('remarks', number).value} seats=${seats} />`,
    )}</ul>
  </section>`;
}

const Named = ({ seat }) => html`<b data-seat style=${seatStyle(seat.color)}><bdi>${seat.name}</bdi></b>`;

function Remark({ remark, seats }) {
  if (!remark) return null;
  const to = seats.find((seat) => seat.id === remark.to);
  return html`<li>
    <span class="soft small">
      ${remark.question ? 'Question' : 'Remark'} to ${to ? html`<${Named} seat=${to} />` : 'all'}
    </span>
    <p dir="auto">${remark.text}</p>
  </li>`;
}
