// From setup to debate: the plan and cost that the server computes while a setup is edited, setups from links and
// earlier debates, and the request that opens the debate.

import { useEffect, useLayoutEffect, useRef, useState } from '../../vendor/preact.js';
import { get, post } from './api.js';
import { FIRST } from './motions.js';
import { returning } from './preferences.js';
import { go } from './router.js';
import { bodyOf, linked, loosened, setupOf, swapped } from './setup.js';
import { announce, complain, toast } from './ui.js';
import { install } from '../parts/model_install.js';
import { missing } from '../parts/model_readiness.js';

const SHORTEST = 10;
const STILL_MS = 250;

/** [plan, errors, whether they belong to the current setup]: speeches and cost, shortly after the last change. The setup
    has its models: see `withModels`. */
export function usePlan(setup, format) {
  const [latest, setLatest] = useState([null, {}, '']);
  const first = useRef(true);
  const body = bodyOf(setup, format);
  // An empty motion must not prevent the plan.
  if (body.topic.length < SHORTEST) body.topic = FIRST;
  const request = JSON.stringify(body);
  useEffect(() => {
    const stop = new AbortController();
    const ask = () =>
      post('/estimate', body, { signal: stop.signal }).then(
        (plan) => setLatest([plan, {}, request]),
        (error) => stop.signal.aborted || setLatest(([plan]) => [plan, error.errors ?? {}, request]),
      );
    const timer = setTimeout(ask, first.current ? 0 : STILL_MS);
    first.current = false;
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [request]);
  return [latest[0], latest[1], latest[2] === request];
}

/** A setup from a link or an earlier debate: `/#setup=…`, `/?from=ID&swap=1`. */
export function usePrefilled(at, formats, settings, change) {
  const from = at.query.get('from');
  const shared = at.hash;
  useEffect(() => {
    const fill = (setup, text, turn = false) => {
      const format = formats.find((one) => one.name === setup.format) ?? formats[0];
      const loose = loosened(setup, format);
      change(turn ? swapped(loose, format) : loose);
      go('/', { replace: true });
      toast(text, { seconds: 4 });
    };
    if (from) {
      get(`/debates/${encodeURIComponent(from)}/setup`).then(
        (body) => fill(setupOf(body, settings), 'Setup copied from the earlier debate.', at.query.get('swap') === '1'),
        complain,
      );
    } else if (shared.startsWith('#setup=')) {
      const setup = linked(shared, settings);
      if (setup) fill(setup, 'Setup copied from the link.');
      else complain(new Error('This link contains no readable setup. Ask for it again, or fill in the form.'));
    }
  }, [from, shared]);
}

/** Opens the debate and goes there; installs missing local models first. Also on Ctrl or ⌘ with Enter. */
export function useStart(setup, format, server, onWrong) {
  const busy = useRef(false);
  const start = async () => {
    if (busy.current) return;
    const length = setup.topic.trim().length;
    if (length < SHORTEST) return void refused({ errors: { topic: [length ? TOO_SHORT : NO_MOTION] } }, onWrong);
    busy.current = true;
    try {
      for (const row of missing(setup, server)) if (row.provider === 'local') await install(row.modelId);
      const { id } = await post('/debates', bodyOf(setup, format), { once: true });
      returning.value = true;
      go(`/debate/${id}`);
    } catch (error) {
      refused(error, onWrong);
    } finally {
      busy.current = false;
    }
  };
  const latest = useRef(start);
  latest.current = start;
  // Before the first paint, as for all keys.
  useLayoutEffect(() => {
    const press = (event) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
      if (document.querySelector('dialog[open]')) return;
      event.preventDefault();
      latest.current();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  return start;
}

const TOO_SHORT = `Must be between ${SHORTEST} and 500 characters`;
const NO_MOTION = 'Enter a motion, or take one of the suggestions below.';

function refused(error, onWrong) {
  const errors = error.errors ?? {};
  onWrong(errors);
  if (Object.keys(errors).length) announce(Object.values(errors).flat().join('. '));
  else complain(error);
  requestAnimationFrame(() => document.querySelector('[aria-invalid=true]')?.focus());
}
