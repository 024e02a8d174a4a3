// Shows before and after of a correction, member by member, with a proofreader's marks.

import { h } from '../core/dom.js';
import { t } from '../core/words.js';
import { valueText, prettyJson } from '../core/format.js';
import { details } from './frame.js';

const SHORT = 48;

function cut(text) {
  return text.length > SHORT ? `${text.slice(0, SHORT - 1)}…` : text;
}

// `qty 10 -> 12` in one line; the first changes, and the number of further ones.
export function shortDiff(event, most = 2) {
  const diff = event.diff || [];
  if (!diff.length) return h('span', { class: 'muted' }, (event.fieldsChanged || []).join(', ') || t('no member differs'));
  const shown = diff.slice(0, most).map((one) => h('span', { class: 'change' }, h('span', { class: 'change-name' }, one.path || one.name), ' ',
    one.before !== undefined && h('del', null, cut(valueText(one.before))), one.before !== undefined && one.after !== undefined && h('span', { class: 'arrow' }, ' → '),
    one.after !== undefined && h('ins', null, cut(valueText(one.after)))));
  return h('span', { class: 'changes' }, shown, diff.length > most && h('span', { class: 'muted' }, t('and {n} more', { n: diff.length - most })));
}

export function diffText(event) {
  return (event.diff || []).map((one) => `${one.path || one.name}: ${one.before ?? ''} -> ${one.after ?? ''}`).join('; ');
}

export function diffTable(event) {
  const diff = event.diff || [];
  if (!diff.length) return h('p', { class: 'muted' }, t('Before and after have no member that differs.'));
  return h('table', { class: 'diff' }, h('caption', { class: 'visually-hidden' }, t('Changed members')),
    h('thead', null, h('tr', null, h('th', { scope: 'col' }, t('Member')), h('th', { scope: 'col' }, t('Before')), h('th', { scope: 'col' }, t('After')))),
    h('tbody', null, diff.map((one) => h('tr', null, h('th', { scope: 'row' }, one.path || one.name),
      h('td', null, one.before === undefined ? '∅' : h('del', null, valueText(one.before))), h('td', null, one.after === undefined ? '∅' : h('ins', null, valueText(one.after)))))));
}

export function jsonBlock(label, text) {
  return text ? details(label, h('pre', { class: 'code', tabindex: '0' }, prettyJson(text))) : null;
}
