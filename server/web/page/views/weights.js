// Weights that later verdicts suggest for rules, with their intervals and the verdicts that they would flip; a person
// previews and applies the chosen ones.

import { h, show } from '../core/dom.js';
import { t, tn } from '../core/words.js';
import { readPage, write } from '../core/call.js';
import { hasRole } from '../core/session.js';
import { say } from '../core/notes.js';
import { enumWords, signed, count, number } from '../core/format.js';
import { heading, empty, button, section, plainTable, facts } from '../parts/frame.js';
import { form, field } from '../parts/form.js';
import { intervals } from '../parts/chart.js';
import { List } from '../parts/list.js';
import { stateBadge } from './rules.js';
import { verdictTabs } from './verdicts.js';

function flips(one) {
  return `+${count(one.rightFlipCount)} −${count(one.wrongFlipCount)}`;
}

function columns() {
  return [
    { head: t('Pattern'), cell: (one) => h('span', { class: 'mono' }, one.rule.pattern), text: (one) => one.rule.pattern },
    { head: t('State'), kind: 'wide', cell: (one) => stateBadge(one.rule), text: (one) => one.rule.state },
    { head: t('Adds now'), kind: 'number', cell: (one) => signed(one.rule.confidenceAdjustment || 0), text: (one) => one.rule.confidenceAdjustment || 0 },
    { head: t('Suggested'), kind: 'number', cell: (one) => h('strong', null, signed(one.weight || 0)), text: (one) => one.weight || 0 },
    { head: t('95% interval'), kind: 'number', cell: (one) => `${signed(one.low || 0, 2)} … ${signed(one.high || 0, 2)}`, text: (one) => `${one.low || 0} ${one.high || 0}` },
    { head: t('Agreed'), kind: 'number wide', cell: (one) => t('{agreed} of {all}', { agreed: count(one.agreedCount), all: count(one.agreedCount) + count(one.disagreedCount) }), text: (one) => count(one.agreedCount) },
    { head: t('Flips'), kind: 'number', cell: (one) => h('span', { title: t('verdicts turned to the right one, and to a wrong one') }, flips(one)), text: flips },
  ];
}

function flipTable(title, rows) {
  if (!(rows || []).length) return null;
  return section(title, plainTable(title, [
    { head: t('Receipt'), cell: (one) => one.receiptId }, { head: t('Score'), number: true, cell: (one) => number(one.originalScore || 0, 3) },
    { head: t('Verdict now'), cell: (one) => enumWords(one.previousVerdict, 'VERDICT_') }, { head: t('With the weight'), cell: (one) => enumWords(one.verdict, 'VERDICT_') },
    { head: t('It really was'), cell: (one) => enumWords(one.correctVerdict, 'VERDICT_') }], rows));
}

function panelOf(one) {
  return [h('h2', { class: 'mono' }, one.rule.pattern),
    facts([[t('Adds now'), signed(one.rule.confidenceAdjustment || 0)], [t('Suggested'), signed(one.weight || 0)], [t('People agreed'), count(one.agreedCount)], [t('People disagreed'), count(one.disagreedCount)]]),
    intervals({ title: t('Suggested weight'), name: 'suggested-weight', text: (value) => signed(value, 2), from: -widest(one), to: widest(one),
      rows: [{ label: t('Now'), value: one.rule.confidenceAdjustment || 0 }, { label: t('Suggested'), value: one.weight || 0, low: one.low || 0, high: one.high || 0 }],
      sentence: t('From {n} firings with a verdict. Weights help on receipts like those that were measured; they may not on others.', { n: count(one.agreedCount) + count(one.disagreedCount) }) }),
    flipTable(t('Turned to the right verdict'), one.rightFlips), flipTable(t('Turned to a wrong verdict'), one.wrongFlips)];
}

// The end of a scale around 0 on which all weights of a rule fit.
function widest(one) {
  return 1.2 * Math.max(0.01, ...[one.rule.confidenceAdjustment, one.weight, one.low, one.high].map((value) => Math.abs(value || 0)));
}

function chosenOf(rows) {
  return rows.map((one) => ({ ruleId: one.rule.id, weight: one.weight || 0 }));
}

async function preview(rows, place, list) {
  const reply = await write('VerdictService/ApplySuggestedWeights', { weights: chosenOf(rows), apply: false });
  const changes = reply.changes || [];
  const close = () => { show(place); place.hidden = true; };
  place.hidden = false;
  show(place, h('h2', null, tn(changes.length, '{n} weight would change', '{n} weights would change')),
    plainTable(t('Changes'), [{ head: t('Rule'), cell: (one) => one.rule.pattern }, { head: t('Adds now'), number: true, cell: (one) => signed(one.previousWeight || 0) }, { head: t('Would add'), number: true, cell: (one) => signed(one.rule.confidenceAdjustment || 0) }], changes),
    changes.length > 0 ? form({
      submit: tn(changes.length, 'Apply {n} weight', 'Apply {n} weights'), cancel: close, fields: [field({ name: 'reason', label: t('Reason'), kind: 'area', rows: 2, required: true })],
      run: async ({ reason }) => {
        await write('VerdictService/ApplySuggestedWeights', { weights: chosenOf(rows), apply: true, reason });
        say(tn(changes.length, '{n} weight applied.', '{n} weights applied.'));
        close();
        list().tickEach(false);
        await list().refresh();
      },
    }) : h('div', { class: 'actions' }, button(t('Close'), close)));
  place.scrollIntoView({ block: 'nearest' });
}

export function open(root, route) {
  const place = h('div', null);
  const previewed = h('div', { class: 'card', hidden: true });
  let list = null;
  const mayApply = hasRole('REVIEWER', 'ADMIN');
  show(root, heading(t('Suggested weights'), t('What a rule should add, by how often people agreed with it. Nothing is applied by itself: choose, preview, apply.')), verdictTabs('weights'), previewed, place);
  list = new List(place, route, {
    name: 'weights', caption: t('Suggested weights'), panelLabel: t('Suggested weight'), key: (one) => one.rule.id, columns: columns(),
    load: ({ size, token, signal }) => readPage('VerdictService/ListSuggestedWeights', { pageSize: size, pageToken: token }, 'weights', { signal }),
    open: async (id) => {
      const { rows } = await readPage('VerdictService/ListSuggestedWeights', { ruleId: id, pageSize: 1 }, 'weights');
      return rows.length ? panelOf(rows[0]) : empty(t('Nothing is suggested for this rule any more.'), '');
    },
    bulk: mayApply && ((rows) => button(t('Preview'), () => preview(rows, previewed, () => list).catch((error) => { previewed.hidden = false; show(previewed, h('p', { class: 'callout wrong' }, error.message)); }), { kind: 'primary' })),
    concerns: (event) => /LEARNED_RULE_WEIGHT|VERDICT|RETRACTED/.test(event.kind),
    empty: () => empty(t('No weight is suggested.'), t('A rule needs 5 firings with a verdict that cites the score; then its weight is suggested here if it differs.')),
  });
  return list;
}
