// One connection per debate for all tabs: browsers limit the connections to a host.

import { DebateSocket } from './debate_socket.js';

const lines = new Map();

onconnect = ({ ports: [port] }) => {
  let line = null;
  const leave = () => {
    if (!line) return;
    line.ports.delete(port);
    if (line.ports.size === 0) {
      line.close();
      // An ended connection may already be replaced.
      if (lines.get(line.key) === line) lines.delete(line.key);
    }
    line = null;
  };
  port.addEventListener('close', leave);
  port.onmessage = ({ data }) => {
    if (data.kind === 'leave') leave();
    else if (data.kind === 'hurry') line?.hurry();
    else if (data.kind === 'join') {
      leave();
      line = join(data, port);
    }
  };
};

function join({ debate, seat, token, origin }, port) {
  const key = JSON.stringify([debate, seat, token]);
  const known = lines.get(key);
  if (known && !known.closed) {
    known.ports.add(port);
    if (known.view) port.postMessage(['view', known.view, known.seq, known.me]);
    port.postMessage(['line', known.state, null]);
    return known;
  }
  const ports = new Set([port]);
  const line = new DebateSocket({
    debate,
    seat,
    token,
    origin,
    tell: (...words) => ports.forEach((one) => one.postMessage(words)),
  });
  lines.set(key, Object.assign(line, { key, ports }));
  return line;
}
