// The two-stage handshake: ask for a turn, then listen to its session with an EventSource. Node has none, so
// here is what one does: it reads lines as the standard has them, calls listeners by name, and comes back when
// the line breaks unless it was closed. Prints what a page would have kept of each turn.

const [base, model1Id, model2Id, topic, turns] = process.argv.slice(2);

class EventSource {
  constructor(url) {
    this.url = url;
    this.listeners = {};
    this.connections = 0;
    this.controller = new AbortController();
    this.run();
  }

  addEventListener(name, listener) {
    this.listeners[name] = listener;
  }

  close() {
    this.closed = true;
    this.controller.abort();
  }

  async run() {
    while (!this.closed) {
      this.connections += 1;
      try {
        const headers = { Accept: 'text/event-stream', 'Cache-Control': 'no-store' };
        const response = await fetch(this.url, { headers, signal: this.controller.signal });
        if (response.status !== 200 || response.headers.get('content-type') !== 'text/event-stream') return;
        await this.read(response.body.pipeThrough(new TextDecoderStream()));
      } catch (error) {
        if (error.name !== 'AbortError') throw error;
      }
    }
  }

  async read(stream) {
    let buffer = '';
    let [type, data] = ['', []];
    for await (const piece of stream) {
      const lines = (buffer + piece).split(/\r\n|\r|\n/);
      buffer = lines.pop();
      for (const line of lines) {
        if (line === '') {
          if (data.length) this.listeners[type || 'message']?.({ data: data.join('\n') });
          [type, data] = ['', []];
          if (this.closed) return;
        } else if (line.startsWith('event:')) {
          type = line.slice(6).trimStart();
        } else if (line.startsWith('data:')) {
          data.push(line.slice(5).replace(/^ /, ''));
        }
      }
    }
  }
}

async function hear(options) {
  const response = await fetch(`${base}/api/debate/stream/init`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(options)
  });
  const { sessionId, streamUrl } = await response.json();
  const state = { sessionId, reasoning: '', content: '', error: null, responseId: null };
  const source = new EventSource(base + streamUrl);
  await new Promise((resolve) => {
    source.addEventListener('reasoning', (event) => (state.reasoning += JSON.parse(event.data).chunk));
    source.addEventListener('content', (event) => (state.content += JSON.parse(event.data).chunk));
    source.addEventListener('complete', (event) => {
      state.responseId = JSON.parse(event.data).responseId;
      source.close();
      resolve();
    });
    source.addEventListener('error', (event) => {
      if (!event.data) return;
      state.error = JSON.parse(event.data).message;
      source.close();
      resolve();
    });
  });
  return { ...state, connections: source.connections };
}

const kept = [];
for (let turnNumber = 1; turnNumber <= Number(turns); turnNumber += 1) {
  const odd = turnNumber % 2 === 1;
  kept.push(
    await hear({
      modelId: odd ? model1Id : model2Id,
      topic,
      role: odd ? 'AFFIRMATIVE' : 'NEGATIVE',
      intensity: 3,
      opponentMessage: kept.at(-1)?.content ?? null,
      previousResponseId: kept.at(-2)?.responseId ?? null,
      turnNumber
    })
  );
}
console.log(JSON.stringify(kept));
