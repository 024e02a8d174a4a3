// The card of an agent: what reviewers found in the runs of a subcategory, and which guidance it therefore gets.

import { h, show } from '../core/dom.js';
import { t, tn } from '../core/words.js';
import { href, go, changed } from '../core/route.js';
import { read, readPage, write } from '../core/call.js';
import { hasRole } from '../core/session.js';
import { say } from '../core/notes.js';
import { enumWords, number, percent, dateText } from '../core/format.js';
import { heading, figure, section, fillFrom, empty, badge, plainTable, details } from '../parts/frame.js';
import { form, field } from '../parts/form.js';
import { bars } from '../parts/chart.js';
import { reviewTabs } from './reviews.js';

const SIGNAL = 'REVIEW_SIGNAL_';
const THRESHOLDS = [['bad_format', 'badFormat'], ['wrong_information', 'wrongInformation'], ['wrong_physical_dimensions', 'wrongPhysicalDimensions'], ['missing_spec', 'missingSpec'], ['information_present_low', 'informationPresentLow'], ['reviews_needed', 'reviewsNeeded']];

function percentOf(value) {
  return value === undefined ? '–' : `${number(value, 0)}%`;
}

function periodText(period) {
  return `${dateText(period.firstReviewedAt)} – ${dateText(period.lastReviewedAt)}`;
}

function signalTable(card) {
  const recent = card.triggers ? card.triggers.runCount || 0 : 0;
  return plainTable(t('Signals'), [
    { head: t('Signal'), cell: (one) => enumWords(one.signal, SIGNAL) },
    { head: t('Trigger'), cell: (one) => (one.trigger ? badge(t('on'), 'wrong') : badge(t('off'))) },
    { head: t('In the last reviews'), cell: (one) => t('{n} of the last {all} reviews', { n: one.recentCount || 0, all: recent }) },
    { head: t('Share'), number: true, wide: true, cell: (one) => percentOf(one.recentPercent) },
    { head: t('Of all runs'), number: true, cell: (one) => percentOf(one.percent) }], card.signals || []);
}

function periods(card) {
  const rows = (card.periods || []).map((one) => ({ label: periodText(one), value: (one.firstPassPercent || 0) / 100, detail: tn(one.runCount || 0, '{n} run', '{n} runs') }));
  if (!rows.length) return null;
  const first = rows[0].value;
  const last = rows[rows.length - 1].value;
  return bars({ title: t('Accepted at the first pass'), name: 'first-pass', rows, high: 1, unit: t('Share'), text: (value) => percent(value, 0),
    sentence: rows.length < 2 ? t('One period so far.') : t('{first}% at first, {last}% in the newest period.', { first: number(first * 100, 0), last: number(last * 100, 0) }) });
}

function recurrence(card) {
  const rows = (card.periods || []).map((one) => ({ label: periodText(one), total: one.total || {} }));
  if (!rows.some((row) => row.total.warnedCount)) return null;
  return section(t('Did it come again after a warning?'), plainTable(t('Recurrence of what agents were warned of'), [{ head: t('Period'), cell: (row) => row.label }, { head: t('Warned'), number: true, cell: (row) => row.total.warnedCount || 0 },
    { head: t('Came again'), number: true, cell: (row) => row.total.recurringCount || 0 }, { head: t('Share'), number: true, cell: (row) => percentOf(row.total.recurrencePercent) }], rows));
}

function thresholdForm(card, reload) {
  const now = (card.triggers || {}).thresholds || {};
  return details(t('Thresholds of this subcategory'), form({
    submit: t('Set thresholds'), keep: true,
    fields: [h('div', { class: 'field-row' }, THRESHOLDS.map(([name, member]) => field({ name, label: enumWords(name.toUpperCase(), ''), kind: 'number', value: now[member] ?? '', attributes: { min: 1 } }))), h('p', { class: 'help' }, t('Of 10 runs; empty: the default.'))],
    run: async (values) => {
      const thresholds = Object.fromEntries(THRESHOLDS.filter(([name]) => values[name] !== '').map(([name, member]) => [member, Number(values[name])]));
      await write('ReviewService/SetTriggerThresholds', { subcategory: card.subcategory, thresholds });
      say(t('Thresholds set.'));
      reload();
    },
  }));
}

function cardOf(card, reload) {
  const specs = ((card.triggers || {}).missingSpecs || []).map((one) => ({ label: one.name, value: one.count || 0 }));
  return [
    h('div', { class: 'figures' },
      figure({ label: t('Runs'), value: number(card.runCount || 0), detail: tn(card.reviewCount || 0, '{n} review', '{n} reviews'), address: href('reviews/all', { subcategory: card.subcategory }) }),
      figure({ label: t('Accepted at the first pass'), value: percentOf(card.firstPassPercent), detail: tn(card.firstPassCount || 0, '{n} run', '{n} runs') }),
      figure({ label: t('Reviewed'), value: number(card.reviewedCount || 0) }), figure({ label: t('Changes requested'), value: number(card.changesRequestedCount || 0) }), figure({ label: t('Rejected'), value: number(card.rejectedCount || 0) })),
    (card.triggers || {}).lowConfidence && h('p', { class: 'callout' }, t('Fewer than 10 runs: the triggers are of low confidence.')),
    section(t('Signals and triggers'), signalTable(card)),
    h('div', { class: 'grid' }, specs.length > 0 && bars({ title: t('Specifications that are missing'), name: 'missing-specs', rows: specs, unit: t('Runs'), kind: 'wrong', sentence: t('{name} is missing most, in {n} of the last runs.', { name: specs[0].label, n: specs[0].value }) }), periods(card)),
    recurrence(card), hasRole('ADMIN') && thresholdForm(card, reload)];
}

async function known() {
  const { rows } = await readPage('ReviewService/ListReviews', { pageSize: 200 }, 'reviews');
  return [...new Set(rows.map((one) => one.subcategory))].sort();
}

export function open(root, route, signal) {
  const place = h('div', { class: 'section wide-gap' });
  const choose = form({
    submit: t('Show'), keep: true, fields: [field({ name: 'subcategory', label: t('Subcategory'), required: true, value: route.parameters.get('subcategory') || '' })],
    run: async ({ subcategory }) => go(changed({ subcategory })),
  });
  choose.classList.add('inline');
  const load = (subcategory) => {
    show(place);
    if (subcategory) {
      fillFrom(place, async () => cardOf((await read('ReviewService/GetAgentCard', { subcategory }, { signal })).agentCard, () => load(subcategory)), signal);
      return;
    }
    fillFrom(place, async () => {
      const names = await known();
      if (!names.length) return empty(t('No reviews yet.'), t('A card is made from the reviews of a subcategory.'));
      return h('ul', { class: 'waits' }, names.map((name) => h('li', null, h('a', { href: href('reviews/agent', { subcategory: name }) }, name))));
    }, signal);
  };
  show(root, heading(t('Agent card'), t('What the last reviews found in the runs of a subcategory, and the guidance that its next prompts get for it.')), reviewTabs('agent'), choose, place);
  load(route.parameters.get('subcategory') || '');
  return { update: (next) => { choose.elements.subcategory.value = next.parameters.get('subcategory') || ''; load(next.parameters.get('subcategory') || ''); } };
}
