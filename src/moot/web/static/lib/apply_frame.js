// Applies a frame to the view of a debate. Pure: it returns the next view, and changes nothing in place. The frames
// are made by moot/api/page_view.

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
