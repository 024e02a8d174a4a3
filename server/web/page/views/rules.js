// Learned rules: their state, switch, precision and recall, the verdicts they flip, and a new one of a person.

import { h, show } from '../core/dom.js';
import { t, tn } from '../core/words.js';
import { changed, go } from '../core/route.js';
import { read, readPage, write, stream } from '../core/call.js';
import { hasRole } from '../core/session.js';
import { sayDone, say } from '../core/notes.js';
import { enumWords, when, number, percent, signed, count, idText, timeText } from '../core/format.js';
import { heading, empty, badge, facts, section, button, fillFrom, plainTable, errorBox } from '../parts/frame.js';
import { form, field } from '../parts/form.js';
import { intervals } from '../parts/chart.js';
import { List } from '../parts/list.js';
import { evidenceTable } from '../parts/evidence.js';
import { verdictTabs } from './verdicts.js';

const TYPE = 'LEARNED_RULE_TYPE_';
const STATE = 'ARTIFACT_STATE_';
const TYPES = ['FALSE_NEGATIVE', 'FALSE_POSITIVE', 'MISSED_INDICATOR'];
const STATES = ['PROPOSED', 'SHADOW', 'ACTIVE', 'SUNSET_PROPOSED', 'RETIRED', 'REJECTED'];
const STATE_KINDS = { ACTIVE: 'right', RETIRED: '', REJECTED: 'wrong', SUNSET_PROPOSED: 'wrong' };
const PAGES_MAX = 10;

export function stateBadge(rule) {
  const state = rule.state.slice(STATE.length);
  const off = state === 'ACTIVE' && !rule.enabled;
  return badge(off ? t('switched off') : enumWords(rule.state, STATE), off ? 'wrong' : STATE_KINDS[state]);
}

// The server has no filter by state: pages are read until enough rows of it were found.
async function loadRules({ parameters, size, token, signal }) {
  const request = { ruleType: parameters.type ? TYPE + parameters.type : undefined, pattern: parameters.pattern, enabled: parameters.enabled === '' ? undefined : parameters.enabled === 'yes' };
  const rows = [];
  let next = token;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const found = await readPage('VerdictService/ListLearnedRules', { ...request, pageSize: size, pageToken: next }, 'rules', { signal });
    rows.push(...found.rows.filter((rule) => !parameters.state || rule.state === STATE + parameters.state));
    next = found.next;
    if (!next || !parameters.state || rows.length >= size) break;
  }
  return { rows, next };
}

function columns() {
  return [
    { head: t('Pattern'), cell: (rule) => h('span', { class: 'mono' }, rule.pattern), text: (rule) => rule.pattern },
    { head: t('Type'), cell: (rule) => enumWords(rule.ruleType, TYPE), text: (rule) => rule.ruleType },
    { head: t('State'), cell: stateBadge, text: (rule) => `${rule.state}${rule.enabled ? '' : ' (off)'}` },
    { head: t('Adds'), kind: 'number', cell: (rule) => signed(rule.confidenceAdjustment || 0), text: (rule) => rule.confidenceAdjustment || 0 },
    { head: t('Learned from'), kind: 'number wide', cell: (rule) => number(count(rule.learnedFromFeedbackCount)), text: (rule) => count(rule.learnedFromFeedbackCount) },
    { head: t('Says of itself'), kind: 'number wide', cell: (rule) => percent(rule.accuracyOnValidation || 0, 0), text: (rule) => rule.accuracyOnValidation || 0 },
    { head: t('Changed'), kind: 'wide', cell: (rule) => when(rule.updatedAt), text: (rule) => rule.updatedAt },
  ];
}

function measuresOf(measures) {
  const rows = measures.flatMap((one) => [[t('Precision, version {n}', { n: one.version }), one.precision], [t('Recall, version {n}', { n: one.version }), one.recall]])
    .map(([label, rate]) => ({ label, value: (rate || {}).estimate, low: (rate || {}).low, high: (rate || {}).high, detail: tn(count((rate || {}).n), '{n} case', '{n} cases') }));
  const fired = measures.reduce((sum, one) => sum + count(one.agreedCount) + count(one.disagreedCount), 0);
  const agreed = measures.reduce((sum, one) => sum + count(one.agreedCount), 0);
  return intervals({ title: t('Measured by later verdicts'), name: 'rule-measures', rows, from: 0, to: 1,
    sentence: fired ? t('It fired {fired} times, and people agreed {agreed} times.', { fired, agreed }) : t('It has not fired on a receipt with a verdict that cites its score.') });
}

export function backtestRows(report) {
  const total = report.total || {};
  return [h('p', null, t('Over {n} stored verdicts it matches {hits}: it agrees with {agree}, and disagrees with {alarms}. It would turn {right} verdicts to the right one, and {wrong} to a wrong one.', {
    n: number(count(report.submissionCount)), hits: count(total.hitCount), agree: count(total.agreementCount), alarms: count(total.falseAlarmCount), right: count(total.rightFlipCount), wrong: count(total.wrongFlipCount) })),
  report.note && h('p', { class: 'callout' }, report.note),
  (report.reviewers || []).length > 0 && plainTable(t('By reviewer'), [
    { head: t('Reviewer'), cell: (one) => one.actorUserId || '–' }, { head: t('Matches'), number: true, cell: (one) => count((one.counts || {}).hitCount) },
    { head: t('Agrees'), number: true, cell: (one) => count((one.counts || {}).agreementCount) }, { head: t('Disagrees'), number: true, cell: (one) => count((one.counts || {}).falseAlarmCount) }], report.reviewers)];
}

async function runBacktest(request, place) {
  show(place, h('p', { class: 'loading' }, t('Running over the stored verdicts…')));
  const abort = new AbortController();
  let report = null;
  try {
    await stream('LearningService/Backtest', request, (message) => {
      if (message.report) report = message.report;
      else if (message.progress) show(place, h('p', { class: 'loading' }, t('{n} verdicts so far…', { n: number(count(message.progress.submissionCount)) })));
    }, abort.signal);
    show(place, report ? backtestRows(report) : h('p', { class: 'muted' }, t('No result.')));
  } catch (error) {
    show(place, error.code === 'unimplemented' && !error.message.includes(' ') ? h('p', { class: 'muted' }, t('This server streams backtests by gRPC only: errata rules backtest ID.')) : errorBox(error));
  }
}

function stateForm(rule, list) {
  const place = h('div', { class: 'section' });
  const targets = { PROPOSED: ['SHADOW', 'ACTIVE', 'RETIRED'], SHADOW: ['ACTIVE', 'RETIRED'], ACTIVE: ['RETIRED'], SUNSET_PROPOSED: ['RETIRED', 'ACTIVE'], RETIRED: ['ACTIVE'] }[rule.state.slice(STATE.length)] || [];
  const label = { SHADOW: t('Try in shadow'), ACTIVE: t('Activate'), RETIRED: t('Retire') };
  const open = (state) => show(place, form({
    submit: label[state], kind: state === 'RETIRED' ? 'danger' : '', cancel: reset,
    fields: [field({ name: 'reason', label: t('Reason'), kind: 'area', rows: 2, required: true })],
    run: async ({ reason }) => {
      const reply = await write('LearningService/SetArtifactState', { artifactId: rule.id, state: STATE + state, reason });
      say(t('The rule is {state} now.', { state: enumWords(reply.state, STATE) }));
      await list().refresh();
    },
  }));
  const reset = () => show(place, h('div', { class: 'actions' }, targets.map((state) => button(label[state], () => { open(state); place.querySelector('textarea').focus(); }, { kind: state === 'RETIRED' ? 'danger' : '' }))));
  reset();
  return place;
}

export async function toggle(rule, list) {
  const { rule: now } = await write('VerdictService/SetLearnedRuleEnabled', { id: rule.id, enabled: !rule.enabled });
  sayDone(now.enabled ? t('{pattern} is switched on.', { pattern: rule.pattern }) : t('{pattern} is switched off.', { pattern: rule.pattern }), async () => {
    await write('VerdictService/SetLearnedRuleEnabled', { id: rule.id, enabled: rule.enabled === true });
    await list().refresh();
  });
  await list().refresh();
}

// `backtest` is where the rule's backtest is shown; it outlives the panel, which a change of the rule fills again.
function panelOf({ rule, measures }, list, backtest) {
  const mayChange = hasRole('REVIEWER', 'ADMIN');
  const evidence = h('div', null);
  fillFrom(evidence, async () => {
    const report = await read('LearningService/GetArtifactReport', { artifactId: rule.id });
    return evidenceTable(report.evidence || [], report.evidenceIncomplete) || h('p', { class: 'muted' }, t('No verdict is its evidence: it was proposed or imported.'));
  });
  return [
    h('h2', { class: 'mono' }, rule.pattern),
    mayChange && h('div', { class: 'actions' }, rule.state === `${STATE}ACTIVE` && h('button', { type: 'button', class: 'switch', role: 'switch', 'aria-checked': String(rule.enabled === true), on: { click: () => toggle(rule, list) } }, h('span', { class: 'switch-knob' }), rule.enabled ? t('On') : t('Off'))),
    facts([[t('State'), stateBadge(rule)], [t('Type'), enumWords(rule.ruleType, TYPE)], [t('Adds to a score'), signed(rule.confidenceAdjustment || 0)], [t('Learned from'), tn(count(rule.learnedFromFeedbackCount), '{n} verdict', '{n} verdicts')],
      [t('Says of itself'), percent(rule.accuracyOnValidation || 0, 0)], [t('Version'), rule.version], [t('Created'), timeText(rule.createdAt)], [t('Changed'), timeText(rule.updatedAt)], [t('Id'), idText(rule.id)]]),
    mayChange && stateForm(rule, list),
    measuresOf(measures || []),
    section(t('Backtest'), hasRole('REVIEWER', 'INTEGRATOR', 'ADMIN') && h('div', null, button(t('Run over the stored verdicts'), () => runBacktest({ ruleId: rule.id }, backtest))), backtest),
    section(t('Evidence'), evidence),
  ];
}

function proposeForm(done) {
  return form({
    submit: t('Propose'), cancel: done,
    fields: [field({ name: 'pattern', label: t('Pattern'), required: true, help: t('An indicator, a feature, name=value, name>number, name<number, or text:PHRASE.') }),
      field({ name: 'rule_type', label: t('Type'), kind: 'select', options: TYPES.map((one) => [one, enumWords(TYPE + one, TYPE)]) }),
      field({ name: 'confidence_adjustment', label: t('Adds to a score'), kind: 'number', help: t('From -1 to 1; empty: what its type adds.'), attributes: { min: -1, max: 1, step: 'any' } }),
      field({ name: 'reason', label: t('Reason'), kind: 'area', rows: 2, required: true })],
    run: async (values) => {
      const reply = await write('LearningService/ProposeArtifact', { learnedRule: { ruleType: TYPE + values.rule_type, pattern: values.pattern, confidenceAdjustment: values.confidence_adjustment === '' ? undefined : Number(values.confidence_adjustment) }, reason: values.reason });
      say(t('Proposed. It has no effect until it is tried in shadow or activated.'));
      done();
      go(changed({ open: reply.learnedRule.id }));
    },
  });
}

export function open(root, route) {
  const place = h('div', null);
  const adding = h('div', { class: 'card narrow', hidden: true });
  let list = null;
  let backtest = { id: '', place: null };
  const backtestOf = (id) => {
    if (backtest.id !== id) backtest = { id, place: h('div', { class: 'section' }) };
    return backtest.place;
  };
  const mayChange = hasRole('REVIEWER', 'ADMIN');
  const close = () => { adding.hidden = true; show(adding); list.refresh(); };
  show(root, heading(t('Rules'), t('Patterns that were learned from verdicts, or that people propose. An active rule adds to every score that it matches.'),
    button(t('Propose a rule'), () => { adding.hidden = false; show(adding, proposeForm(close)); adding.querySelector('input').focus(); })), verdictTabs('rules'), adding, place);
  list = new List(place, route, {
    name: 'rules', caption: t('Rules'), panelLabel: t('Rule'), key: (rule) => rule.id, columns: columns(), load: loadRules,
    filters: [
      { name: 'pattern', label: t('Pattern') },
      { name: 'state', label: t('State'), kind: 'select', options: [['', t('any')], ...STATES.map((one) => [one, enumWords(STATE + one, STATE)])] },
      { name: 'type', label: t('Type'), kind: 'select', options: [['', t('any')], ...TYPES.map((one) => [one, enumWords(TYPE + one, TYPE)])] },
      { name: 'enabled', label: t('Switch'), kind: 'select', options: [['', t('any')], ['yes', t('on')], ['no', t('off')]] }],
    open: async (id) => panelOf(await read('VerdictService/GetLearnedRule', { id }), () => list, backtestOf(id)),
    actionKeys: mayChange && [['c', t('switch the rule on or off')]],
    actions: (rule) => (mayChange && rule.state === `${STATE}ACTIVE` ? [{ key: 'c', run: () => toggle(rule, () => list) }] : []),
    concerns: (event) => /LEARNED_RULE|VERDICT|ARTIFACT_STATE|RETRACTED/.test(event.kind),
    empty: () => empty(t('No rules yet.'), t('A rule is learned from the first verdict that corrects the scorer and names an indicator.'), h('a', { class: 'button', href: '#/verdicts/submit' }, t('Submit a verdict'))),
  });
  return list;
}
