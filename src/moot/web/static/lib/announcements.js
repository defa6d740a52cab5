// What is said to those who do not see the page: who begins, who has finished, what comes next, the verdict.
// Never the words of a speech as they come.

import { effect, useEffect } from '../../vendor/preact.js';
import { announce } from './ui.js';

export function useSayings(room) {
  useEffect(() => {
    let before = null;
    return effect(() => {
      const now = room.at('now').value;
      if (before) {
        const news = changes(room, before, now).join(' ');
        if (news) announce(news);
      }
      before = now;
    });
  }, [room]);
}

function changes(room, before, now) {
  const { seats } = room.at('about').peek();
  const turn = (number) => room.at('turns', number).peek();
  const name = (number) => seats.find((seat) => seat.id === turn(number)?.seat)?.name;
  const ended = before.speaking.filter((number) => !now.speaking.includes(number));
  const begun = now.speaking.filter((number) => !before.speaking.includes(number));
  const said = [
    ...ended.map((number) => `${name(number)} has finished.`),
    ...begun.map((number) => `${name(number)} begins: ${turn(number)?.title}.`),
  ];
  if (now.phase !== before.phase && begun.length === 0 && now.speaking.length === 0) said.push(`${now.phase}.`);
  if (now.state === 'paused' && before.state !== 'paused') said.push('Paused.');
  if (now.trouble && !before.trouble) said.push(`${now.trouble.title}.`);
  return said;
}
