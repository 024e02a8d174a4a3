// Settings of an organisation: which examples are served, how scores are read, how many people must agree, how messages are
// read. Retention, which is a setting too, has a view of its own, since it removes content.

import { h, show } from '../core/dom.js';
import { t } from '../core/words.js';
import { read, write } from '../core/call.js';
import { say, sayDone } from '../core/notes.js';
import { enumWords } from '../core/format.js';
import { heading, fillFrom } from '../parts/frame.js';
import { form, field, listOf, valuesOf } from '../parts/form.js';
import { adminTabs, orgLine } from './admin_tabs.js';

const ROWS_MAX = 10; // of a field of lines
const KINDS_PREFIX = 'ANNOTATOR_KIND_';
const CUE_CLASSES = 'CORRECTION, DIRECT, RETRY, COMPLAINT, ABANDON, THANKS, PRAISE';

// `A=B` in a line, as members of these names.
function pairsOf(text, first, second) {
  return text.split('\n').map((line) => line.trim()).filter(Boolean).map((line) => {
    const [name, ...rest] = line.split('=');
    return { [first]: name.trim(), [second]: rest.join('=').trim() };
  });
}

// Each field of the form: its control, the settings as its text, and what a text means.
function numeral(name, member, label, usual, attributes) {
  return { name, member, label, kind: 'number', required: true, attributes, shown: (settings) => String(settings[member] ?? usual), meant: Number };
}

function choice(name, member, label, prefix, values) {
  return { name, member, label, kind: 'select', options: () => values.map((one) => [one, enumWords(prefix + one, prefix)]), shown: (settings) => (settings[member] || '').slice(prefix.length), meant: (text) => prefix + text };
}

function lines(name, member, label, help, { shown, meant }) {
  return { name, member, label, help, kind: 'area', shown, meant };
}

const SHARE = { min: 0, max: 1, step: 'any' };
const PEOPLE = { min: 1, max: 100, step: 1 };
const GROUPS = [
  [() => t('Examples in prompts'), [
    numeral('holdout_percent', 'holdoutPercent', () => t('Held out, in percent'), 0, { min: 0, max: 100, step: 1 }),
    choice('match_mode', 'matchMode', () => t('Examples come from'), 'MATCH_MODE_', ['EXACT', 'FAMILY']),
    choice('grouping', 'grouping', () => t('One example is'), 'EXAMPLE_GROUPING_', ['EVENT', 'DOCUMENT']),
    { name: 'kinds', member: 'annotatorKinds', label: () => t('Examples are made by'), kind: 'select', options: () => [['HUMAN', t('people')], ['HUMAN,CODE', t('people and programs')], ['HUMAN,CODE,LLM', t('people, programs and models')]],
      shown: (settings) => (settings.annotatorKinds || []).map((one) => one.slice(KINDS_PREFIX.length)).join(','), meant: (text) => text.split(',').map((one) => KINDS_PREFIX + one) }]],
  [() => t('Scores of receipts'), [
    numeral('suspicious_at', 'suspiciousAt', () => t('A score is suspicious from'), 0.4, SHARE), numeral('fake_at', 'fakeAt', () => t('A score is fake from'), 0.6, SHARE),
    choice('stacking', 'stacking', () => t('Rules with one pattern'), 'SCORE_STACKING_', ['SUM', 'MAX'])]],
  [() => t('Reviews'), [
    numeral('reviews_needed', 'reviewsNeeded', () => t('Reviewers that a run needs'), 1, PEOPLE),
    lines('redacted_members', 'redactedMembers', () => t('Members that prompts never show'), () => t('A line for each member of items; its value becomes [redacted]. Addresses, phone numbers and secrets in texts are always redacted.'),
      { shown: (settings) => (settings.redactedMembers?.names || []).join('\n'), meant: (text) => ({ names: listOf(text) }) })]],
  [() => t('Decisions and guidelines'), [
    numeral('votes_needed', 'votesNeeded', () => t('Votes that a proposal needs'), 2, PEOPLE),
    { name: 'evaluator_id', member: 'evaluatorId', label: () => t('Evaluator that counts'), help: () => t('For decisions that it classified; empty: the server’s own.'), shown: (settings) => settings.evaluatorId || '', meant: (text) => text },
    lines('gates', 'gateAgents', () => t('Agents of gates'), () => t('For decisions that name no agent: a line GATE=AGENT for each gate.'),
      { shown: (settings) => (settings.gateAgents?.gates || []).map((one) => `${one.gateId}=${one.agentName}`).join('\n'), meant: (text) => ({ gates: pairsOf(text, 'gateId', 'agentName') }) })]],
  [() => t('Messages in sessions'), [
    choice('topic_change', 'topicChange', () => t('After a change of topic'), 'TOPIC_CHANGE_', ['ACCEPTED', 'NEUTRAL']),
    lines('extra_cues', 'extraCues', () => t('Own phrases of feedback'), () => t('A line CLASS=PHRASE for each, beside the server’s own; classes such as {classes}.', { classes: CUE_CLASSES }),
      { shown: (settings) => (settings.extraCues?.cues || []).map((one) => `${one.cueClass}=${one.phrase}`).join('\n'), meant: (text) => ({ cues: pairsOf(text, 'cueClass', 'phrase') }) })]],
];
const FIELDS = GROUPS.flatMap(([, fields]) => fields);

// The settings whose fields differ from what the form showed first; and the same as they were, for the undo.
function changesOf(values, first, settings) {
  const differing = FIELDS.filter((one) => values[one.name] !== first[one.name]);
  return { next: Object.fromEntries(differing.map((one) => [one.member, one.meant(values[one.name])])),
    before: Object.fromEntries(differing.map((one) => [one.member, settings[one.member] ?? one.meant(one.shown(settings))])) };
}

function fieldOf(one, settings) {
  const value = one.shown(settings);
  return field({ ...one, label: one.label(), help: one.help && one.help(), options: one.options && one.options(), value, rows: Math.min(ROWS_MAX, value.split('\n').length + 1) });
}

function group([title, fields], settings) {
  const short = fields.filter((one) => one.kind !== 'area');
  const long = fields.filter((one) => one.kind === 'area');
  return h('fieldset', { class: 'group' }, h('legend', null, title()), h('div', { class: 'field-row' }, short.map((one) => fieldOf(one, settings))), long.map((one) => fieldOf(one, settings)));
}

function settingsForm(settings, org, reload) {
  const node = form({
    submit: t('Save settings'), keep: true, fields: GROUPS.map((one) => group(one, settings)),
    run: async (values) => {
      const { next, before } = changesOf(values, first, settings);
      if (!Object.keys(next).length) { say(t('Nothing was changed.')); return; }
      await write('AdminService/UpdateSettings', { orgId: org || undefined, settings: next });
      sayDone(t('Settings saved.'), async () => { await write('AdminService/UpdateSettings', { orgId: org || undefined, settings: before }); reload(); });
      reload();
    },
  });
  const first = valuesOf(node);
  return node;
}

export function open(root, route, signal) {
  const org = route.parameters.get('org') || '';
  const place = h('div', { class: 'card narrow' });
  const load = () => fillFrom(place, async () => settingsForm((await read('AdminService/GetSettings', { orgId: org || undefined }, { signal })).settings || {}, org, load), signal);
  show(root, heading(t('Settings'), t('Of this organisation. Every change is an event; the last one can be undone.')), adminTabs('settings', org), orgLine(org), place);
  load();
  return {};
}
