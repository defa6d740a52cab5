// The streaming hook of the per-turn document without its React: what it kept as state is a plain object. Ten
// turns, each asked for when the one before is complete, as its page does it. Prints what it ends up with.

const [base, model1Id, model2Id, topic] = process.argv.slice(2);

async function startStream(options) {
  const state = { reasoning: '', content: '', error: null, responseId: null, tokenUsage: null, cost: null };
  const response = await fetch(`${base}/api/debate/stream`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(options)
  });
  if (!response.ok) {
    throw new Error(`Stream failed: ${response.statusText}`);
  }
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let buffer = '';
  while (true) {
    const { done, value } = await reader.read();
    if (done) break;
    buffer += decoder.decode(value, { stream: true });
    const lines = buffer.split('\n\n');
    buffer = lines.pop() || '';
    for (const line of lines) {
      if (line.startsWith('event: reasoning')) {
        state.reasoning += JSON.parse(line.replace('event: reasoning\ndata: ', '')).chunk;
      } else if (line.startsWith('event: content')) {
        state.content += JSON.parse(line.replace('event: content\ndata: ', '')).chunk;
      } else if (line.startsWith('event: complete')) {
        const data = JSON.parse(line.replace('event: complete\ndata: ', ''));
        Object.assign(state, { responseId: data.responseId, tokenUsage: data.tokenUsage, cost: data.cost });
      } else if (line.startsWith('event: error')) {
        state.error = JSON.parse(line.replace('event: error\ndata: ', '')).message;
      } else {
        throw new Error(`What is this? ${line}`);
      }
    }
  }
  return state;
}

const messages = [];
let modelALastResponseId = null;
let modelBLastResponseId = null;
let currentRound = 0;
let failures = 0;

while (currentRound < 10) {
  const isModelBTurn = currentRound % 2 === 1;
  const lastMessage = messages[messages.length - 1];
  const state = await startStream({
    modelId: isModelBTurn ? model2Id : model1Id,
    topic,
    role: isModelBTurn ? 'NEGATIVE' : 'AFFIRMATIVE',
    intensity: 3,
    opponentMessage: lastMessage ? lastMessage.content : null,
    previousResponseId: isModelBTurn ? modelBLastResponseId : modelALastResponseId,
    turnNumber: currentRound + 1
  });
  if (!state.responseId) {
    // The turn failed: its reader presses the button once more.
    failures += 1;
    if (failures > 30) throw new Error(state.error);
    continue;
  }
  messages.push(state);
  if (isModelBTurn) {
    modelBLastResponseId = state.responseId;
  } else {
    modelALastResponseId = state.responseId;
  }
  currentRound += 1;
}
console.log(JSON.stringify(messages));
