// Compares the last 30 days with the 30 before, and lists the tasks that wait for a person and the latest events.

import { h, show } from '../core/dom.js';
import { t, tn } from '../core/words.js';
import { href } from '../core/route.js';
import { read, readPage } from '../core/call.js';
import { onEvents } from '../core/live.js';
import { count, number, percent, lastDays, share, when, kindName, dateText } from '../core/format.js';
import { heading, figure, section, fillFrom, empty, errorBox } from '../parts/frame.js';
import { columnsByDay } from '../parts/chart.js';

const RECENT = 12;
const COUNTED_MAX = 1000;

function changeText(now, before) {
  if (before === 0) return now === 0 ? { text: t('as in the 30 days before') } : { text: t('none in the 30 days before') };
  const ratio = (now - before) / before;
  return { text: t('{change} against the 30 days before', { change: `${ratio < 0 ? '−' : '+'}${percent(Math.abs(ratio), 0)}` }) };
}

function rateText(now, before) {
  if (now === undefined || before === undefined) return null;
  const points = (now - before) * 100;
  return { kind: points < 0 ? 'right' : points > 0 ? 'wrong' : '', text: t('{points} points against the 30 days before', { points: `${points < 0 ? '−' : '+'}${number(Math.abs(points), 1)}` }) };
}

function sumOf(days) {
  return (days || []).reduce((sum, one) => sum + count(one.count), 0);
}

function rateIn(report) {
  const days = report.confidenceByDay || [];
  const made = days.reduce((sum, one) => sum + count(one.extractionCount), 0);
  return share(days.reduce((sum, one) => sum + count(one.correctedCount), 0), made);
}

function learnedFigures(now, before, verdicts) {
  const corrections = sumOf(now.correctionsByDay);
  const applied = count(now.mappingAppliedCount);
  const rate = rateIn(now);
  return h('div', { class: 'figures' },
    figure({ label: t('Corrections'), value: number(corrections), trend: changeText(corrections, sumOf(before.correctionsByDay)), address: href('corrections') }),
    figure({ label: t('Extractions corrected'), value: percent(rate), trend: rateText(rate, rateIn(before)), address: href('learning') }),
    figure({ label: t('Mappings confirmed'), value: number(count(now.mappingConfirmedCount)), trend: changeText(count(now.mappingConfirmedCount), count(before.mappingConfirmedCount)), address: href('mappings', { status: 'CONFIRMED' }) }),
    figure({ label: t('Article numbers filled in'), value: number(applied), trend: changeText(applied, count(before.mappingAppliedCount)), address: href('mappings', { status: 'CONFIRMED' }) }),
    verdicts && figure({ label: t('Verdicts right at once'), value: verdicts.accuracy === undefined ? '–' : percent(verdicts.accuracy / 100), detail: tn(count(verdicts.totalFeedback), '{n} verdict', '{n} verdicts'), address: href('verdicts') }));
}

async function learned(signal) {
  const { now, before } = lastDays();
  const [present, past, verdicts] = await Promise.all([
    read('AnalyticsService/GetLearningAnalytics', now, { signal }), read('AnalyticsService/GetLearningAnalytics', before, { signal }),
    read('VerdictService/GetVerdictStats', { days: 30 }, { signal }).catch(() => null),
  ]);
  const days = (present.correctionsByDay || []).map((one) => one.date);
  const corrections = (present.correctionsByDay || []).map((one) => count(one.count));
  const most = corrections.indexOf(Math.max(...corrections));
  const total = corrections.reduce((sum, one) => sum + one, 0);
  return [learnedFigures(present, past, verdicts), columnsByDay({
    title: t('Corrections by day'), name: 'corrections-by-day', days, series: [{ name: t('Corrections'), kind: 'right', values: corrections }],
    sentence: total === 0 ? t('No corrections in these 30 days.') : t('{total} corrections in 30 days; most on {day}, {most}.', { total: number(total), day: dateText(days[most]), most: number(corrections[most]) }),
  })];
}

// A waiting task: {count, text, address}; null if there is none, or the role may not see it.
async function waiting(load, text, address) {
  try {
    const found = await load();
    return found.length ? { number: found.length, more: found.more, text: text(found.length), address } : null;
  } catch (error) {
    if (error.code === 'permission_denied' || error.code === 'unimplemented') return null;
    throw error;
  }
}

async function pageOf(method, request, member, keep = () => true) {
  const { rows, next } = await readPage(method, { ...request, pageSize: COUNTED_MAX }, member);
  const kept = rows.filter(keep);
  return { length: kept.length, more: Boolean(next) };
}

async function waits() {
  const rules = (state) => () => pageOf('VerdictService/ListLearnedRules', {}, 'rules', (rule) => rule.state === `ARTIFACT_STATE_${state}`);
  const found = (await Promise.all([
    waiting(() => pageOf('GuidelineService/ListPendingProposals', {}, 'proposals'), (n) => tn(n, 'proposal to vote on', 'proposals to vote on'), href('proposals')),
    waiting(() => pageOf('MappingService/ListMappings', { status: 'MAPPING_STATUS_SUGGESTED' }, 'mappings'), (n) => tn(n, 'suggested mapping to confirm or reject', 'suggested mappings to confirm or reject'), href('mappings', { status: 'SUGGESTED' })),
    waiting(() => pageOf('GuidelineService/ListActiveGuidelines', {}, 'guidelines', (one) => one.sunsetProposed), (n) => tn(n, 'guideline proposed for retirement', 'guidelines proposed for retirement'), href('proposals/effect')),
    waiting(rules('PROPOSED'), (n) => tn(n, 'proposed rule to try or to activate', 'proposed rules to try or to activate'), href('verdicts/rules', { state: 'PROPOSED' })),
    waiting(rules('SUNSET_PROPOSED'), (n) => tn(n, 'rule proposed for retirement', 'rules proposed for retirement'), href('verdicts/rules', { state: 'SUNSET_PROPOSED' })),
    waiting(() => pageOf('VerdictService/ListSuggestedWeights', {}, 'weights'), (n) => tn(n, 'suggested weight to apply', 'suggested weights to apply'), href('verdicts/weights')),
    waiting(() => pageOf('ReviewService/ListFragmentSets', {}, 'fragmentSets', (set) => set.state === 'FRAGMENT_SET_STATE_DRAFT'), (n) => tn(n, 'draft of wording to approve', 'drafts of wording to approve'), href('reviews/wording')),
    waiting(() => pageOf('DecisionService/ListDeadLetters', {}, 'deadLetters'), (n) => tn(n, 'entry of the stream that could not be stored', 'entries of the stream that could not be stored'), href('administration/dead-letters')),
  ])).filter(Boolean);
  if (!found.length) return empty(t('Nothing waits for a person.'), t('Suggested mappings, proposed rules, weights and drafts appear here.'));
  return h('ul', { class: 'waits' }, found.map((one) => h('li', null, h('a', { href: one.address },
    h('span', { class: 'waits-count' }, `${number(one.number)}${one.more ? '+' : ''}`), h('span', null, one.text)))));
}

const ADDRESSES = {
  EVENT_KIND_FEEDBACK: (event) => href('corrections', { open: event.id, type: 'ALL' }),
  EVENT_KIND_VERDICT_SUBMITTED: () => href('verdicts'),
  EVENT_KIND_REVIEW_SUBMITTED: (event) => href('reviews', { open: event.id }),
};

async function recent() {
  const { rows } = await readPage('EventService/ListEvents', { pageSize: RECENT }, 'events');
  if (!rows.length) return empty(t('The log is empty.'), t('All that people and pipelines write appears here.'));
  return h('ul', { class: 'waits recent' }, rows.map((event) => {
    const address = ADDRESSES[event.kind] ? ADDRESSES[event.kind](event) : href('administration/log', { open: event.id });
    return h('li', null, h('a', { href: address }, h('span', { class: 'grow' }, kindName(event.kind), h('span', { class: 'muted' }, event.actorUserId ? ` · ${event.actorUserId}` : '')),
      h('span', { class: 'muted' }, when(event.createdAt))));
  }));
}

export function open(root, route, signal) {
  const places = { learned: h('div', { class: 'section' }), waits: h('div', null), recent: h('div', null) };
  show(root, heading(t('Overview'), t('The last 30 days, and what waits for you.')),
    section(t('What waits for a person'), places.waits), section(t('What was learned'), places.learned), section(t('Newest events'), places.recent));
  const loadLearned = async () => {
    try {
      return await learned(signal);
    } catch (error) {
      if (error.code !== 'permission_denied') throw error;
      return errorBox(error);
    }
  };
  fillFrom(places.learned, loadLearned, signal);
  fillFrom(places.waits, waits, signal);
  fillFrom(places.recent, recent, signal);
  let timer = 0;
  const stop = onEvents(() => {
    if (timer) return;
    timer = setTimeout(async () => {
      timer = 0;
      if (signal.aborted) return;
      fillFrom(places.recent, recent, signal);
      fillFrom(places.waits, waits, signal);
    }, 1500);
  });
  return { close: () => { clearTimeout(timer); stop(); } };
}
