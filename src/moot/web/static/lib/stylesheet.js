// The stylesheet of a page, loaded before the page is shown: nothing flashes. Those of the page that somebody
// opens stand in its document already, and no script runs before they are there.

const loaded = new Map();

export function ensureStyle(name) {
  if (!loaded.has(name)) loaded.set(name, load(`/static/css/${name}.css`));
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
