// Following a live debate: the page stays scrolled to its end until the user scrolls up; it follows again when they
// scroll back down, or ask for it. A scroll that no input caused does not count: browsers also move the page when
// something above changes its height.

import { useEffect, useSignal } from '../../vendor/preact.js';
import { isStill } from './preferences.js';

const NEAR = 120;
/** A scroll that begins within so many milliseconds of an input is the user's. */
const SOON = 1000;
const UP = new Set(['ArrowUp', 'PageUp', 'Home']);
const root = document.documentElement;

const left = () => root.scrollHeight - innerHeight - scrollY;

export function toEnd({ still = isStill() } = {}) {
  const far = left() > innerHeight;
  scrollTo({ top: root.scrollHeight, behavior: still || far ? 'instant' : 'smooth' });
}

/** A signal: whether the page follows. `box`: the growing element; `goes()`: whether there is more to come. */
export function useFollow(box, goes, start = true) {
  const following = useSignal(start);
  useEffect(() => {
    let [last, height, upwards] = [scrollY, root.scrollHeight, false];
    let [held, inputAt] = [false, -SOON];
    const byUser = () => held || performance.now() - inputAt < SOON;
    const heed = () => {
      const shrunk = root.scrollHeight < height;
      if (scrollY < last - 1 && !shrunk && byUser()) following.value = false;
      else if (scrollY > last && left() < NEAR && !upwards) following.value = true;
      [last, height] = [scrollY, root.scrollHeight];
    };
    // While the page scrolls smoothly, scrolling up may end below the start: the last input of the user counts.
    const turned = ({ deltaY, ctrlKey }) => {
      if (!deltaY || ctrlKey) return;
      upwards = deltaY < 0;
      inputAt = performance.now();
      if (!upwards || !following.peek() || !scrollY) return;
      following.value = false;
      scrollTo({ top: scrollY, behavior: 'instant' });
    };
    const moved = () => {
      upwards = false;
      inputAt = performance.now();
    };
    const typed = ({ key, shiftKey }) => {
      upwards = false;
      if (UP.has(key) || key === 'Tab' || (key === ' ' && shiftKey)) moved();
    };
    // Also of the scrollbar, which reports no release: the next movement without a button does.
    const pressed = () => {
      upwards = false;
      held = true;
    };
    const released = ({ type, buttons }) => {
      if (type !== 'pointermove' || !buttons) held = false;
    };
    const handlers = {
      scroll: heed, wheel: turned, touchmove: moved, keydown: typed, pointerdown: pressed,
      pointermove: released, pointerup: released, pointercancel: released,
    };
    const grown = new ResizeObserver(() => following.peek() && goes() && toEnd());
    for (const [type, handler] of Object.entries(handlers)) addEventListener(type, handler, { passive: true });
    grown.observe(box.current);
    return () => {
      for (const [type, handler] of Object.entries(handlers)) removeEventListener(type, handler);
      grown.disconnect();
    };
  }, []);
  return following;
}

/** Scrolls to a speech and highlights it. Returns whether it exists. */
export function jump(number, { focus = false } = {}) {
  const speech = document.getElementById(`turn-${number}`);
  if (!speech) return false;
  speech.closest('details')?.setAttribute('open', '');
  speech.scrollIntoView({ block: 'start', behavior: isStill() ? 'instant' : 'smooth' });
  for (const other of document.querySelectorAll('.sought')) other.classList.remove('sought');
  requestAnimationFrame(() => speech.classList.add('sought'));
  if (focus) speech.focus({ preventScroll: true });
  return true;
}
