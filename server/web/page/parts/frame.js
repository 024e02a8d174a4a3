// Pieces that views are built from: headings, messages, cards of numbers, buttons, badges.

import { h, icon, show } from '../core/dom.js';
import { t } from '../core/words.js';

// A view's heading, with its purpose, and links or buttons beside it.
export function heading(title, lead, ...actions) {
  return h('header', { class: 'view-head' },
    h('div', null, h('h1', { tabindex: '-1' }, title), lead && h('p', { class: 'lead' }, lead)),
    actions.flat().some(Boolean) && h('div', { class: 'actions' }, actions));
}

// Advice for an empty view.
export function empty(title, body, ...actions) {
  return h('div', { class: 'empty' }, h('p', { class: 'empty-title' }, title), body && h('p', null, body),
    actions.length > 0 && h('div', { class: 'actions' }, actions));
}

// An error in place, with the server's own text and each field that it names.
export function errorBox(error, again) {
  const denied = error.code === 'permission_denied';
  return h('div', { class: 'error-box', role: 'alert' },
    h('p', { class: 'error-title' }, denied ? t('Your token’s role may not see this.') : t('That did not work.')),
    h('p', null, error.message),
    error.fields && error.fields.length > 1 && h('ul', null, error.fields.map((one) => h('li', null, h('strong', null, one.field), ' ', one.description))),
    again && !denied && h('button', { class: 'button', type: 'button', on: { click: again } }, t('Try again')));
}

export function loading(text) {
  return h('p', { class: 'loading' }, text || t('Loading…'));
}

// Fills `place` with what `load` returns; the error, if it fails, is shown in the same place.
export async function fillFrom(place, load, signal) {
  if (!place.firstChild) show(place, loading());
  place.setAttribute('aria-busy', 'true');
  try {
    const content = await load();
    if (!signal || !signal.aborted) show(place, content);
  } catch (error) {
    if (signal && signal.aborted) return;
    show(place, errorBox(error, () => { show(place); fillFrom(place, load, signal); }));
  } finally {
    place.removeAttribute('aria-busy');
  }
}

export function button(label, run, { kind = '', symbol, key, disabled, title, pressed } = {}) {
  return h('button', {
    class: `button ${kind}`, type: 'button', disabled, title, 'aria-pressed': pressed === undefined ? null : String(pressed), on: { click: run },
  }, symbol && icon(symbol), h('span', null, label), key && h('kbd', { 'aria-hidden': 'true' }, key));
}

export function badge(text, kind = '') {
  return h('span', { class: `badge ${kind}` }, text);
}

// A number with its name, its previous value, and a link.
export function figure({ label, value, detail, trend, address, kind }) {
  const content = [h('span', { class: 'figure-label' }, label), h('span', { class: 'figure-value' }, value),
    trend && h('span', { class: `trend ${trend.kind || ''}` }, trend.text), detail && h('span', { class: 'figure-detail' }, detail)];
  return address ? h('a', { class: `figure ${kind || ''}`, href: address }, content) : h('div', { class: `figure ${kind || ''}` }, content);
}

export function section(title, ...children) {
  return h('section', { class: 'section' }, title && h('h2', null, title), children);
}

// Names with values, as a list.
export function facts(pairs) {
  return h('dl', { class: 'facts' }, pairs.filter((pair) => pair && pair[1] !== undefined && pair[1] !== null && pair[1] !== '' && pair[1] !== false && !(Array.isArray(pair[1]) && pair[1].length === 0))
    .map(([name, value]) => h('div', null, h('dt', null, name), h('dd', null, value))));
}

export function details(summary, ...children) {
  return h('details', { class: 'details' }, h('summary', null, summary), children);
}

// A plain table: `columns` are {head, cell, number, wide}; a phone leaves out those that are wide.
export function plainTable(caption, columns, rows) {
  const kindOf = (column) => `${column.number ? 'number' : ''} ${column.wide ? 'wide' : ''}`.trim();
  return h('div', { class: 'table-scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    h('table', { class: 'plain' }, h('caption', { class: 'visually-hidden' }, caption),
      h('thead', null, h('tr', null, columns.map((column) => h('th', { scope: 'col', class: kindOf(column) }, column.head)))),
      h('tbody', null, rows.map((row) => h('tr', null, columns.map((column, at) => (at === 0
        ? h('th', { scope: 'row', class: kindOf(column) }, column.cell(row))
        : h('td', { class: kindOf(column) }, column.cell(row)))))))));
}

// Links to the parts of a view.
export function tabs(label, entries, current) {
  requestAnimationFrame(() => { // on a phone, the present one may be beyond the edge
    const here = document.querySelector('.tabs [aria-current]');
    if (here && here.offsetLeft + here.offsetWidth > here.parentNode.clientWidth) here.parentNode.scrollLeft = here.offsetLeft - 16;
  });
  return h('nav', { class: 'tabs', 'aria-label': label }, entries.map((entry) =>
    h('a', { href: entry.address, 'aria-current': entry.id === current ? 'page' : null }, entry.label, entry.count ? h('span', { class: 'tab-count' }, entry.count) : null)));
}

export async function copyText(text, node) {
  await navigator.clipboard.writeText(text);
  const before = node.textContent;
  node.textContent = t('Copied');
  setTimeout(() => { node.textContent = before; }, 1500);
}

// Offers text as a file.
export function saveFile(name, text, type = 'text/csv') {
  const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = h('a', { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// A cell of CSV; a leading sign that a spreadsheet would take for a formula is quoted by an apostrophe.
function csvCell(value) {
  const text = (value === undefined || value === null ? '' : String(value)).replace(/^−(?=[\d.]+$)/, '-'); // numbers that programs read
  const safe = /^[=+@\t\r-]/.test(text) && !/^-?[\d.]+$/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

export function csvText(heads, rows) {
  return [heads, ...rows].map((row) => row.map(csvCell).join(',')).join('\r\n');
}
