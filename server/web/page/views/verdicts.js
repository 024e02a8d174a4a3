// Verdicts on receipts: how often the scorer was right, a form for new verdicts, the rules that were learned, their
// suggested weights, and rules that the server finds in the submissions.

import { h, show } from '../core/dom.js';
import { t, tn } from '../core/words.js';
import { href, go, changed } from '../core/route.js';
import { read } from '../core/call.js';
import { count, number, percent } from '../core/format.js';
import { heading, figure, section, fillFrom, tabs, errorBox } from '../parts/frame.js';
import { bars, intervals } from '../parts/chart.js';

const DAYS = ['7', '30', '90', '365'];

export function verdictTabs(current) {
  return tabs(t('Verdicts'), [
    { id: '', label: t('Results'), address: href('verdicts') }, { id: 'submit', label: t('New verdict'), address: href('verdicts/submit') },
    { id: 'rules', label: t('Rules'), address: href('verdicts/rules') }, { id: 'weights', label: t('Suggested weights'), address: href('verdicts/weights') },
    { id: 'find', label: t('Find rules'), address: href('verdicts/find') }], current);
}

function statistics(stats) {
  const total = count(stats.totalFeedback);
  const wrong = { positives: count(stats.falsePositives), negatives: count(stats.falseNegatives) };
  const breakdown = [[t('real'), stats.realReceipts], [t('fake'), stats.fakeReceipts], [t('suspicious'), stats.suspiciousReceipts]].map(([label, value]) => ({ label, value: count(value) }));
  const missed = (stats.commonMissedIndicators || []).map((one) => ({ label: one.indicator, value: count(one.count), address: href('verdicts/rules', { pattern: one.indicator }) }));
  return [
    h('h2', { class: 'visually-hidden' }, t('Results')),
    h('div', { class: 'figures' },
      figure({ label: t('Right at once'), value: stats.accuracy === undefined ? '–' : percent(stats.accuracy / 100), detail: tn(total, 'of {n} verdict', 'of {n} verdicts') }),
      figure({ label: t('False positives'), value: number(wrong.positives), detail: t('called fake, were real') }),
      figure({ label: t('False negatives'), value: number(wrong.negatives), detail: t('called real, were fake') })),
    stats.incomplete && h('p', { class: 'callout' }, t('These figures are incomplete: more rows exist than one call examines.')),
    h('div', { class: 'grid' },
      bars({ title: t('What receipts really were'), name: 'verdicts', rows: breakdown, unit: t('Receipts'), sentence: total ? t('{share} of the receipts were fake.', { share: percent(breakdown[1].value / total, 0) }) : t('No verdicts in these days.') }),
      bars({ title: t('Indicators that are missed most'), name: 'missed-indicators', rows: missed, unit: t('Misses'), kind: 'wrong', sentence: missed.length ? t('{indicator} was missed most, {n} times.', { indicator: missed[0].label, n: number(missed[0].value) }) : t('No indicator was missed in these days.') })),
  ];
}

function rateRow(label, rate) {
  const { n, estimate, low, high } = rate || {};
  return { label, value: estimate, low, high, detail: tn(count(n), '{n} case', '{n} cases') };
}

function setReport(report) {
  const live = report.live || {};
  const shadow = report.shadow || {};
  const rows = [[t('Coverage'), 'coverage'], [t('Precision'), 'precision'], [t('Recall'), 'recall'], [t('Overlap'), 'overlap'], [t('Conflict'), 'conflict']]
    .flatMap(([label, member]) => [rateRow(label, live[member]), ...(shadow[member] && count(shadow[member].n) ? [rateRow(t('{name}, in shadow', { name: label }), shadow[member])] : [])]);
  const flips = { right: count(live.rightFlipCount), wrong: count(live.wrongFlipCount) };
  return intervals({
    title: t('The rules together'), name: 'rule-set', rows, from: 0, to: 1, zero: 0,
    sentence: count(report.scoreCount) === 0 ? t('No verdict cites a score yet, so the rules can’t be measured. Pass the exposure reference of ScoreDocument to SubmitVerdict.')
      : t('Of {n} scores with a verdict, rules turned {right} verdicts to the right one and {wrong} to a wrong one.', { n: number(count(report.scoreCount)), right: flips.right, wrong: flips.wrong }),
  });
}

function openResults(root, route, signal) {
  const stats = h('div', { class: 'section' });
  const set = h('div', { class: 'section' });
  const load = (now) => {
    const days = now.parameters.get('days') || '30';
    const choice = h('label', { class: 'days' }, t('Days'), h('select', { on: { change: (event) => go(changed({ days: event.target.value === '30' ? '' : event.target.value })) } },
      DAYS.map((one) => h('option', { value: one, selected: one === days }, one))));
    show(root, heading(t('Verdicts'), t('People correct the verdicts of a scorer; rules are learned from it, and measured by later verdicts.'), choice), verdictTabs(''), stats, section(t('What the rules do'), set));
    fillFrom(stats, async () => statistics(await read('VerdictService/GetVerdictStats', { days: Number(days) }, { signal })), signal);
  };
  load(route);
  fillFrom(set, async () => {
    try {
      return setReport(await read('LearningService/GetRuleSetReport', {}, { signal }));
    } catch (error) {
      if (error.code !== 'permission_denied') throw error;
      return errorBox(error);
    }
  }, signal);
  return { update: load };
}

const PARTS = {
  submit: () => import('./verdict_form.js'),
  rules: () => import('./rules.js'),
  weights: () => import('./weights.js'),
  find: () => import('./found_rules.js'),
};

export async function open(root, route, signal) {
  if (!PARTS[route.part]) return openResults(root, route, signal);
  const part = await PARTS[route.part]();
  return part.open(root, route, signal);
}
