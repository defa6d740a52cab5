// Loads the stylesheet of a page (`live`) or of an extension (`extensions/NAME/FILE`) before the page is shown, so that nothing flashes. Those of the first page are in
// its document already, and scripts wait for them.

const loaded = new Map();

export function ensureStyle(name) {
  if (!loaded.has(name)) loaded.set(name, load(name.includes('/') ? `/static/${name}.css` : `/static/css/${name}.css`));
  return loaded.get(name);
}

function load(href) {
  if (document.head.querySelector(`link[rel="stylesheet"][href="${href}"]`)) return null;
  const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', href });
  return new Promise((done) => {
    link.onload = link.onerror = done;
    document.head.append(link);
  });
}
