// The sample debate on the start page. It plays by itself and silently, can be paused, restarted and stepped through,
// and stops while it is out of view. With reduced motion it stands still and is stepped through by a button.

import { html, useComputed, useEffect, useMemo, useRef, useState } from '../../vendor/preact.js';
import { Recording, RecordingPlayer, unpacked, useScreen } from '../lib/playback.js';
import { isStill } from '../lib/preferences.js';
import { partiesOf, seatStyle } from '../lib/seats.js';
import { ensureStyle } from '../lib/stylesheet.js';
import { progress } from '../lib/timeline.js';
import { Failed, Words, announce, useLoaded } from '../lib/ui.js';
import { Order } from './speech_strip.js';
import { Log } from './transcript.js';
import { Doubt } from './verdict_chart.js';

await Promise.all([ensureStyle('live'), ensureStyle('verdict')]);

/** Within this many pixels of the end the text is followed. */
const NEAR = 80;
/** Above a speech that is shown from its beginning. */
const GAP = 16;

async function load(signal) {
  const reply = await fetch('/static/sample_debate.json', { signal });
  if (!reply.ok) throw new Error('The sample debate could not be loaded.');
  return reply.json();
}

export default function SampleDebate() {
  const [data, error, again] = useLoaded(load);
  if (error) return html`<${Failed} error=${error} again=${again} />`;
  return data && html`<${Sample} data=${data} />`;
}

function Sample({ data }) {
  const player = useMemo(() => new RecordingPlayer(new Recording(unpacked(data))), []);
  const wanted = useRef(!isStill());
  const box = useRef();
  useState(() => wanted.current || step(player));
  useScreen(player);
  usePlayInView(player, box, wanted);
  const follow = useFollow(box, player);
  const to = (time) => {
    follow();
    player.show(time);
  };
  const { debate, recording } = player;
  const toggle = () => {
    follow();
    player.toggle();
    wanted.current = player.playing.peek();
  };
  const next = () => {
    player.pause();
    wanted.current = false;
    follow();
    step(player);
    announce(said(player));
  };
  const pick = (slot) => {
    const turn = recording.marks.find((mark) => mark.slot === slot);
    if (turn) to(turn.at);
  };
  return html`
    <header>
      <p class="overline"><b>Sample</b> · written for this page</p>
      <${Motion} debate=${debate} />
    </header>
    <div class="scene" ref=${box} tabindex="0" role="region" aria-label="Speeches of the sample debate">
      <${Log} debate=${debate} open />
      <${Decision} debate=${debate} />
    </div>
    <footer>
      <${Toggle} player=${player} onClick=${toggle} />
      <${Next} player=${player} onClick=${next} />
      <${Strip} debate=${debate} onPick=${pick} />
    </footer>`;
}

function Motion({ debate }) {
  const { motion, seats } = debate.at('about').value;
  const name = (seat) => html`<span data-seat style=${seatStyle(seat.color)}>${seat.name} <i>${seat.position}</i></span>`;
  return html`<h2>${motion}</h2>
    <p class="cast">${name(seats[0])} <em>versus</em> ${name(seats[1])}</p>`;
}

function Toggle({ player, onClick }) {
  const what = player.playing.value ? 'Pause' : player.ended ? 'Play again' : 'Play';
  return html`<button type="button" class="btn" onClick=${onClick}>${what}</button>`;
}

function Next({ player, onClick }) {
  return html`<button type="button" class="btn" disabled=${player.ended} onClick=${onClick}>Next</button>`;
}

function Strip({ debate, onPick }) {
  const { seats, order } = debate.at('about').value;
  const shown = useComputed(() => progress(debate)).value;
  const colours = Object.fromEntries(seats.map((seat) => [seat.id, seat.color]));
  const names = Object.fromEntries(seats.map((seat) => [seat.id, seat.name]));
  return html`<${Order} order=${order} colours=${colours} names=${names} label="Speeches of the sample"
    done=${shown.done} now=${shown.now} onPick=${onPick} />`;
}

/** The result, what weakens it, and the ballots drawn. */
function Decision({ debate }) {
  const [key] = debate.keys('verdicts').value;
  const { beingJudged } = debate.at('now').value;
  if (beingJudged) return html`<p class="judging">Judging…</p>`;
  if (key === undefined) return null;
  const verdict = debate.at('verdicts', key).value;
  const about = debate.at('about').value;
  const winner = partiesOf(about).get(verdict.winner);
  return html`<section class="verdict" aria-label="Verdict of the sample">
    <p class="overline">Verdict · ${verdict.judges.length} judges, ${verdict.readings}</p>
    <h3 class="headline" data-seat style=${winner?.style ?? ''}><${Words}>${verdict.title}<//></h3>
    <ul class="doubts" aria-label="What weakens it">${verdict.doubts.map((doubt) => html`<li key=${doubt}>${doubt}</li>`)}</ul>
    <${Doubt} verdict=${verdict} about=${about} />
  </section>`;
}

/** To the end of the current speech or of the next one; at last to the verdict. */
function step(player) {
  const { recording } = player;
  const now = player.time.peek();
  const ends = recording.marks.filter((mark) => mark.kind !== 'judging').map((mark) => mark.end);
  player.show(ends.find((end) => end > now + 1) ?? recording.duration);
}

/** For screen readers: what a step has brought. */
function said({ debate, recording, time }) {
  const mark = recording.markAt(time.peek());
  if (mark?.kind !== 'speech') return debate.view.verdicts?.['0']?.title ?? '';
  return debate.view.turns[mark.turn]?.text ?? '';
}

/** Plays while it is in view and `wanted`: the user has not paused it. */
function usePlayInView(player, box, wanted) {
  useEffect(() => {
    const watcher = new IntersectionObserver(([{ isIntersecting }]) => {
      if (isIntersecting && wanted.current && !player.ended) player.play();
      else if (!isIntersecting) player.pause();
    });
    watcher.observe(box.current);
    return () => {
      watcher.disconnect();
      player.pause();
    };
  }, []);
}

/** While it plays, keeps the end of the text in view until the user scrolls up. After a step, and for the verdict, shows
    what is new from its beginning. */
function useFollow(box, player) {
  const following = useRef(true);
  useEffect(() => {
    const own = box.current;
    const heed = () => (following.current = own.scrollHeight - own.clientHeight - own.scrollTop < NEAR);
    const show = () => {
      if (!following.current) return;
      const last = own.querySelector('.verdict') ?? (player.playing.peek() ? null : latest(own));
      own.scrollTop = last ? last.offsetTop - own.offsetTop - GAP : own.scrollHeight;
    };
    const sizes = new ResizeObserver(show);
    const watch = () => [...own.children].forEach((child) => sizes.observe(child));
    const children = new MutationObserver(watch);
    children.observe(own, { childList: true });
    watch();
    const ways = ['wheel', 'touchmove', 'keyup'];
    ways.forEach((way) => own.addEventListener(way, heed, { passive: true }));
    return () => {
      sizes.disconnect();
      children.disconnect();
    };
  }, []);
  return () => (following.current = true);
}

/** The last speech, with the round or the point that stands before it. */
function latest(scene) {
  const entry = [...scene.querySelectorAll('.entry')].at(-1);
  const before = entry?.previousElementSibling;
  return before?.matches('.round, .remark') ? before : entry;
}
