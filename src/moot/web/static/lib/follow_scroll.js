// Following a live debate: the page stays scrolled to its end until the user scrolls up; it follows again when they
// scroll back down, or ask for it.

import { useEffect, useSignal } from '../../vendor/preact.js';
import { isStill } from './preferences.js';

const NEAR = 120;
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
    const heed = () => {
      const shrunk = root.scrollHeight < height;
      if (scrollY < last - 1 && !shrunk) following.value = false;
      else if (scrollY > last && left() < NEAR && !upwards) following.value = true;
      [last, height] = [scrollY, root.scrollHeight];
    };
    // While the page scrolls smoothly, scrolling up may end below the start: the last input of the user counts.
    const turned = ({ deltaY, ctrlKey }) => {
      if (!deltaY || ctrlKey) return;
      upwards = deltaY < 0;
      if (!upwards || !following.peek() || !scrollY) return;
      following.value = false;
      scrollTo({ top: scrollY, behavior: 'instant' });
    };
    const other = () => { upwards = false; };
    const asks = ['keydown', 'pointerdown', 'touchstart'];
    const grown = new ResizeObserver(() => following.peek() && goes() && toEnd());
    addEventListener('scroll', heed, { passive: true });
    addEventListener('wheel', turned, { passive: true });
    for (const way of asks) addEventListener(way, other, { passive: true });
    grown.observe(box.current);
    return () => {
      removeEventListener('scroll', heed);
      removeEventListener('wheel', turned);
      for (const way of asks) removeEventListener(way, other);
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
