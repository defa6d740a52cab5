// Watching a debate: a `Room` that is kept up to date, through the shared worker where the browser has one.

import { LOCKED, tokens } from './api.js';
import { Line } from './debate_socket.js';
import { Room } from './debate_view.js';
import { scriptUrl } from './trusted_types.js';

/** Returns the room and a function that leaves it. `seat`: see no more than the person of that seat. */
export function watch(debate, seat = null) {
  const room = new Room();
  const heed = {
    view(view, seq, me) {
      room.me.value = me;
      room.enter(view, seq);
    },
    frame: (frame) => room.hear(frame),
    line(state, problem) {
      room.trouble.value = problem;
      room.line.value = state;
      if (problem?.status === 401) dispatchEvent(new Event(LOCKED));
    },
  };
  const tell = (kind, ...words) => heed[kind](...words);
  const call = { debate, seat, token: tokens.for(debate), origin: location.origin };
  return { room, leave: 'SharedWorker' in globalThis ? shared(call, tell) : alone(call, tell) };
}

function shared(call, tell) {
  const { port } = new SharedWorker(scriptUrl('/static/lib/shared_worker.js'), { type: 'module', name: 'moot' });
  port.onmessage = ({ data }) => tell(...data);
  port.postMessage({ kind: 'join', ...call });
  const leave = () => port.postMessage({ kind: 'leave' });
  // A page that comes back from the browser's cache joins anew.
  const back = (event) => event.persisted && port.postMessage({ kind: 'join', ...call });
  return hurrying(() => port.postMessage({ kind: 'hurry' }), [['pagehide', leave], ['pageshow', back]], () => {
    leave();
    port.close();
  });
}

function alone(call, tell) {
  const line = new Line({ ...call, tell });
  return hurrying(() => line.hurry(), [], () => line.close());
}

function hurrying(hurry, more, leave) {
  const heard = [['online', hurry], ['focus', hurry], ...more];
  for (const [event, heed] of heard) addEventListener(event, heed);
  return () => {
    for (const [event, heed] of heard) removeEventListener(event, heed);
    leave();
  };
}
