// The view of a debate, kept up to date. Pure: a view and a frame give the next view, and nothing is changed
// in place. What the changes mean is the server's business; see moot/wire/chamber.

export const EMPTY = Object.freeze({});

export function fold(view, frame) {
  return frame.ops.reduce(change, view);
}

function change(view, [verb, path, value]) {
  return revise(view, path, 0, verb === 'add' ? (text) => (text ?? '') + value : () => value);
}

function revise(node, path, depth, put) {
  if (depth === path.length) return put(node);
  const key = path[depth];
  return { ...node, [key]: revise(node?.[key], path, depth + 1, put) };
}
