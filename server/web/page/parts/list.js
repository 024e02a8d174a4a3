// A list with filters, pages and a panel, all of whose state is in the address: the filters by their names, `size`,
// `page` (the server's page token), and `open` (the row whose panel is open). Keys: j k enter, / and those of
// its actions. New events reload it in place; rows that did not change keep their elements.

import { h, show, icon, newId } from '../core/dom.js';
import { t, tn } from '../core/words.js';
import { go, changed } from '../core/route.js';
import { addKeys } from '../core/keys.js';
import { onEvents } from '../core/live.js';
import { sayError } from '../core/notes.js';
import { empty, errorBox, button, csvText, saveFile, loading } from './frame.js';

const SIZES = ['25', '50', '200', '1000'];
const ROWS_FIRST = 50; // drawn at once; the others when they come near, so that no list blocks the page
const ROWS_A_STEP = 25; // in a section of their own: the browser lays out and paints only sections near the view
const NEAR = '1200px';
const HIDDEN_COLUMN = 120; // px, of one that is not shown when the columns are measured
const TYPING_MS = 300;
const LIVE_MS = 500;

// Makes the rows of a section these ones.
function fillSection(section, nodes) {
  const wanted = new Set(nodes);
  [...section.children].filter((node) => !wanted.has(node)).forEach((node) => node.remove());
  let at = section.firstChild;
  for (const node of nodes) {
    if (node === at) at = at.nextSibling;
    else section.insertBefore(node, at);
  }
}

// `spec`: name, caption, filters [{name, label, kind, options, placeholder}], load({parameters, size, token, signal}) ->
// {rows, next}, key(row), columns [{head, cell(row), text(row), kind}], open(id, row) -> element, actions(row) ->
// [{key, label, run}], empty, concerns(event), bulk(rows) -> elements.
export class List {
  constructor(root, route, spec) {
    this.spec = spec;
    this.root = root;
    this.route = route;
    this.rows = [];
    this.nodes = new Map();
    this.chosen = new Set();
    this.focusKey = '';
    this.panelLoad = 0;
    this.closed = false;
    this.abort = null;
    this.build();
    this.removeKeys = addKeys(spec.caption, this.keys());
    this.removeEvents = spec.concerns ? onEvents((event) => this.onEvent(event)) : () => {};
    this.reload();
  }

  build() {
    const { spec } = this;
    const columns = spec.bulk ? [{ head: '', kind: 'tick' }, ...spec.columns] : spec.columns;
    this.sections = [];
    this.tickAll = h('input', { type: 'checkbox', 'aria-label': t('Select all rows of this page'), on: { change: () => this.tickEach(this.tickAll.checked) } });
    this.table = h('table', { class: `list ${spec.name}` }, h('caption', { class: 'visually-hidden' }, spec.caption),
      h('thead', null, h('tr', null, columns.map((column) => h('th', { scope: 'col', class: column.kind || '' }, column.kind === 'tick' ? this.tickAll : column.head)))));
    this.message = h('div', { class: 'list-message', 'aria-live': 'polite' });
    this.foot = h('div', { class: 'list-foot' });
    this.bulkBar = h('div', { class: 'bulk', hidden: true });
    this.panelPlace = h('div', { class: 'panel-place' });
    this.near = new IntersectionObserver((entries) => { if (entries.some((one) => one.isIntersecting)) this.drawMore(this.drawn + ROWS_A_STEP); }, { rootMargin: NEAR });
    this.near.observe(this.foot);
    this.onPrint = () => this.drawMore(this.rows.length);
    window.addEventListener('beforeprint', this.onPrint);
    show(this.root, this.filterBar(), this.bulkBar, h('div', { class: 'list-and-panel' }, h('div', { class: 'list-place' }, this.table, this.message, this.foot), this.panelPlace));
  }

  filterBar() {
    if (!this.spec.filters) return null;
    let timer = 0;
    this.filters = this.spec.filters.map((filter) => {
      const id = newId('f');
      const value = this.route.parameters.get(filter.name) || filter.value || '';
      const later = () => { clearTimeout(timer); timer = setTimeout(() => this.applyFilters(), filter.kind === 'select' ? 0 : TYPING_MS); };
      const control = filter.kind === 'select'
        ? h('select', { id, name: filter.name, on: { change: later } }, filter.options.map(([key, text]) => h('option', { value: key, selected: key === value }, text)))
        : h('input', { id, name: filter.name, type: filter.kind || 'text', value, placeholder: filter.placeholder, autocomplete: 'off', spellcheck: 'false', on: { input: later, search: later } });
      return { filter, control, node: h('div', { class: 'filter' }, h('label', { for: id }, filter.label), control) };
    });
    const clear = button(t('Clear'), () => { this.filters.forEach(({ control, filter }) => { control.value = filter.value || ''; }); this.applyFilters(); }, { kind: 'quiet' });
    const first = this.filters.filter((one) => !one.filter.more);
    const rest = this.filters.filter((one) => one.filter.more);
    const isUsed = rest.some(({ filter, control }) => control.value !== (filter.value || ''));
    const more = h('div', { class: 'filters more', hidden: !isUsed }, rest.map((one) => one.node));
    const toggle = rest.length > 0 && button(t('More filters'), () => {
      more.hidden = !more.hidden;
      toggle.setAttribute('aria-expanded', String(!more.hidden));
    }, { kind: 'quiet' });
    if (toggle) toggle.setAttribute('aria-expanded', String(isUsed));
    return h('form', { class: 'filter-bar', role: 'search', 'aria-label': t('Filters'), on: { submit: (event) => { event.preventDefault(); this.applyFilters(); } } },
      h('div', { class: 'filters' }, first.map((one) => one.node), h('div', { class: 'filter-end' }, toggle, clear, this.spec.tools)), rest.length > 0 && more);
  }

  applyFilters() {
    const changes = { page: '', open: '' };
    for (const { filter, control } of this.filters) changes[filter.name] = control.value.trim() === (filter.value || '') ? '' : control.value.trim();
    go(changed(changes), { replace: true });
  }

  parameters() {
    const all = Object.fromEntries((this.spec.filters || []).map((filter) => [filter.name, filter.value || '']));
    return { ...all, ...Object.fromEntries(this.route.parameters) };
  }

  // Applies a new address of the same view.
  update(route) {
    const before = this.route.parameters;
    this.route = route;
    const rest = (parameters) => [...parameters].filter(([name]) => name !== 'open').sort().join('&');
    (this.filters || []).forEach(({ filter, control }) => {
      const value = route.parameters.get(filter.name) || filter.value || '';
      if (control !== document.activeElement && control.value !== value) control.value = value;
    });
    if (rest(before) !== rest(route.parameters)) this.reload();
    else this.showPanel();
  }

  async reload({ quiet = false } = {}) {
    if (this.abort) this.abort.abort();
    const abort = new AbortController();
    this.abort = abort;
    if (!quiet) {
      this.table.setAttribute('aria-busy', 'true');
      if (!this.rows.length) show(this.message, loading());
    }
    try {
      const size = Number(this.route.parameters.get('size')) || 50;
      const { rows, next } = await this.spec.load({ parameters: this.parameters(), size, token: this.route.parameters.get('page') || '', signal: abort.signal });
      if (abort.signal.aborted || this.closed) return;
      this.next = next;
      this.draw(rows, quiet);
      this.drawFoot();
      this.showPanel();
    } catch (error) {
      if (abort.signal.aborted || this.closed) return;
      if (quiet) return;
      this.rows = [];
      this.drawn = 0;
      this.place(0);
      show(this.foot);
      show(this.message, errorBox(error, () => this.reload()));
    } finally {
      if (this.abort === abort) this.table.removeAttribute('aria-busy');
    }
  }

  // Draws the rows, as many as before or the first ones; those that did not change keep their elements.
  draw(rows, quiet) {
    const focused = this.hasFocus();
    this.before = this.nodes;
    this.nodes = new Map();
    this.rows = rows;
    const until = quiet ? Math.max(ROWS_FIRST, this.drawn || 0) : ROWS_FIRST;
    this.drawn = 0;
    if (!quiet) this.table.classList.remove('is-long');
    this.drawMore(until);
    this.before = new Map();
    this.freezeColumns();
    const keys = new Set(rows.map((row) => this.spec.key(row)));
    this.chosen = new Set([...this.chosen].filter((key) => keys.has(key)));
    this.drawBulk();
    this.table.hidden = rows.length === 0;
    show(this.message, rows.length === 0 && this.emptyMessage());
    if (keys.has(this.openKey)) this.focusKey = this.openKey; // keys act on the row whose panel is open
    else if (!keys.has(this.focusKey)) this.focusKey = rows.length ? this.spec.key(rows[0]) : '';
    this.markFocus(focused);
  }

  hasFocus() {
    return this.sections.some((section) => section.contains(document.activeElement));
  }

  // Keeps the columns of the first rows once further ones follow: then sections depend on no other section, so that a row, or a
  // panel beside the list, does not require all rows to be laid out.
  freezeColumns() {
    if (this.drawn >= this.rows.length || this.table.classList.contains('is-long')) return;
    const heads = [...this.table.querySelectorAll('thead th')];
    const sizes = heads.map((head) => [head, head.offsetWidth || HIDDEN_COLUMN]);
    const height = this.sections[0].offsetHeight;
    if (!height) return;
    const template = (some) => some.map(([head, width]) => (head.classList.contains('tick') ? `${width}px` : `minmax(0, ${width}fr)`)).join(' ');
    this.table.style.setProperty('--columns', template(sizes));
    this.table.style.setProperty('--columns-narrow', template(sizes.filter(([head]) => !head.classList.contains('wide'))));
    this.table.style.setProperty('--section-height', `${height}px`);
    this.table.classList.add('is-long');
  }

  // Draws further rows, up to a number of them in all, or some more to fill the last section.
  drawMore(until) {
    const end = Math.min(Math.ceil(until / ROWS_A_STEP) * ROWS_A_STEP, this.rows.length);
    const began = this.drawn;
    for (; this.drawn < end; this.drawn += 1) {
      const row = this.rows[this.drawn];
      const key = this.spec.key(row);
      const text = JSON.stringify(row);
      const known = this.before && this.before.get(key);
      const isNew = this.before && this.before.size > 0 && !known;
      this.nodes.set(key, known && known.text === text ? known : { text, node: this.rowNode(row, key, isNew) });
    }
    this.place(Math.floor(began / ROWS_A_STEP));
    if (this.drawn < this.rows.length) { // check again at the end
      this.near.unobserve(this.foot);
      this.near.observe(this.foot);
    }
  }

  // Puts the rows that are drawn into their sections, from one section on; rows that are in their places are not touched.
  place(first) {
    const end = Math.ceil(this.drawn / ROWS_A_STEP);
    for (let at = first; at < end; at += 1) {
      if (!this.sections[at]) {
        this.sections.push(h('tbody', null));
        this.table.append(this.sections[at]);
      }
      const rows = this.rows.slice(at * ROWS_A_STEP, Math.min((at + 1) * ROWS_A_STEP, this.drawn));
      fillSection(this.sections[at], rows.map((row) => this.nodes.get(this.spec.key(row)).node));
    }
    this.sections.splice(end).forEach((section) => section.remove());
  }

  emptyMessage() {
    const filtered = (this.spec.filters || []).some((filter) => (this.route.parameters.get(filter.name) || '') !== '');
    if (this.next) return empty(t('Nothing found so far.'), t('Only a part of the rows was examined; further ones may match.'), h('a', { class: 'button', href: changed({ page: this.next, open: '' }) }, t('Look further')));
    if (this.route.parameters.get('page')) return empty(t('There is nothing more.'), t('This page of the list has no rows.'));
    if (filtered) return empty(t('Nothing matches these filters.'), t('Change them, or clear all of them.'));
    return this.spec.empty();
  }

  rowNode(row, key, isNew) {
    const { spec } = this;
    const cells = spec.columns.map((column, at) => {
      const content = column.cell(row);
      const inner = at === 0 && spec.open ? h('a', { class: 'row-link', href: changed({ open: key }), tabindex: '-1' }, content) : h('div', { class: 'cell' }, content);
      return h('td', { class: column.kind || '', 'data-label': column.head || null }, inner);
    });
    const tick = spec.bulk && h('td', { class: 'tick' }, h('input', {
      type: 'checkbox', 'aria-label': t('Select this row'), checked: this.chosen.has(key), on: { change: (event) => this.tick(key, event.target.checked) },
    }));
    return h('tr', {
      class: `${isNew ? 'is-new' : ''} ${spec.rowKind ? spec.rowKind(row) : ''}`, tabindex: '-1', 'data-key': key,
      on: { click: (event) => this.onClick(event, key), focus: () => { this.focusKey = key; this.markFocus(false); } },
    }, tick, cells);
  }

  // Draws one row again, after something that its text does not show.
  touch(key) {
    const row = this.rows.find((one) => this.spec.key(one) === key);
    const known = this.nodes.get(key);
    if (!row || !known) return;
    const had = known.node.contains(document.activeElement);
    const node = this.rowNode(row, key, false);
    known.node.replaceWith(node);
    known.node = node;
    this.markFocus(had);
  }

  onClick(event, key) {
    if (event.target.closest('button, input, select, label') || getSelection().toString()) return;
    this.focusKey = key;
    this.markFocus(false);
    if (!this.spec.open || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    go(changed({ open: this.route.parameters.get('open') === key ? '' : key }));
  }

  markFocus(take) {
    const open = this.route.parameters.get('open') || '';
    for (const [key, { node }] of this.nodes) {
      const isHere = key === this.focusKey;
      node.tabIndex = isHere ? 0 : -1;
      if (key === open) node.setAttribute('aria-current', 'true');
      else node.removeAttribute('aria-current');
      node.classList.toggle('is-here', isHere);
      if (isHere && take) node.focus({ preventScroll: false });
    }
  }

  move(step) {
    const at = this.rows.findIndex((row) => this.spec.key(row) === this.focusKey);
    const next = Math.max(0, Math.min(this.rows.length - 1, at + step));
    if (!this.rows.length) return false;
    this.drawMore(next + 1);
    this.focusKey = this.spec.key(this.rows[next]);
    this.markFocus(true);
    this.nodes.get(this.focusKey).node.scrollIntoView({ block: 'nearest' });
    if (this.route.parameters.get('open')) go(changed({ open: this.focusKey }), { replace: true });
    return true;
  }

  current() {
    return this.rows.find((row) => this.spec.key(row) === this.focusKey);
  }

  act(name) {
    const row = this.current();
    const action = row && this.spec.actions && this.spec.actions(row).find((one) => one.key === name);
    if (!action) return false;
    Promise.resolve(action.run()).catch(sayError);
    return true;
  }

  keys() {
    const { spec } = this;
    const keys = [
      { key: 'j', label: t('next row'), run: () => this.move(1) },
      { key: 'k', label: t('row before'), run: () => this.move(-1) },
      { key: 'ArrowDown', run: () => (this.hasFocus() ? this.move(1) : false) },
      { key: 'ArrowUp', run: () => (this.hasFocus() ? this.move(-1) : false) },
      { key: 'Escape', run: () => (this.route.parameters.get('open') ? this.closePanel() : false) },
    ];
    if (spec.open) keys.push({ key: 'Enter', label: t('open the row'), run: () => (this.current() ? go(changed({ open: this.focusKey })) : false) });
    if (spec.filters) keys.push({ key: '/', label: t('go to the filters'), run: () => this.filters[0].control.focus() });
    if (spec.bulk) keys.push({ key: 'x', label: t('select the row'), run: () => (this.current() ? this.tick(this.focusKey, !this.chosen.has(this.focusKey)) : false) });
    (spec.actionKeys || []).forEach(([key, label]) => keys.push({ key, label, run: () => this.act(key) }));
    keys.push({ key: 'n', label: t('next page'), run: () => (this.next ? go(changed({ page: this.next, open: '' })) : false) });
    return keys;
  }

  tick(key, on) {
    if (on) this.chosen.add(key);
    else this.chosen.delete(key);
    this.markTick(key, on);
    this.drawBulk();
  }

  markTick(key, on) {
    const known = this.nodes.get(key);
    const box = known && known.node.querySelector('input[type=checkbox]');
    if (box) box.checked = on;
  }

  tickEach(on) {
    this.chosen = new Set(on ? this.rows.map((row) => this.spec.key(row)) : []);
    this.nodes.forEach((known, key) => this.markTick(key, on));
    this.drawBulk();
  }

  drawBulk() {
    if (!this.spec.bulk) return;
    const rows = this.rows.filter((row) => this.chosen.has(this.spec.key(row)));
    this.tickAll.checked = rows.length > 0 && rows.length === this.rows.length;
    this.tickAll.indeterminate = rows.length > 0 && rows.length < this.rows.length;
    this.bulkBar.hidden = rows.length === 0;
    show(this.bulkBar, h('span', null, tn(rows.length, '{n} selected', '{n} selected')), rows.length > 0 && this.spec.bulk(rows),
      button(t('Select none'), () => this.tickEach(false), { kind: 'quiet' }));
  }

  drawFoot() {
    const token = this.route.parameters.get('page');
    const size = h('select', { 'aria-label': t('Rows of a page'), on: { change: (event) => go(changed({ size: event.target.value === '50' ? '' : event.target.value, page: '', open: '' })) } },
      SIZES.map((one) => h('option', { value: one, selected: one === (this.route.parameters.get('size') || '50') }, one)));
    show(this.foot, h('span', { class: 'muted' }, tn(this.rows.length, '{n} row', '{n} rows'), this.next ? t(', more follow') : ''),
      h('label', { class: 'size' }, t('Rows of a page'), size),
      button('CSV', () => this.save(), { kind: 'quiet small', symbol: 'download', title: t('Save these rows as CSV') }),
      h('span', { class: 'spring' }),
      token && h('a', { class: 'button', href: changed({ page: '', open: '' }) }, t('First page')),
      this.next && h('a', { class: 'button', href: changed({ page: this.next, open: '' }) }, t('Next page')));
  }

  save() {
    const columns = this.spec.columns.filter((column) => column.text);
    saveFile(`${this.spec.name}.csv`, csvText(columns.map((column) => column.head), this.rows.map((row) => columns.map((column) => column.text(row)))));
  }

  // Shows the panel of the address' row, beside the list.
  async showPanel() {
    const key = this.route.parameters.get('open') || '';
    if (this.spec.open) this.markFocus(false);
    if (key === this.openKey) return;
    this.openKey = key;
    this.root.classList.toggle('has-panel', key !== '');
    if (!key) { this.panelLoad += 1; show(this.panelPlace); return; }
    if (this.rows.some((row) => this.spec.key(row) === key)) this.focusKey = key;
    this.markFocus(false);
    const close = h('button', { class: 'icon-button panel-close', type: 'button', 'aria-label': t('Close'), on: { click: () => this.closePanel() } }, icon('close'));
    const content = h('div', { class: 'panel-content' }, loading());
    const panel = h('aside', { class: 'panel', 'aria-label': this.spec.panelLabel || t('Details'), tabindex: '-1' }, close, content);
    show(this.panelPlace, panel);
    await this.fillPanel(key, content);
  }

  // If several run at once, only the newest fills the panel, since an older response may predate a change.
  async fillPanel(key, content) {
    this.panelLoad += 1;
    const load = this.panelLoad;
    try {
      const node = await this.spec.open(key, this.rows.find((row) => this.spec.key(row) === key));
      if (this.panelLoad === load) show(content, node);
    } catch (error) {
      if (this.panelLoad === load) show(content, errorBox(error, () => this.fillPanel(key, content)));
    }
  }

  closePanel() {
    go(changed({ open: '' }));
    this.markFocus(true);
  }

  // Loads list and panel again, after something changed.
  async refresh() {
    await this.reload({ quiet: true });
    await this.refillPanel();
  }

  // Loads the open panel again; what is typed in it is lost.
  async refillPanel() {
    const content = this.openKey && this.panelPlace.querySelector('.panel-content');
    if (content) await this.fillPanel(this.openKey, content);
  }

  onEvent(event) {
    if (!this.spec.concerns(event) || this.liveTimer) return;
    this.liveTimer = setTimeout(() => {
      this.liveTimer = 0;
      if (!this.closed && !this.route.parameters.get('page')) this.reload({ quiet: true });
    }, LIVE_MS);
  }

  close() {
    this.closed = true;
    this.near.disconnect();
    window.removeEventListener('beforeprint', this.onPrint);
    clearTimeout(this.liveTimer);
    if (this.abort) this.abort.abort();
    this.removeKeys();
    this.removeEvents();
  }
}
