// Mappings of customers' SKUs by customer and status. A judgement is sent after a few seconds, all that were made
// meanwhile in one call, so that it can be undone before it has an effect; leaving the view sends it at once.

import { h, show } from '../core/dom.js';
import { t, tn } from '../core/words.js';
import { href } from '../core/route.js';
import { read, readPage, write } from '../core/call.js';
import { hasRole } from '../core/session.js';
import { sayDone, sayError } from '../core/notes.js';
import { enumWords, when, number, percent, count, idText, timeText } from '../core/format.js';
import { heading, empty, badge, facts, section, button, fillFrom } from '../parts/frame.js';
import { form, field } from '../parts/form.js';
import { List } from '../parts/list.js';
import { outcomesTable } from '../parts/evidence.js';

const STATUS = 'MAPPING_STATUS_';
const STATUSES = ['SUGGESTED', 'CONFIRMED', 'REJECTED', 'SUPERSEDED'];
const HOLD_MS = 6000;
const KINDS = { SUGGESTED: '', CONFIRMED: 'right', REJECTED: 'wrong', SUPERSEDED: '' };

// Judgements that were made and not yet sent: mapping id -> confirm or reject.
class Judgements {
  constructor(changed) {
    this.changed = changed;
    this.waiting = new Map();
    this.timer = 0;
    this.withdraw = [];
    this.onHide = () => { if (document.hidden) this.send(); };
    document.addEventListener('visibilitychange', this.onHide);
  }

  add(rows, judgement) {
    const ids = rows.map((row) => row.id);
    ids.forEach((id) => this.waiting.set(id, judgement));
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.send(), HOLD_MS);
    const text = judgement === 'confirm' ? tn(ids.length, '{n} mapping is being confirmed.', '{n} mappings are being confirmed.') : tn(ids.length, '{n} mapping is being rejected.', '{n} mappings are being rejected.');
    this.withdraw.push(sayDone(text, async () => {
      ids.forEach((id) => this.waiting.delete(id));
      this.changed(ids, false);
    }));
    this.changed(ids, false);
  }

  async send() {
    clearTimeout(this.timer);
    const entries = [...this.waiting];
    this.withdraw.forEach((one) => one());
    this.withdraw = [];
    if (!entries.length) return;
    try {
      for (let at = 0; at < entries.length; at += 1000) {
        await write('MappingService/BatchJudgeMappings', { judgements: entries.slice(at, at + 1000).map(([id, judgement]) => ({ [judgement]: { id } })) });
      }
    } catch (error) {
      sayError(error);
    }
    entries.forEach(([id]) => this.waiting.delete(id));
    this.changed(entries.map(([id]) => id), true);
  }

  close() {
    document.removeEventListener('visibilitychange', this.onHide);
    return this.send();
  }
}

function statusBadge(mapping, judgements) {
  const judgement = judgements.waiting.get(mapping.id);
  if (judgement) return badge(judgement === 'confirm' ? t('being confirmed') : t('being rejected'), judgement === 'confirm' ? 'right' : 'wrong');
  const status = mapping.status.slice(STATUS.length);
  return badge(enumWords(mapping.status, STATUS), KINDS[status]);
}

function columns(judgements) {
  return [
    { head: t('Customer’s SKU'), cell: (one) => [h('span', { class: 'mono' }, one.customerSku), h('span', { class: 'arrow' }, ' → '), h('strong', { class: 'mono' }, one.internalSku)], text: (one) => `${one.customerSku} -> ${one.internalSku}` },
    { head: t('Customer'), cell: (one) => one.customerId, text: (one) => one.customerId },
    { head: t('Status'), cell: (one) => statusBadge(one, judgements), text: (one) => one.status },
    { head: t('Confidence'), kind: 'number', cell: (one) => (one.confidence === undefined ? '–' : percent(one.confidence, 0)), text: (one) => one.confidence ?? '' },
    { head: t('Confirmed'), kind: 'number wide', cell: (one) => number(count(one.supportCount)), text: (one) => count(one.supportCount) },
    { head: t('Used'), kind: 'number wide', cell: (one) => number(count(one.useCount)), text: (one) => count(one.useCount) },
    { head: t('Changed'), kind: 'wide', cell: (one) => when(one.updatedAt), text: (one) => one.updatedAt },
  ];
}

function panelOf(mapping, judge) {
  const report = h('div', null);
  fillFrom(report, async () => {
    const reply = await read('LearningService/GetArtifactReport', { artifactId: mapping.id });
    const served = reply.served || {};
    return [h('p', null, t('Filled in {n} times; withdrawn after {bad} of {outcomes} uses with an outcome.', { n: count(served.exposureCount), bad: count(served.badCount), outcomes: count(served.outcomeCount) })), outcomesTable(reply.newestOutcomes || [])];
  });
  return [
    h('h2', null, t('Mapping')),
    facts([[t('Customer'), h('a', { href: href('mappings', { customer: mapping.customerId }) }, mapping.customerId)], [t('Customer’s SKU'), mapping.customerSku],
      [t('Internal SKU'), h('a', { href: href('mappings', { internal: mapping.internalSku }) }, mapping.internalSku)], [t('Status'), enumWords(mapping.status, STATUS)],
      [t('Confidence'), mapping.confidence === undefined ? '–' : percent(mapping.confidence, 0)], [t('Confirmed'), number(count(mapping.supportCount))], [t('Used'), number(count(mapping.useCount))],
      [t('Last used'), mapping.lastUsedAt && timeText(mapping.lastUsedAt)], [t('Created'), timeText(mapping.createdAt)], [t('Changed'), timeText(mapping.updatedAt)], [t('Id'), idText(mapping.id)]]),
    judge && h('div', { class: 'actions' }, button(t('Confirm'), () => judge([mapping], 'confirm'), { kind: 'primary', key: 'c' }), button(t('Reject'), () => judge([mapping], 'reject'), { kind: 'danger', key: 'r' })),
    section(t('How it was used'), report),
  ];
}

function addForm(done) {
  return form({
    submit: t('Confirm this mapping'), cancel: done,
    fields: [h('div', { class: 'field-row' }, field({ name: 'customer_id', label: t('Customer'), required: true }), field({ name: 'customer_sku', label: t('Customer’s SKU'), required: true }), field({ name: 'internal_sku', label: t('Internal SKU'), required: true }))],
    run: async (values) => {
      const { mapping } = await write('MappingService/ConfirmMapping', { customerId: values.customer_id, customerSku: values.customer_sku, internalSku: values.internal_sku });
      sayDone(t('Confirmed.'), () => write('MappingService/RejectMapping', { id: mapping.id }));
      done();
    },
  });
}

export function open(root, route) {
  const place = h('div', null);
  const adding = h('div', { class: 'card', hidden: true });
  let list = null;
  const judgements = new Judgements((ids, sent) => {
    ids.forEach((id) => list.touch(id));
    if (sent && !list.closed) list.refresh();
  });
  const mayJudge = hasRole('OPERATOR', 'REVIEWER', 'SERVICE', 'INTEGRATOR', 'ADMIN');
  const judge = mayJudge && ((rows, judgement) => { judgements.add(rows, judgement); });
  const close = () => { adding.hidden = true; show(adding); if (list) list.refresh(); };
  const add = mayJudge && button(t('Add'), () => { adding.hidden = false; show(adding, addForm(close)); adding.querySelector('input').focus(); });
  show(root, heading(t('Mappings'), t('What a customer’s article number means here. Confirmed ones are filled in by themselves in that customer’s next order.'), add), adding, place);
  list = new List(place, route, {
    name: 'mappings', caption: t('Mappings'), panelLabel: t('Mapping'), key: (one) => one.id, columns: columns(judgements),
    filters: [
      { name: 'customer', label: t('Customer') },
      { name: 'status', label: t('Status'), kind: 'select', options: [['', t('any')], ...STATUSES.map((one) => [one, enumWords(STATUS + one, STATUS)])] },
      { name: 'sku', label: t('Customer’s SKU begins with') }, { name: 'internal', label: t('Internal SKU') }],
    load: ({ parameters, size, token, signal }) => readPage('MappingService/ListMappings', {
      customerId: parameters.customer, status: parameters.status ? STATUS + parameters.status : undefined, customerSkuPrefix: parameters.sku, internalSku: parameters.internal, pageSize: size, pageToken: token,
    }, 'mappings', { signal }),
    open: async (id) => panelOf((await read('MappingService/GetMapping', { id })).mapping, judge),
    actionKeys: judge && [['c', t('confirm the mapping')], ['r', t('reject the mapping')]],
    actions: (row) => (judge ? [
      { key: 'c', run: () => { judge([row], 'confirm'); list.move(1); } },
      { key: 'r', run: () => { judge([row], 'reject'); list.move(1); } }] : []),
    bulk: judge && ((rows) => [
      button(t('Confirm'), () => { judge(rows, 'confirm'); list.tickEach(false); }, { kind: 'primary' }),
      button(t('Reject'), () => { judge(rows, 'reject'); list.tickEach(false); }, { kind: 'danger' })]),
    concerns: (event) => ['EVENT_KIND_FEEDBACK', 'EVENT_KIND_MAPPING_SUGGESTED', 'EVENT_KIND_MAPPING_APPLIED'].includes(event.kind),
    empty: () => empty(t('No mappings yet.'), t('They appear when a matcher suggests one (SuggestMapping) or a person confirms one, here or in your application.')),
  });
  return { update: (next) => list.update(next), close: () => { list.close(); judgements.close(); } };
}
