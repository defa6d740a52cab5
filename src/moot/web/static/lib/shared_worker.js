// One connection per debate for all tabs: browsers limit the connections to a host.

import { DebateSocket } from './debate_socket.js';

const lines = new Map();

onconnect = ({ ports: [port] }) => {
  const notify = (...words) => port.postMessage(words);
  let line = null;
  let key = null;
  const leave = () => {
    line?.leave(notify);
    // An ended connection may already be replaced.
    if (line?.closed && lines.get(key) === line) lines.delete(key);
    line = null;
  };
  port.addEventListener('close', leave);
  port.onmessage = ({ data }) => {
    if (data.kind === 'leave') leave();
    else if (data.kind === 'hurry') line?.hurry();
    else if (data.kind === 'join') {
      leave();
      key = JSON.stringify([data.debate, data.seat, data.token]);
      line = join(key, data, notify);
    }
  };
};

function join(key, { debate, seat, token, origin }, notify) {
  const known = lines.get(key);
  if (known && !known.closed) {
    known.join(notify);
    return known;
  }
  const line = new DebateSocket({ debate, seat, token, origin, notify });
  lines.set(key, line);
  return line;
}
