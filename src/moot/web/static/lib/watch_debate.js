// Watching a debate: a `DebateView` that is kept up to date, through the shared worker where the browser has one.

import { LOCKED, tokens } from './api.js';
import { DebateSocket } from './debate_socket.js';
import { DebateView } from './debate_view.js';

/** Returns the debate and a function that stops watching it. `seat`: see no more than the person of that seat. */
export function watch(debateId, seat = null) {
  const debate = new DebateView();
  const handlers = {
    view(view, seq, me) {
      debate.me.value = me;
      debate.enter(view, seq);
    },
    frame: (frame) => debate.apply(frame),
    line(state, problem) {
      debate.trouble.value = problem;
      debate.connection.value = state;
      if (problem?.status === 401) dispatchEvent(new Event(LOCKED));
    },
  };
  const notify = (kind, ...words) => handlers[kind](...words);
  const call = { debate: debateId, seat, token: tokens.for(debateId), origin: location.origin };
  return { debate, leave: 'SharedWorker' in globalThis ? shared(call, notify) : alone(call, notify) };
}

function shared(call, notify) {
  const { port } = new SharedWorker(scriptUrl('/static/lib/shared_worker.js'), { type: 'module', name: 'moot' });
  port.onmessage = ({ data }) => notify(...data);
  port.postMessage({ kind: 'join', ...call });
  const leave = () => port.postMessage({ kind: 'leave' });
  // A page that is restored from the browser's cache connects again.
  const back = (event) => event.persisted && port.postMessage({ kind: 'join', ...call });
  return hurrying(() => port.postMessage({ kind: 'hurry' }), [['pagehide', leave], ['pageshow', back]], () => {
    leave();
    port.close();
  });
}

function alone(call, notify) {
  const line = new DebateSocket({ ...call, notify });
  return hurrying(() => line.hurry(), [], () => line.close());
}

function hurrying(hurry, more, leave) {
  const handlers = [['online', hurry], ['focus', hurry], ...more];
  for (const [event, handler] of handlers) addEventListener(event, handler);
  return () => {
    for (const [event, handler] of handlers) removeEventListener(event, handler);
    leave();
  };
}

const policy = globalThis.trustedTypes?.createPolicy('moot', {
  createScriptURL(url) {
    if (!url.startsWith('/static/')) throw new TypeError(`not a script of ours: ${url}`);
    return url;
  },
});

const scriptUrl = (url) => policy?.createScriptURL(url) ?? url;
