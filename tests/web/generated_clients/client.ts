// A client that knows the server only by the types of openapi-typescript. What must not compile is marked so.

import type { components, operations, paths } from './schema.js';

type Schemas = components['schemas'];
type Opened = operations['create_debate']['responses'][201]['content']['application/json'];
type Frames = paths['/api/v1/debates/{debateId}/view/frames']['get']['responses'][200]['content']['application/json'];
type Stream = operations['stream_debate']['responses'][200]['content']['text/event-stream'];

declare const process: { argv: string[] };
const url = process.argv[2];
const model: Schemas['ModelChoice'] = { provider: 'scripted', modelId: 'demo' };

const body: Schemas['CreateDebate'] = {
  topic: 'Should AI development be regulated by government?',
  format: 'oxford',
  participants: [
    { name: 'Pro', model, position: 'for' },
    { name: 'Con', model, position: 'against' },
  ],
  judge: { name: 'Judge', model },
  config: { maxRounds: 1 },
};

// @ts-expect-error: there is no topic.
const nothing: Schemas['CreateDebate'] = {};
// @ts-expect-error: a debate has participants.
const alone: Schemas['CreateDebate'] = { topic: 'Should this compile?', format: 'oxford' };
// @ts-expect-error: rounds are a number.
const wordy: Schemas['CreateDebate'] = { ...body, config: { maxRounds: 'one' } };
// @ts-expect-error: there is no such format.
const formless: Schemas['CreateDebate'] = { ...body, format: 'shouting' };
// @ts-expect-error: there is no such change.
const change: Schemas['ViewFrame']['ops'][number] = ['cut', ['turns'], null];

async function ask<T>(path: string, init?: RequestInit): Promise<T> {
  const reply = await fetch(url + path, init);
  if (!reply.ok) throw new Error(((await reply.json()) as Schemas['ErrorResponse']).detail);
  return (await reply.json()) as T;
}

/** The events of a stream. */
function messages(text: Stream): Schemas['StreamMessage'][] {
  return text.split('\n\n').flatMap((block) => {
    const lines = new Map<string, string>();
    for (const line of block.split('\n')) lines.set(line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2));
    const [event, data] = [lines.get('event'), lines.get('data')];
    return event && data ? [{ event, data: JSON.parse(data), id: lines.get('id') } as Schemas['StreamMessage']] : [];
  });
}

/** Narrowed by its event, a message has the data of that event. */
function told(message: Schemas['StreamMessage']): string {
  switch (message.event) {
    case 'status':
      return message.data.state;
    case 'complete':
      return `${message.data.totalRounds} rounds`;
    default:
      return message.event;
  }
}

const opened: Opened = await ask('/api/v1/debates', {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});
const stream: Stream = await (await fetch(`${url}/api/v1/debates/${opened.id}/stream`)).text();
const { frames }: Frames = await ask(`/api/v1/debates/${opened.id}/view/frames?limit=1000`);
const frame: Schemas['ViewFrame'] = frames[0];
const [verb, path]: [string, string[], unknown] = frame.ops[0];
console.log(JSON.stringify({ id: opened.id, told: messages(stream).map(told), frame: [frame.seq, verb, path] }));
