// Results of the loop: events by day, fields that are corrected most, coverage of layouts, confidence, and whether
// examples help. A layout or a family opens its examples exactly as a prompt gets them, and its events.

import { h, show } from '../core/dom.js';
import { t, tn } from '../core/words.js';
import { href, changed, go } from '../core/route.js';
import { read, readPage } from '../core/call.js';
import { count, number, percent, signed, daysAgo, shortId, mono, when, enumWords, dateText } from '../core/format.js';
import { heading, figure, section, fillFrom, empty, tabs, facts, plainTable } from '../parts/frame.js';
import { columnsByDay, linesByDay, bars, intervals } from '../parts/chart.js';
import { List } from '../parts/list.js';
import { examplesOf, familyActions } from '../parts/examples.js';

const RANGES = ['7', '30', '90', '365'];
const PARTS = ['', 'layouts', 'families'];

function partTabs(current) {
  return tabs(t('Learning'), [
    { id: '', label: t('Results'), address: href('learning') }, { id: 'layouts', label: t('Layouts'), address: href('learning/layouts') },
    { id: 'families', label: t('Families'), address: href('learning/families') }], current);
}

function layoutLink(fingerprint) {
  return h('a', { href: href(`learning/${encodeURIComponent(fingerprint)}`) }, mono(shortId(fingerprint), fingerprint));
}

// --- results ---

function rangeChoice(route) {
  const days = route.parameters.get('days') || '30';
  return h('label', { class: 'days' }, t('Days'), h('select', { on: { change: (event) => go(changed({ days: event.target.value === '30' ? '' : event.target.value })) } },
    RANGES.map((one) => h('option', { value: one, selected: one === days }, one))));
}

function rangeOf(route) {
  const days = Number(route.parameters.get('days')) || 30;
  return { days, startDate: daysAgo(Math.min(366, days) - 1), endDate: daysAgo(0) };
}

function topFields(rows, title, name) {
  const list = (rows || []).map((one) => ({ label: one.field, value: count(one.count), address: href('corrections', { field: one.field }) }));
  return bars({ title, name, rows: list, unit: t('Corrections'),
    sentence: list.length ? t('{field} is corrected most, {n} times.', { field: list[0].label, n: number(list[0].value) }) : t('No field was corrected in these days.') });
}

function confidenceChart(report) {
  const rows = report.confidenceByDay || [];
  const days = rows.map((one) => one.date);
  const confidence = rows.map((one) => (one.meanConfidence === undefined ? null : one.meanConfidence));
  const corrected = rows.map((one) => { const made = count(one.extractionCount); return made ? count(one.correctedCount) / made : null; });
  const known = confidence.filter((one) => one !== null);
  return linesByDay({
    title: t('Confidence and correction rate'), name: 'confidence-by-day', days,
    series: [{ name: t('Mean confidence'), kind: 'right', values: confidence }, { name: t('Share corrected'), kind: 'wrong', values: corrected }],
    sentence: known.length < 2 ? t('Too few days with extractions for a trend.') : t('Mean confidence was {first} on the first day with extractions, and {last} on the last.', { first: percent(known[0], 0), last: percent(known[known.length - 1], 0) }),
  });
}

function eventsChart(report) {
  const days = (report.eventsByDay || []).map((one) => one.date);
  const corrections = (report.correctionsByDay || []).map((one) => count(one.count));
  const mappings = (report.mappingEventsByDay || []).map((one) => count(one.count));
  const other = (report.eventsByDay || []).map((one, at) => Math.max(0, count(one.count) - corrections[at] - mappings[at]));
  const total = corrections.reduce((sum, one) => sum + one, 0);
  const judged = mappings.reduce((sum, one) => sum + one, 0);
  return columnsByDay({
    title: t('Events by day'), name: 'events-by-day', days,
    series: [{ name: t('Corrections'), kind: 'right', values: corrections }, { name: t('Mappings judged'), kind: 'even', values: mappings }, { name: t('Selections'), kind: 'faint', values: other }],
    sentence: t('{corrections} corrections and {mappings} judged mappings between {start} and {end}.', { corrections: number(total), mappings: number(judged), start: dateText(report.startDate), end: dateText(report.endDate) }),
  });
}

export function resultsOf(report) {
  const judged = count(report.extractionCount);
  return [
    h('h2', { class: 'visually-hidden' }, t('Results')),
    h('div', { class: 'figures' },
      figure({ label: t('Extractions'), value: number(judged), detail: t('in these days') }),
      figure({ label: t('Corrected'), value: percent(report.correctionRate), detail: tn(count(report.correctedCount), '{n} extraction', '{n} extractions') }),
      figure({ label: t('Mappings confirmed'), value: number(count(report.mappingConfirmedCount)), address: href('mappings', { status: 'CONFIRMED' }) }),
      figure({ label: t('Article numbers filled in'), value: number(count(report.mappingAppliedCount)) }),
      figure({ label: t('Retracted'), value: number(count(report.retractedCount)) })),
    report.incomplete && h('p', { class: 'callout' }, t('These figures are incomplete: more rows exist than one call examines.')),
    eventsChart(report),
    h('div', { class: 'grid' }, topFields(report.correctedFields, t('Fields corrected most'), 'corrected-fields'), confidenceChart(report)),
  ];
}

function improvementText(comparison) {
  if (comparison.relativeImprovement === undefined) return t('Too few documents on both sides for a comparison. Set a holdout (administration, settings), and record extractions.');
  const range = { value: percent(comparison.relativeImprovement), low: percent(comparison.improvementLow), high: percent(comparison.improvementHigh) };
  return comparison.targetReached ? t('With examples, accuracy is {value} higher (95% interval {low} to {high}): the goal of 15% is reached.', range)
    : comparison.improvementLow > 0 ? t('With examples, accuracy is {value} higher (95% interval {low} to {high}).', range)
      : t('The difference of accuracy with examples is {value}, with a 95% interval of {low} to {high}: it may be chance.', range);
}

function uplift(report) {
  const all = report.organization || {};
  const rowOf = (label, comparison, address) => ({
    label, value: comparison.relativeImprovement, low: comparison.improvementLow, high: comparison.improvementHigh, address,
    detail: t('{treated} with examples, {held} without', { treated: count((comparison.treatment || {}).extractionCount), held: count((comparison.control || {}).extractionCount) }),
  });
  const rows = [rowOf(t('All layouts'), all), ...(report.layouts || []).map((one) => rowOf(shortId(one.layoutFingerprint), one.comparison || {}, href(`learning/${encodeURIComponent(one.layoutFingerprint)}`)))];
  const treated = all.treatment || {};
  const held = all.control || {};
  const known = rows.filter((row, at) => at === 0 || row.value !== undefined);
  const few = rows.length - known.length;
  return [
    h('div', { class: 'figures' },
      figure({ label: t('Right at once, with examples'), value: percent(treated.accuracy), detail: tn(count(treated.extractionCount), '{n} document', '{n} documents') }),
      figure({ label: t('Right at once, held out'), value: percent(held.accuracy), detail: tn(count(held.extractionCount), '{n} document', '{n} documents') }),
      figure({ label: t('Held out'), value: `${report.holdoutPercent || 0}%`, detail: t('of documents get no examples') }),
      figure({ label: t('p-value'), value: all.pValue === undefined ? '–' : all.pValue < 0.0001 ? '< 0.0001' : number(all.pValue, 4) })),
    intervals({ title: t('Do examples help?'), name: 'uplift', rows: known, sentence: improvementText(all), text: (value) => `${signed(value * 100, 0)}%`, from: -1, to: Math.max(1, 1.6 * (all.improvementHigh || 1)) }),
    few > 0 && h('p', { class: 'muted' }, tn(few, '{n} layout has too few documents on one side.', '{n} layouts have too few documents on one side.')),
  ];
}

function openResults(root, route, signal) {
  const places = [h('div', { class: 'section' }), h('div', { class: 'section' })];
  const load = (now) => {
    const { startDate, endDate } = rangeOf(now);
    show(root, heading(t('Learning'), t('What corrections changed: how often models are corrected, where, and whether examples help.'), rangeChoice(now)), partTabs(''), places[0],
      section(t('Comparison with held-out documents'), places[1]));
    fillFrom(places[0], async () => resultsOf(await read('AnalyticsService/GetLearningAnalytics', { startDate, endDate, topFields: 10 }, { signal })), signal);
  };
  load(route);
  fillFrom(places[1], async () => uplift(await read('AnalyticsService/GetExperimentReport', { pageSize: 20 }, { signal })), signal);
  return { update: load };
}

// --- layouts ---

function layoutColumns() {
  return [
    { head: t('Layout'), cell: (one) => mono(shortId(one.layoutFingerprint), one.layoutFingerprint), text: (one) => one.layoutFingerprint },
    { head: t('Documents'), kind: 'number', cell: (one) => number(count(one.seenCount)), text: (one) => count(one.seenCount) },
    { head: t('Examples'), kind: 'number', cell: (one) => number(count(one.exampleCount)), text: (one) => count(one.exampleCount) },
    { head: t('Corrections'), kind: 'number', cell: (one) => number(count(one.feedbackCount)), text: (one) => count(one.feedbackCount) },
    { head: t('Corrected'), kind: 'number', cell: (one) => percent(one.correctionRate), text: (one) => one.correctionRate ?? '' },
    { head: t('Last seen'), cell: (one) => when(one.lastSeenAt), text: (one) => one.lastSeenAt || '' },
  ];
}

function openLayouts(root, route) {
  const place = h('div', null);
  show(root, heading(t('Layouts'), t('Every layout that documents or corrections named, and how many examples it has.')), partTabs('layouts'), place);
  return new List(place, route, {
    name: 'layouts', caption: t('Layouts'), key: (one) => one.layoutFingerprint, columns: layoutColumns(),
    filters: [{ name: 'order', label: t('Order'), kind: 'select', value: 'MOST_SEEN', options: [['MOST_SEEN', t('most documents first')], ['LAST_SEEN', t('newest first')]] }],
    load: ({ parameters, size, token, signal }) => readPage('AnalyticsService/ListLayoutCoverage', { order: `LAYOUT_COVERAGE_ORDER_${parameters.order}`, pageSize: size, pageToken: token }, 'layoutStats', { signal }),
    open: async (fingerprint) => layoutSummary(fingerprint),
    panelLabel: t('Layout'),
    concerns: (event) => ['EVENT_KIND_DOCUMENT_INGESTED', 'EVENT_KIND_FEEDBACK'].includes(event.kind),
    empty: () => empty(t('No layouts yet.'), t('A layout appears when a document is ingested, or when a correction or an extraction names one.')),
  });
}

async function layoutSummary(fingerprint) {
  const examples = await examplesOf({ layoutFingerprint: fingerprint });
  return [h('h2', null, t('Layout'), ' ', mono(shortId(fingerprint), fingerprint)), h('div', { class: 'actions' }, h('a', { class: 'button primary', href: href(`learning/${encodeURIComponent(fingerprint)}`) }, t('Open this layout'))), examples];
}

async function layoutPage(fingerprint, signal) {
  const [profile, report, events] = await Promise.all([
    read('LayoutService/GetProfile', { layoutFingerprint: fingerprint }, { signal }).then((reply) => reply.profile, (error) => { if (error.code === 'not_found') return null; throw error; }),
    read('AnalyticsService/GetLearningAnalytics', { startDate: daysAgo(89), endDate: daysAgo(0), layoutFingerprint: fingerprint }, { signal }).catch((error) => { if (error.code === 'permission_denied') return null; throw error; }),
    readPage('FeedbackService/ListFeedbackEvents', { layoutFingerprint: fingerprint, pageSize: 10 }, 'events', { signal }),
  ]);
  const stats = (profile || {}).stats || {};
  return [
    profile ? facts([
      [t('Documents'), number(count(profile.seenCount))], [t('Examples'), number(count(profile.exampleCount))], [t('Corrections'), number(count(profile.feedbackCount))],
      [t('Family'), profile.layoutFamilyId && h('a', { href: href(`learning/family:${profile.layoutFamilyId}`) }, mono(shortId(profile.layoutFamilyId), profile.layoutFamilyId))],
      [t('First seen'), when(profile.firstSeenAt)], [t('Last seen'), when(profile.lastSeenAt)],
      [t('Pages'), stats.pageCount !== undefined && number(stats.pageCount, 1)], [t('Tables'), stats.tableCount !== undefined && number(stats.tableCount, 1)]])
      : h('p', { class: 'muted' }, t('No document of this layout was ingested: it is known from corrections and extractions only.')),
    section(t('Examples, as a prompt gets them'), await examplesOf({ layoutFingerprint: fingerprint })),
    report && section(t('The last 90 days'), eventsChart(report), topFields(report.correctedFields, t('Fields corrected most'), 'corrected-fields')),
    section(t('Newest corrections'), eventRows(events.rows), h('p', null, h('a', { href: href('corrections', { layout: fingerprint }) }, t('All corrections of this layout')))),
  ];
}

function eventRows(rows) {
  if (!rows.length) return h('p', { class: 'muted' }, t('No corrections yet.'));
  return plainTable(t('Newest corrections'), [
    { head: t('Fields'), cell: (event) => h('a', { href: href('corrections', { open: event.id }) }, (event.fieldsChanged || []).join(', ') || enumWords(event.eventType, 'FEEDBACK_EVENT_TYPE_')) },
    { head: t('Who'), cell: (event) => event.actorUserId || '–' }, { head: t('When'), cell: (event) => when(event.createdAt) },
    { head: t('Document'), cell: (event) => event.documentId || '–' },
  ], rows);
}

function openLayout(root, route, signal) {
  const place = h('div', { class: 'section wide-gap' });
  show(root, heading(t('Layout {name}', { name: shortId(route.part) }), null), partTabs('layouts'), h('p', { class: 'mono muted' }, route.part), place);
  fillFrom(place, () => layoutPage(route.part, signal), signal);
  return {};
}

// --- families ---

function openFamilies(root, route) {
  const place = h('div', null);
  show(root, heading(t('Families'), t('Layouts whose first pages are similar. In match mode FAMILY, a layout gets the examples of all of its family.')), partTabs('families'), place);
  return new List(place, route, {
    name: 'families', caption: t('Families'), panelLabel: t('Family'), key: (one) => one.id,
    columns: [
      { head: t('Family'), cell: (one) => mono(shortId(one.id), one.id), text: (one) => one.id },
      { head: t('Documents'), kind: 'number', cell: (one) => number(count(one.documentCount)), text: (one) => count(one.documentCount) },
      { head: t('Layouts'), kind: 'number', cell: (one) => number(count(one.fingerprintCount)), text: (one) => count(one.fingerprintCount) },
      { head: t('Examples'), kind: 'number', cell: (one) => (one.exampleCount === undefined ? '–' : number(count(one.exampleCount))), text: (one) => one.exampleCount ?? '' },
      { head: t('Merged'), kind: 'number', cell: (one) => (one.mergedFamilyIds || []).length || '–', text: (one) => (one.mergedFamilyIds || []).length },
      { head: t('Last seen'), cell: (one) => when(one.lastSeenAt), text: (one) => one.lastSeenAt },
    ],
    load: ({ size, token, signal }) => readPage('LayoutService/ListFamilies', { pageSize: size, pageToken: token }, 'families', { signal }),
    open: async (id) => familySummary(id),
    concerns: (event) => ['EVENT_KIND_DOCUMENT_INGESTED', 'EVENT_KIND_FAMILIES_MERGED', 'EVENT_KIND_FAMILY_SPLIT'].includes(event.kind),
    empty: () => empty(t('No families yet.'), t('They appear when PDFs are ingested: `errata layouts ingest FILE --document ID`.')),
  });
}

async function familySummary(id) {
  const { family, warnings } = await read('LayoutService/GetFamily', { layoutFamilyId: id });
  return [h('h2', null, t('Family'), ' ', mono(shortId(id), id)), (warnings || []).map((one) => h('p', { class: 'callout' }, one.message)),
    facts([[t('Documents'), number(count(family.documentCount))], [t('First seen'), when(family.firstSeenAt)], [t('Last seen'), when(family.lastSeenAt)],
      [t('Layouts'), (family.layoutFingerprints || []).map((one) => h('div', null, layoutLink(one)))]]),
    familyActions(family),
    (family.layoutFingerprints || []).length > 0 && section(t('Examples, as a prompt of this family gets them'), await examplesOf({ layoutFingerprint: family.layoutFingerprints[0], matchMode: 'MATCH_MODE_FAMILY' }))];
}

function openFamily(root, route, signal) {
  const id = route.part.slice('family:'.length);
  const place = h('div', { class: 'section wide-gap' });
  show(root, heading(t('Family {name}', { name: shortId(id) }), null), partTabs('families'), place);
  fillFrom(place, () => familySummary(id), signal);
  return {};
}

export function open(root, route, signal) {
  if (!PARTS.includes(route.part)) return route.part.startsWith('family:') ? openFamily(root, route, signal) : openLayout(root, route, signal);
  return { '': openResults, layouts: openLayouts, families: openFamilies }[route.part](root, route, signal);
}

