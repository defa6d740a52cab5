// One message of an imported conversation: text, reasoning, tool calls and results in the order in which they came.

import { html } from '../../../vendor/preact.js';
import { When } from '../../lib/clock.js';
import { figure } from '../../lib/numbers.js';
import { Prose } from '../../parts/prose.js';

const ROLES = { user: 'User', assistant: 'Assistant', system: 'System', tool: 'Tool' };
const MARKS = { partial: 'partial', interrupted: 'interrupted' };

/** Whether the message was cut: by a limit, by a failure, or because it was never finished. */
export const isPartial = (event) => Boolean(markOf(event));

function markOf(event) {
  const ended = (event.segments ?? []).findLast((segment) => segment.type === 'completion_status');
  return MARKS[ended?.status] ?? MARKS[event.response_metadata?.completion_status];
}

export function Message({ event }) {
  const mark = markOf(event);
  const tokens = event.response_metadata?.usage?.total_tokens;
  return html`<li class="message ${event.role}" id=${`message-${event.id}`}>
    <header>
      <h2><bdi>${event.name || ROLES[event.role] || event.role}</bdi></h2>
      ${mark && html`<span class="warned">${mark}</span>`}
      <span class="soft small numbers">
        ${event.ts > 0 && html`<${When} at=${new Date(event.ts).toISOString()} />`}${tokens > 0 && ` · ${figure(tokens)} tokens`}
      </span>
    </header>
    ${(event.segments ?? []).map((segment, index) => html`<${Segment} key=${index} segment=${segment} />`)}
  </li>`;
}

function Segment({ segment }) {
  switch (segment.type) {
    case 'text':
      return segment.text ? html`<${Prose} text=${segment.text} /> ` : null;
    case 'reasoning':
      return html`<details class="thought" open><summary>Reasoning</summary><${Prose} text=${thought(segment)} /></details>`;
    case 'tool_call':
      return html`<details class="call">
        <summary>Tool call: <b dir="auto">${segment.display_name || segment.name}</b></summary>
        <pre dir="auto">${written(segment.args)}</pre>
      </details>`;
    case 'tool_result':
      return html`<details class="call">
        <summary>${segment.error ? 'Tool error' : 'Tool result'}</summary>
        <pre dir="auto">${written(segment.error || segment.output)}</pre>
      </details>`;
    case 'completion_status':
      return null;
    default:
      return html`<details class="call"><summary>${segment.type}</summary><pre>${written(segment)}</pre></details>`;
  }
}

/** The combined text, and after it the parts that are not in it. */
function thought({ combined_text: combined, parts }) {
  const known = onOneLine(combined);
  const missing = (parts ?? []).map((part) => part.text ?? '').filter((text) => !known.includes(onOneLine(text)));
  return [...(known ? [combined] : []), ...missing].join('\n\n') || 'Empty, or encrypted.';
}

const onOneLine = (text) => String(text ?? '').split(/\s+/).filter(Boolean).join(' ');

const written = (value) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));
