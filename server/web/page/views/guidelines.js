// The guidelines in effect: who approved them, what they changed, and their retirement.

import { h, show } from '../core/dom.js';
import { t, tn } from '../core/words.js';
import { href, go, changed } from '../core/route.js';
import { readPage, write } from '../core/call.js';
import { hasRole } from '../core/session.js';
import { say } from '../core/notes.js';
import { enumWords, when, timeText, idText, number, count, signed } from '../core/format.js';
import { heading, empty, badge, facts, section, button } from '../parts/frame.js';
import { intervals } from '../parts/chart.js';
import { form, field } from '../parts/form.js';
import { List } from '../parts/list.js';
import { TYPE, agents, proposalTabs, voters } from './proposal_parts.js';

const SENTENCE_CHARACTERS = 60;

// Keeps or retires a guideline, with a reason.
function decisionOf(guideline, list) {
  const place = h('div', null);
  const ask = (spec) => {
    const node = form({ ...spec, cancel: reset, fields: [field({ name: 'reason', label: t('Reason'), kind: 'area', rows: 2, required: true })] });
    show(place, node);
    node.elements.reason.focus();
  };
  const retire = () => ask({ kind: 'danger', submit: t('Retire this guideline'), run: async ({ reason }) => {
    await write('GuidelineService/RetireGuideline', { guidelineId: guideline.id, reason });
    say(t('Retired.'));
    go(changed({ open: '' }));
    await list().refresh();
  } });
  const keep = () => ask({ submit: t('Keep this guideline'), run: async ({ reason }) => {
    await write('LearningService/SetArtifactState', { artifactId: guideline.id, state: 'ARTIFACT_STATE_ACTIVE', reason });
    say(t('Kept: it is proposed for retirement again only after 50 more decisions.'));
    await list().refresh();
  } });
  const reset = () => show(place, hasRole('REVIEWER', 'ADMIN') && h('div', { class: 'actions' }, guideline.sunsetProposed && button(t('Keep'), keep, { kind: 'primary' }), button(t('Retire'), retire, { kind: 'danger' })));
  reset();
  return place;
}

function sunsetNote(guideline) {
  return guideline.sunsetProposed && h('p', { class: 'callout wrong' }, t('Proposed for retirement: decisions do not show a benefit. It stays in effect until a person decides.'));
}

function guidelinePanel(guideline, list, effect) {
  return [h('h2', null, guideline.ruleContent || t('Guideline')), sunsetNote(guideline), effect && effectFacts(effect),
    facts([[t('Type'), enumWords(guideline.ruleType, TYPE)], [t('Agents'), agents(guideline)], [t('Place in the prompt'), guideline.insertionPoint], [t('In effect since'), timeText(guideline.activatedAt)], [t('Id'), idText(guideline.id)]]),
    section(t('Who approved it'), voters({ votes: guideline.votes, status: '' })), decisionOf(guideline, list)];
}

export function openGuidelines(root, route) {
  const place = h('div', null);
  let list = null;
  show(root, heading(t('Guidelines'), t('Rules in effect: they are in the next prompt of their agents.')), proposalTabs('guidelines'), place);
  list = new List(place, route, {
    name: 'guidelines', caption: t('Guidelines'), panelLabel: t('Guideline'), key: (one) => one.id, filters: [{ name: 'agent', label: t('Agent') }],
    columns: [{ head: t('Rule'), cell: (one) => one.ruleContent || idText(one.id), text: (one) => one.ruleContent }, { head: t('State'), cell: stateBadge, text: (one) => (one.sunsetProposed ? 'SUNSET_PROPOSED' : 'ACTIVE') }, { head: t('Type'), kind: 'wide', cell: (one) => enumWords(one.ruleType, TYPE), text: (one) => one.ruleType },
      { head: t('Agents'), cell: agents, text: (one) => (one.affectedAgents || []).join(' ') }, { head: t('Since'), cell: (one) => when(one.activatedAt), text: (one) => one.activatedAt }],
    load: ({ parameters, size, token, signal }) => readPage('GuidelineService/ListActiveGuidelines', { agentName: parameters.agent, pageSize: size, pageToken: token }, 'guidelines', { signal }),
    open: async (id, row) => {
      if (!row) throw new Error(t('This guideline is not on this page of the list, or it is retired.'));
      return guidelinePanel(row, () => list);
    },
    concerns: (event) => /PROPOSAL|GUIDELINE/.test(event.kind),
    empty: () => empty(t('No guideline is in effect.'), t('An approved proposal becomes one.'), h('a', { class: 'button', href: href('proposals') }, t('To the proposals'))),
  });
  return list;
}

// --- what they changed ---

// Outcomes that are bad, of all: `3 of 40`.
function badText(outcomes) {
  const all = count(outcomes && outcomes.outcomeCount);
  return all ? t('{bad} of {all}', { bad: number(count(outcomes.badCount)), all: number(all) }) : '–';
}

function similarText(feedback) {
  return feedback && feedback.per100 !== undefined ? number(feedback.per100, 1) : '–';
}

function effectFacts(one) {
  const points = (value, scale, digits) => signed(value * scale, digits);
  return section(t('What it changed'), facts([[t('Bad with it'), badText(one.served)], [t('Bad without it'), badText(one.heldOut)], [t('Bad in shadow'), count(one.shadow?.outcomeCount) > 0 && badText(one.shadow)],
    [t('Difference in points (95%)'), one.difference !== undefined && t('{value}, from {low} to {high}', { value: points(one.difference, 100, 0), low: points(one.differenceLow, 100, 0), high: points(one.differenceHigh, 100, 0) })],
    [t('Asked for'), one.before && t('{before} of 100 before, {after} after', { before: similarText(one.before), after: similarText(one.after) })],
    [t('Difference of 100 (95%)'), one.change !== undefined && t('{value}, from {low} to {high}', { value: points(one.change, 1, 1), low: points(one.changeLow, 1, 1), high: points(one.changeHigh, 1, 1) })]]));
}

function shortRule(rule) {
  return rule.length > SENTENCE_CHARACTERS ? `${rule.slice(0, SENTENCE_CHARACTERS)}…` : rule;
}

// A fall is a benefit, so signs are turned: an interval right of 0 helps. `scale` makes points of shares.
function benefitRows(effects, member, scale) {
  return effects.filter((one) => one[member] !== undefined).map((one) => ({
    label: shortRule(one.guideline.ruleContent || one.guideline.id), address: changed({ open: one.guideline.id }),
    value: -one[member] * scale, low: -one[`${member}High`] * scale, high: -one[`${member}Low`] * scale }));
}

function benefitSentence(rows, all) {
  const helping = rows.filter((row) => row.low > 0).length;
  const harming = rows.filter((row) => row.high < 0).length;
  const open = rows.length - helping - harming;
  const parts = [helping > 0 && tn(helping, '{n} guideline measurably helps', '{n} guidelines measurably help'), harming > 0 && tn(harming, '{n} measurably harms', '{n} measurably harm'),
    open > 0 && tn(open, '{n} may do either, since its interval includes 0', '{n} may do either, since their intervals include 0'), all > rows.length && tn(all - rows.length, '{n} is not measured yet', '{n} are not measured yet')];
  return `${parts.filter(Boolean).join('; ')}. ${t('Right of the line is better.')}`;
}

function benefitChart(title, name, rows, all) {
  const most = Math.max(1, ...rows.flatMap((row) => [Math.abs(row.low), Math.abs(row.high)]));
  return rows.length > 0 && intervals({ title, name, rows, sentence: benefitSentence(rows, all), text: (value) => signed(value, 1), from: -most, to: most });
}

function effectCharts(effects) {
  const charts = [benefitChart(t('Fewer bad outcomes than without it, in percentage points'), 'guideline-outcomes', benefitRows(effects, 'difference', 100), effects.length),
    benefitChart(t('Fewer decisions of 100 that ask for the same, since it is in effect'), 'guideline-requests', benefitRows(effects, 'change', 1), effects.length)].filter(Boolean);
  if (!effects.length) return [];
  return section(t('Measured effect'), charts.length ? charts : h('p', { class: 'muted' }, t('No guideline is measured yet: that needs decisions on prompts with and without it, or before and after its approval.')));
}

function stateBadge(guideline) {
  return guideline.sunsetProposed ? badge(t('retirement proposed'), 'wrong') : badge(t('in effect'), 'right');
}

export function openEffects(root, route) {
  const charts = h('div', { class: 'section' });
  const place = h('div', null);
  let list = null;
  show(root, heading(t('Effect of guidelines'), t('Whether output is approved more often with a guideline, and whether people still ask for the same.')), proposalTabs('effect'), charts, place);
  list = new List(place, route, {
    name: 'effects', caption: t('Effect of guidelines'), panelLabel: t('Guideline'), key: (one) => one.guideline.id, filters: [{ name: 'agent', label: t('Agent') }],
    columns: [{ head: t('Rule'), cell: (one) => one.guideline.ruleContent || idText(one.guideline.id), text: (one) => one.guideline.ruleContent }, { head: t('State'), cell: (one) => stateBadge(one.guideline), text: (one) => (one.guideline.sunsetProposed ? 'SUNSET_PROPOSED' : 'ACTIVE') },
      { head: t('Bad with it'), cell: (one) => badText(one.served), text: (one) => count(one.served?.badCount) }, { head: t('Bad without it'), cell: (one) => badText(one.heldOut), text: (one) => count(one.heldOut?.badCount) },
      { head: t('Of 100 before'), kind: 'wide', cell: (one) => similarText(one.before), text: (one) => one.before?.per100 ?? '' }, { head: t('After'), kind: 'wide', cell: (one) => similarText(one.after), text: (one) => one.after?.per100 ?? '' }],
    load: async ({ parameters, size, token, signal }) => {
      const found = await readPage('GuidelineService/GetGuidelineEffectiveness', { agentName: parameters.agent, pageSize: size, pageToken: token }, 'guidelines', { signal });
      show(charts, effectCharts(found.rows));
      return found;
    },
    open: async (id, row) => {
      if (!row) throw new Error(t('This guideline is not on this page of the list, or it is retired.'));
      place.scrollIntoView({ block: 'start' }); // charts are above the list
      return guidelinePanel(row.guideline, () => list, row);
    },
    concerns: (event) => /PROPOSAL|GUIDELINE|DECISION_RECORDED|ARTIFACT_STATE/.test(event.kind),
    empty: () => empty(t('No guideline is in effect.'), t('An approved proposal becomes one.'), h('a', { class: 'button', href: href('proposals') }, t('To the proposals'))),
  });
  return list;
}
