// Telling somebody that it is their turn: in the title of the page (which reads `yourTurn`), to a screen
// reader, by a short buzz of the phone, and by a notice of the browser if they asked for one.

import { signal } from '../../vendor/preact.js';
import { announce } from './ui.js';

export const yourTurn = signal(false);
/** granted, denied, default; unknown where the browser has none. */
export const permission = signal(globalThis.Notification?.permission ?? 'unknown');

/** Only ever on a click: nobody is asked for anything before they know why. */
export async function permit() {
  permission.value = await Notification.requestPermission();
}

let shown = null;

export function callUp(what, motion) {
  yourTurn.value = true;
  announce(`It is your turn: ${what}.`);
  // A browser takes it amiss where nobody has touched the page yet.
  if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.(200);
  if (permission.value !== 'granted' || document.hasFocus()) return;
  try {
    shown = new Notification('It is your turn', { body: `${what}: ${motion}`, tag: 'moot-turn', silent: true });
    shown.onclick = () => {
      focus();
      shown?.close();
    };
  } catch {
    // On phones only service workers may; the title and the buzz must do.
  }
}

export function callOff() {
  yourTurn.value = false;
  shown?.close();
  shown = null;
}
