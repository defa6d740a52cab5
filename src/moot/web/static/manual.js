// The manual, which is complete without scripts: the reader's theme, copy buttons, results while one types, and
// a mark at the section that is being read. A plain script in the head, so that the theme is there at once.

{
  const THEMES = ['auto', 'light', 'dark'];
  const NAMES = { auto: 'System', light: 'Light', dark: 'Dark' };
  const KEY = 'moot.theme';
  const root = document.documentElement;

  /** The choice of the page, which keeps it under the same key (`lib/preferences.js`). */
  const theme = () => {
    try {
      const chosen = JSON.parse(localStorage.getItem(KEY));
      return THEMES.includes(chosen) ? chosen : 'auto';
    } catch {
      return 'auto';
    }
  };

  const applyTheme = () => {
    if (theme() === 'auto') delete root.dataset.theme;
    else root.dataset.theme = theme();
  };

  const element = (name, props, ...children) => {
    const made = Object.assign(document.createElement(name), props);
    made.append(...children);
    return made;
  };

  function addThemeButton() {
    const button = document.querySelector('.theme');
    const name = () => (button.textContent = `Theme: ${NAMES[theme()]}`);
    button.addEventListener('click', () => {
      localStorage.setItem(KEY, JSON.stringify(THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length]));
      applyTheme();
      name();
    });
    addEventListener('storage', () => (applyTheme(), name()));
    button.hidden = false;
    name();
  }

  function addCopyButtons() {
    if (!navigator.clipboard) return;
    for (const block of document.querySelectorAll('.code')) {
      const button = element('button', { type: 'button', className: 'btn copy', textContent: 'Copy' });
      button.addEventListener('click', async () => {
        await navigator.clipboard.writeText(block.querySelector('code').textContent.replace(/\n$/, ''));
        button.textContent = 'Copied';
        setTimeout(() => (button.textContent = 'Copy'), 2000);
      });
      block.append(button);
    }
  }

  /** Scrolls the column of a link, and not the page, until the link is in its middle. */
  const show = (link) => {
    const column = link?.closest('nav');
    if (column) column.scrollTop = link.offsetTop - column.clientHeight / 2;
  };

  /** Marks the last heading above the upper third of the window. */
  function followSections() {
    const links = [...document.querySelectorAll('#contents a')];
    const headings = links.map((link) => document.getElementById(link.hash.slice(1)));
    let current;
    const follow = () => {
      const passed = headings.filter((heading) => heading.getBoundingClientRect().top < innerHeight / 3);
      const link = links[passed.length - 1];
      if (link === current) return;
      current?.removeAttribute('aria-current');
      link?.setAttribute('aria-current', 'true');
      show(link);
      current = link;
    };
    let asked = 0;
    addEventListener('scroll', () => {
      cancelAnimationFrame(asked);
      asked = requestAnimationFrame(follow);
    }, { passive: true });
    follow();
  }

  function closeAfterChoice() {
    for (const nav of document.querySelectorAll('.manual > [popover]')) {
      nav.addEventListener('click', (event) => event.target.closest('a') && nav.hidePopover());
    }
  }

  const found = ({ address, page, heading, excerpt }) => {
    const parts = excerpt.map((text, place) => (place % 2 ? element('mark', {}, text) : text));
    const where = page === heading ? '' : ` · ${page}`;
    return element('a', { href: address }, element('b', {}, heading), where, element('small', {}, ...parts));
  };

  function searchWhileTyping() {
    const form = document.querySelector('.top form');
    const field = document.querySelector('[type="search"]');
    addEventListener('keydown', (event) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.target.closest('input')) return;
      event.preventDefault();
      field.focus();
      field.select();
    });
    if (!form) return;
    const list = element('div', { className: 'found', role: 'status' });
    form.append(list);
    let waiting;
    let asked = '';
    const search = async () => {
      const query = (asked = field.value.trim());
      if (query.length < 2) return list.replaceChildren();
      const headers = { Accept: 'application/json' };
      const reply = await fetch(`/manual/search?q=${encodeURIComponent(query)}`, { headers }).catch(() => null);
      if (!reply?.ok || query !== asked) return;
      const results = (await reply.json()).slice(0, 8);
      list.replaceChildren(...(results.length ? results.map(found) : [element('p', {}, 'Nothing is found.')]));
    };
    field.addEventListener('input', () => {
      clearTimeout(waiting);
      waiting = setTimeout(search, 150);
    });
    form.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') return list.replaceChildren(), field.focus();
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const stops = [field, ...list.querySelectorAll('a')];
      stops[(stops.indexOf(document.activeElement) + step + stops.length) % stops.length].focus();
    });
    form.addEventListener('focusout', (event) => {
      if (!form.contains(event.relatedTarget)) list.replaceChildren();
    });
    field.addEventListener('focus', () => list.childElementCount || search());
  }

  applyTheme();
  addEventListener('DOMContentLoaded', () => {
    show(document.querySelector('#pages [aria-current]'));
    addThemeButton();
    addCopyButtons();
    followSections();
    closeAfterChoice();
    searchWhileTyping();
  });
}
