// Focus that would be left with nothing: when the control that has it goes away or is shut, whatever stood
// around it takes it over, else the latest that there is to read. Nobody is scrolled away from where they are.

const AROUND = 'section, article, form, fieldset, dialog, [role=group]';
const TITLE = 'main:not([aria-busy=true]) h1';
const TO_READ = ['#verdict-title', '#bench-title', '.speech', TITLE];

/** Whether nobody has a control in hand. */
export const isFree = () => (document.activeElement?.tabIndex ?? -1) < 0;

const isLost = () => document.activeElement === document.body;

export function keepFocus(root) {
  /** What had the focus last and all that it stands in, and on which page. */
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
    // Whoever lets go of something that stays is left alone.
    if (isLost() && isThere()) held = [];
  }));
  // Where nothing is ready to take it, what comes next is.
  new MutationObserver(look).observe(root, { childList: true, subtree: true, attributeFilter: ['disabled'] });
}

function* lineage(element, root) {
  for (let one = element; one && one !== root; one = one.parentElement) yield one;
}

/** Whoever has gone on to another page begins at its title. */
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
