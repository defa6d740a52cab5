// A client of the arena as its document describes it: a setup page, a live view, a bar of controls. The first
// argument is where the server is; what the page would show in the end is written to stdout as JSON.
const [base] = process.argv.slice(2);

// Node has no EventSource: what the standard says of how a stream is read, and no more.
class EventSource {
  constructor(url) {
    this.#read(url);
  }

  async #read(url) {
    const response = await fetch(url, { headers: { Accept: "text/event-stream" } });
    let [data, kind, buffer] = ["", "", ""];
    for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
      buffer += piece;
      const lines = buffer.split(/\r\n|\n|\r/);
      buffer = lines.pop();
      for (const line of lines) {
        if (line === "") {
          if (data !== "" && kind === "") this.onmessage({ data: data.slice(0, -1) });
          [data, kind] = ["", ""];
        }
        const [, field, value] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
        if (field === "data") data += `${value ?? ""}\n`;
        if (field === "event") kind = value ?? "";
      }
    }
    this.onerror();
  }
}

const json = { "Content-Type": "application/json" };
const post = (path, body) => fetch(base + path, { method: "POST", headers: json, body: JSON.stringify(body) });

const act = async (action) => (await post(`/api/debates/${debate.id}/turn`, action)).json();

const created = await post("/api/debates", {
  topic: "Best algorithm for sorting 1M items",
  debaterA: { model: "scripted/shy", objective: "Defend merge sort." },
  debaterB: { model: "scripted/plain" },
  maxTurns: 4,
  winningCondition: "ai-judge",
});
const debate = await created.json();

const shown = { status: created.status, created: debate, cards: {}, log: [], actions: [], kinds: [] };
await new Promise((resolve) => {
  const stream = new EventSource(`${base}/api/debates/${debate.id}/stream`);
  stream.onerror = resolve;
  stream.onmessage = async ({ data }) => {
    const event = JSON.parse(data);
    if (shown.kinds.at(-1) !== event.type) shown.kinds.push(event.type);
    switch (event.type) {
      case "turn.started":
        shown.cards[event.speaker] = "";
        break;
      case "token":
        shown.cards[event.speaker] += event.content;
        // The first speaker is stuck: comment, and go on without it.
        if (shown.answer === undefined) {
          shown.answer = null;
          shown.answer = await act({ type: "inject", payload: "Mind the cache." });
          await act({ type: "skip" });
        }
        break;
      case "turn.completed":
        shown.log.push({ number: event.turnNumber, said: shown.cards[event.speaker] === event.fullContent });
        break;
      case "action.processed":
        shown.actions.push(event.action);
        break;
      case "debate.completed":
        shown.end = event;
        break;
    }
  };
});
shown.after = await (await fetch(`${base}/api/debates/${debate.id}`)).json();
console.log(JSON.stringify(shown));
