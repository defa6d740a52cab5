// One call to a model: the request on one side, the reply on the other, segment by segment, as the log has it.

import { html } from '../../vendor/preact.js';
import { get } from '../lib/api.js';
import { exactDollars, figure, plural } from '../lib/numbers.js';
import { Copy, Failed, useLoaded } from '../lib/ui.js';

const ROLES = { user: 'user', assistant: 'assistant: its own earlier words' };
const SEGMENTS = {
  text: 'Text',
  reasoning: 'Reasoning',
  tool_call: 'Tool call',
  tool_result: 'Tool result',
  completion_status: 'How it ended',
  unknown_item: 'Unknown item',
};

export function Call({ id, number }) {
  const [call, error, again] = useLoaded((signal) => get(`/debates/${id}/calls/${number}`, { signal }), [number]);
  if (error) return html`<${Failed} error=${error} again=${again} />`;
  if (!call) return html`<p class="soft" role="status">Reading…</p>`;
  return html`<div class="exchange">
    <section aria-label="What it was sent"><${Sent} sent=${call.sent} /></section>
    <section aria-label="What came back"><${Got} call=${call} /></section>
  </div>`;
}

function Sent({ sent }) {
  if (!sent) return html`<h3>Sent</h3><p class="soft">The request is not kept any more.</p>`;
  const { model, instructions, messages = [], fresh = [], schema, prefill, ...rest } = sent;
  const facts = { model: `${model.provider}/${model.name}`, temperature: model.temperature, ...rest };
  return html`
    <header><h3>Sent</h3><${Copy} class="plain" text=${() => pretty(sent)} label="Copy JSON" /></header>
    <${Facts} of=${facts} />
    ${instructions && html`<${Piece} title="Instructions" text=${instructions} open />`}
    ${messages.map(
      (message, index) => html`<${Message} key=${index} message=${message} open=${index === messages.length - 1} />`,
    )}
    ${fresh.length > 0 && html`<p class="soft small">The provider remembers the rest; only this was new:</p>`}
    ${fresh.map((message, index) => html`<${Message} key=${`f${index}`} message=${message} open />`)}
    ${prefill && html`<${Piece} title="Begun for it" text=${prefill} open />`}
    ${schema && html`<${Piece} title="Shape of the reply" text=${pretty(schema)} />`}
    <${Piece} title="The whole request" text=${pretty(sent)} />
  `;
}

function Message({ message, open }) {
  const sealed = message.sealed?.length ?? 0;
  return html`<${Piece} title=${ROLES[message.role] ?? message.role} text=${message.content} open=${open}
    more=${sealed > 0 && `with ${sealed} of its own sealed thoughts`} />`;
}

function Got({ call }) {
  const { got: { segments, text, reasoning }, outcome } = call;
  return html`
    <header>
      <h3>Came back</h3>
      <${Copy} class="plain" text=${() => pretty({ got: call.got, outcome })} label="Copy JSON" />
    </header>
    ${outcome ? html`<${Outcome} outcome=${outcome} />` : html`<p class="soft" role="status">Nothing final yet.</p>`}
    ${segments.map((segment, index) => html`<${Segment} key=${index} segment=${segment} />`)}
    ${!segments.length && reasoning && html`<${Piece} title="Reasoning, as far as it came" text=${reasoning} open />`}
    ${!segments.length && text && html`<${Piece} title="Text, as far as it came" text=${text} open />`}
    ${!segments.length && !text && !reasoning && outcome && html`<p class="soft">Not a word.</p>`}
  `;
}

function Segment({ segment }) {
  const { type, text, parts, arguments: given, output, error, status, detail, item, unfinished, ...rest } = segment;
  const title = (SEGMENTS[type] ?? type) + (unfinished ? ', as far as it came' : '');
  const body = text ?? parts?.map((part) => part.text).join('\n\n') ?? given ?? (item ? pretty(item) : '');
  const ending = [status, detail].filter(Boolean).join(': ');
  const after = [output && ['Output', output], error && ['Error', error], ending && ['Status', ending]];
  return html`<${Piece} title=${title} text=${body} open quiet=${type === 'reasoning'}>
    ${after.filter(Boolean).map(
      ([name, value]) => html`<div key=${name}><p class="soft small">${name}</p><pre dir="auto">${value}</pre></div>`,
    )}
    <${Facts} of=${rest} />
  <//>`;
}

function Outcome({ outcome }) {
  const { type, call, usage, ...rest } = outcome;
  const tokens = Object.fromEntries(Object.entries(usage ?? {}).map(([name, value]) => [`tokens ${name}`, value]));
  return html`<${Facts} of=${{ outcome: type === 'call.failed' ? 'failed' : 'completed', ...rest, ...tokens }} />`;
}

/** Names and values, as the log has them. */
function Facts({ of }) {
  const shown = Object.entries(of).filter(([, value]) => value !== undefined && value !== null && value !== '');
  if (!shown.length) return null;
  return html`<dl class="facts">${shown.map(([name, value]) => html`<div key=${name}>
    <dt>${name.replace(/_ms$/, '').replaceAll('_', ' ')}</dt><dd><bdi>${valueOf(name, value)}</bdi></dd>
  </div>`)}</dl>`;
}

function valueOf(name, value) {
  if (typeof value === 'object') return JSON.stringify(value);
  if (name === 'cost') return exactDollars(value);
  if (name.endsWith('_ms')) return `${figure(value)} ms`;
  return typeof value === 'number' ? figure(value) : String(value);
}

function Piece({ title, text, more, open = false, quiet = false, children }) {
  const facts = [more, text && plural(text.length, 'character')];
  return html`<details class="piece ${quiet ? 'quiet' : ''}" open=${open}>
    <summary>${title} <span class="soft numbers">${facts.filter(Boolean).join(' · ')}</span></summary>
    ${text && html`<div class="text">
      <${Copy} class="plain" text=${text} />
      <pre dir="auto" tabindex="0">${text}</pre>
    </div>`}
    ${children}
  </details>`;
}

const pretty = (value) => JSON.stringify(value, null, 2);
