// Clients of POST /api/debate as its document shows them, typed anew. The first argument says which one runs,
// the second where the server is; what came of it is written to stdout as JSON.
import assert from "node:assert/strict";

const [which, base] = process.argv.slice(2);

async function startDebate(topic, handleEvent) {
  const response = await fetch(`${base}/api/debate`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ topic, maxRounds: 3 }),
  });

  const reader = response.body.getReader();
  const decoder = new TextDecoder();

  while (true) {
    const { done, value } = await reader.read();
    if (done) break;

    const chunk = decoder.decode(value);
    const lines = chunk.split("\n");

    for (const line of lines) {
      if (line.startsWith("data: ")) {
        const event = JSON.parse(line.slice(6));
        handleEvent(event);
      }
    }
  }
}

async function browser() {
  let text = "";
  const speaking = [];
  let summary = "";
  await startDebate("Should artificial intelligence be regulated?", (event) => {
    switch (event.type) {
      case "token":
        text += event.content;
        break;
      case "agent_start":
        speaking.push(`${event.agent} is speaking...`);
        break;
      case "debate_complete":
        summary = event.summary;
        break;
    }
  });
  return { text, speaking, summary };
}

// What React does for the hook: a state and its setter, which takes a value or a function of the last one.
function useState(first) {
  const state = { now: first };
  return [state, (next) => { state.now = typeof next === "function" ? next(state.now) : next; }];
}

function useDebate(topic) {
  const [messages, setMessages] = useState([]);
  const [isLoading, setIsLoading] = useState(false);

  const startDebate = async () => {
    setIsLoading(true);
    setMessages([]);

    const response = await fetch(`${base}/api/debate`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ topic }),
    });

    const reader = response.body.getReader();
    const decoder = new TextDecoder();

    let currentAgent = "";
    let currentMessage = "";

    while (true) {
      const { done, value } = await reader.read();
      if (done) break;

      const chunk = decoder.decode(value);
      const lines = chunk.split("\n\n");

      for (const line of lines) {
        if (line.startsWith("data: ")) {
          const event = JSON.parse(line.slice(6));

          if (event.type === "agent_start") {
            currentAgent = event.agent;
            currentMessage = "";
          } else if (event.type === "token") {
            currentMessage += event.content;
            setMessages((prev) => [...prev.slice(0, -1), { role: currentAgent, content: currentMessage }]);
          } else if (event.type === "agent_end") {
            setMessages((prev) => [...prev, { role: currentAgent, content: event.fullMessage }]);
          }
        }
      }
    }

    setIsLoading(false);
  };

  return { messages, isLoading, startDebate };
}

async function hook() {
  const { messages, isLoading, startDebate } = useDebate("AI regulation");
  await startDebate();
  return { messages: messages.now, isLoading: isLoading.now };
}

async function automated() {
  const response = await fetch(`${base}/api/debate`, {
    method: "POST",
    body: JSON.stringify({ topic: "Test topic" }),
  });

  assert.equal(response.headers.get("content-type"), "text/event-stream");

  const reader = response.body.getReader();
  const { value } = await reader.read();
  const chunk = new TextDecoder().decode(value);

  assert.ok(chunk.includes("data:"));
  assert.ok(chunk.includes("agent_start"));
  // The client leaves here, as the test of the document does.
  await reader.cancel();
  return { id: response.headers.get("x-debate-id") };
}

console.log(JSON.stringify(await { browser, hook, automated }[which]()));
