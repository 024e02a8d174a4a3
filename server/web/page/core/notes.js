// Short messages at the edge of the page: completed actions with an undo button, and failures that
// have no better place. They are announced to screen readers.

import { h, icon } from './dom.js';
import { t } from './words.js';

const SHOWN_MS = 8000;
const SHOWN_MAX = 4;

const region = h('div', { class: 'notes', role: 'status', 'aria-live': 'polite' });
const undos = [];

export function notesRegion() {
  return region;
}

function add(kind, text, action) {
  const remove = () => { note.remove(); clearTimeout(timer); };
  const note = h('div', { class: `note note-${kind}` }, h('span', null, text),
    action && h('button', { class: 'button small', type: 'button', on: { click: () => { remove(); action.run(); } } }, action.icon && icon(action.icon), action.label),
    h('button', { class: 'icon-button', type: 'button', 'aria-label': t('Dismiss'), on: { click: remove } }, icon('close')));
  const timer = setTimeout(remove, kind === 'error' ? 3 * SHOWN_MS : SHOWN_MS);
  region.append(note);
  while (region.children.length > SHOWN_MAX) region.firstChild.remove();
  return remove;
}

export function say(text) {
  return add('done', text);
}

export function sayError(error) {
  return add('error', error.message || String(error));
}

// Reports an action; `undo` reverts it, also by the key u, newest first. Returns a function that removes the message.
export function sayDone(text, undo) {
  if (!undo) return add('done', text);
  const entry = {};
  const run = async () => {
    undos.splice(undos.indexOf(entry), 1);
    remove();
    try {
      await undo();
    } catch (error) {
      sayError(error);
    }
  };
  const remove = add('done', text, { label: t('Undo'), icon: 'undo', run });
  entry.run = run;
  undos.push(entry);
  return () => {
    const at = undos.indexOf(entry);
    if (at >= 0) undos.splice(at, 1);
    remove();
  };
}

// Undoes the last action that can be undone; false if there is none.
export function undoLast() {
  const entry = undos[undos.length - 1];
  if (!entry) return false;
  entry.run();
  return true;
}

export function forgetUndos() {
  undos.length = 0;
  region.replaceChildren();
}
