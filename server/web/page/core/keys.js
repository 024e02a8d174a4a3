// Keys that work outside of fields. Layers are stacked: the page's own, a view's, those of a panel;
// the top one has precedence. Each key has a description, which the list of all keys shows.

import { t } from './words.js';

const layers = [];
let begun = ''; // the first of two keys, such as g
let begunAt = 0;

// Adds a layer of `{key, label, run}`; returns a function that removes it. `run` may return false: not now.
export function addKeys(title, keys) {
  const layer = { title, keys };
  layers.push(layer);
  return () => {
    const at = layers.indexOf(layer);
    if (at >= 0) layers.splice(at, 1);
  };
}

export function allKeys() {
  return layers.filter((layer) => layer.keys.some((one) => one.label)).map((layer) => ({
    title: layer.title, keys: layer.keys.filter((one) => one.label),
  }));
}

function isTyping(target) {
  return target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('textarea, select, input:not([type=checkbox]):not([type=radio]):not([type=range])'));
}

function find(name) {
  for (let at = layers.length - 1; at >= 0; at -= 1) {
    for (const one of layers[at].keys) {
      if (one.key === name && one.run() !== false) return true;
    }
    if (layers[at].title === t('Dialog')) return false;
  }
  return false;
}

export function listenToKeys() {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.isComposing) return;
    if (isTyping(event.target)) {
      if (event.key === 'Escape') event.target.blur();
      return;
    }
    const activates = event.target instanceof HTMLElement && event.target.matches('a, button, summary, input');
    if ((event.key === 'Enter' || event.key === ' ') && activates) return;
    const prefix = Date.now() - begunAt < 1500 ? begun : '';
    begun = '';
    if (prefix && find(`${prefix} ${event.key}`)) {
      event.preventDefault();
    } else if (event.key === 'g') {
      begun = 'g';
      begunAt = Date.now();
    } else if (find(event.key)) {
      event.preventDefault();
    }
  });
}
