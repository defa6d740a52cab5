// The button for the next turn, on the live page of a session.

export { NextTurn as default } from './session_form.js';
