// What shows a conversation, as the document on unified segments describes it: every event and segment must have
// the members of its interfaces, reasoning is rendered like any other segment, and both shapes are understood.
// Prints what would be on the screen, from the unified shape and from the older one.
import assert from "node:assert/strict";

const [base, ...conversations] = process.argv.slice(2);

const optional = (value, kind) => assert.ok(value === undefined || typeof value === kind, `${kind}: ${value}`);

const unified = {
  text: (s) => assert.equal(typeof s.text, "string"),
  tool_call: (s) => {
    assert.equal(typeof s.id, "string");
    assert.equal(typeof s.name, "string");
    assert.equal(typeof s.args, "object");
    for (const name of ["server_label", "display_name", "server_type"]) optional(s[name], "string");
  },
  tool_result: (s) => {
    assert.equal(typeof s.id, "string");
    assert.equal(typeof s.output, "object");
    optional(s.error, "string");
  },
  reasoning: (s) => {
    assert.equal(typeof s.id, "string");
    assert.equal(typeof s.output_index, "number");
    assert.equal(typeof s.sequence_number, "number");
    assert.ok(Array.isArray(s.parts));
    s.parts.forEach(part);
    optional(s.combined_text, "string");
    optional(s.reasoning_tokens, "number");
    assert.ok([undefined, "low", "medium", "high"].includes(s.effort_level));
  },
  completion_status: (s) => assert.ok(["complete", "partial", "error"].includes(s.status)),
};

function part(p) {
  assert.equal(p.type, "summary_text");
  assert.equal(typeof p.text, "string");
  for (const name of ["summary_index", "sequence_number", "created_at"]) assert.equal(typeof p[name], "number");
  assert.equal(typeof p.is_complete, "boolean");
}

function check(event) {
  assert.equal(typeof event.id, "string");
  assert.ok(["system", "user", "assistant", "tool"].includes(event.role));
  assert.equal(typeof event.ts, "number");
  const { total_output_items, completion_status, usage = {} } = event.response_metadata ?? {};
  optional(total_output_items, "number");
  assert.ok([undefined, "complete", "partial", "interrupted"].includes(completion_status));
  for (const name of ["reasoning_tokens", "completion_tokens", "total_tokens"]) optional(usage[name], "number");
}

const thought = (parts) => parts.map((p) => `(${p.text})`);

// Unknown types are let pass: the document promises that more may come.
const drawn = {
  text: (s) => [s.text],
  reasoning: (s) => thought(s.parts),
  tool_call: (s) => [`-> ${s.name} ${JSON.stringify(s.args)}`],
  tool_result: (s) => [`<- ${JSON.stringify(s.output)}`],
};
const draw = (segments) => segments.flatMap((segment) => drawn[segment.type]?.(segment) ?? []);

async function load(id, query) {
  const events = [];
  for (let after = ""; ; ) {
    const reply = await fetch(`${base}/api/v1/conversations/${id}/events?limit=7&after=${after}${query}`);
    assert.equal(reply.status, 200);
    const page = await reply.json();
    events.push(...page.events);
    if (!page.hasMore) return events;
    after = page.next;
  }
}

const shown = [];
for (const id of conversations) {
  const now = await load(id, "");
  now.forEach(check);
  now.forEach((event) => event.segments.forEach((segment) => unified[segment.type]?.(segment)));
  const before = await load(id, "&shape=legacy");
  shown.push({
    unified: now.map((event) => draw(event.segments)),
    legacy: before.map((event) => [
      ...draw(event.segments),
      ...(event.reasoning ? thought(Object.keys(event.reasoning.parts).map((key) => event.reasoning.parts[key])) : []),
    ]),
    partial: now.filter((event) => event.response_metadata?.completion_status === "partial").length,
  });
}
console.log(JSON.stringify(shown));
