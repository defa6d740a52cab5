// Keeps the keyboard focus: when the focused control is removed or disabled, an element around it gets the focus,
// else the latest content. The page is not scrolled.

const AROUND = 'section, article, form, fieldset, dialog, [role=group]';
const TITLE = 'main:not([aria-busy=true]) h1';
const TO_READ = ['#verdict-title', '#bench-title', '.speech', TITLE];

/** Whether no control has the focus. */
export const isFree = () => (document.activeElement?.tabIndex ?? -1) < 0;

const isLost = () => document.activeElement === document.body;

export function keepFocus(root) {
  /** The last focused element with its ancestors, and its page. */
  let [held, page] = [[], ''];
  const isThere = () => held[0]?.checkVisibility() && !held[0].disabled;
  const look = () => {
    if (!held.length || !isLost() || isThere()) return;
    const heir = held.find((one) => one.matches(AROUND) && one.checkVisibility()) ?? toRead(page);
    if (heir) rest(heir);
  };
  root.addEventListener('focusin', ({ target }) => {
    [held, page] = [[...lineage(target, root)], location.pathname];
  });
  root.addEventListener('focusout', () => setTimeout(() => {
    look();
    // The element is still there: the user has moved the focus away.
    if (isLost() && isThere()) held = [];
  }));
  // If nothing can take it now, the next new element does.
  new MutationObserver(look).observe(root, { childList: true, subtree: true, attributeFilter: ['disabled'] });
}

function* lineage(element, root) {
  for (let one = element; one && one !== root; one = one.parentElement) yield one;
}

/** On another page the focus starts at the heading. */
function toRead(page) {
  const kinds = page === location.pathname ? TO_READ : [TITLE];
  return kinds.map((kind) => [...document.querySelectorAll(kind)].at(-1)).find((one) => one);
}

function rest(heir) {
  const own = heir.hasAttribute('tabindex');
  if (!own) heir.tabIndex = -1;
  heir.focus({ preventScroll: true });
  if (!own) heir.addEventListener('blur', () => heir.removeAttribute('tabindex'), { once: true });
}
