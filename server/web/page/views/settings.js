// Settings of an organisation: which examples are served, how scores are read, how many people must agree.

import { h, show } from '../core/dom.js';
import { t } from '../core/words.js';
import { read, write } from '../core/call.js';
import { say, sayDone } from '../core/notes.js';
import { enumWords } from '../core/format.js';
import { heading, fillFrom } from '../parts/frame.js';
import { form, field, valuesOf } from '../parts/form.js';
import { adminTabs, orgLine } from './admin_tabs.js';

const NUMBERS = [['holdout_percent', 'holdoutPercent', () => t('Held out from examples, in percent'), { min: 0, max: 100, step: 1 }, '0'], ['reviews_needed', 'reviewsNeeded', () => t('Reviewers that a run needs'), { min: 1, step: 1 }, '1'],
  ['votes_needed', 'votesNeeded', () => t('Votes that a proposal needs'), { min: 1, step: 1 }, '2'],
  ['suspicious_at', 'suspiciousAt', () => t('A score is suspicious from'), { min: 0, max: 1, step: 'any' }, '0.4'], ['fake_at', 'fakeAt', () => t('A score is fake from'), { min: 0, max: 1, step: 'any' }, '0.6']];
const CHOICES = [['match_mode', 'matchMode', () => t('Examples come from'), 'MATCH_MODE_', ['EXACT', 'FAMILY']], ['grouping', 'grouping', () => t('One example is'), 'EXAMPLE_GROUPING_', ['EVENT', 'DOCUMENT']],
  ['stacking', 'stacking', () => t('Rules with one pattern'), 'SCORE_STACKING_', ['SUM', 'MAX']]];

// The agents of gates as lines `GATE=AGENT`.
function gateLines(settings) {
  return (settings.gateAgents?.gates || []).map((one) => `${one.gateId}=${one.agentName}`).join('\n');
}

function gatesOf(text) {
  return text.split('\n').map((line) => line.trim()).filter(Boolean).map((line) => {
    const [gateId, ...rest] = line.split('=');
    return { gateId: gateId.trim(), agentName: rest.join('=').trim() };
  });
}

const KINDS_PREFIX = 'ANNOTATOR_KIND_';

// Each field of the form: the settings as its text, and what a text means.
const FIELDS = [
  ...NUMBERS.map(([name, member, , , usual]) => ({ name, member, shown: (settings) => String(settings[member] ?? usual), meant: Number })),
  ...CHOICES.map(([name, member, , prefix]) => ({ name, member, shown: (settings) => (settings[member] || '').slice(prefix.length), meant: (text) => prefix + text })),
  { name: 'kinds', member: 'annotatorKinds', shown: (settings) => (settings.annotatorKinds || []).map((one) => one.slice(KINDS_PREFIX.length)).join(','), meant: (text) => text.split(',').map((one) => KINDS_PREFIX + one) },
  { name: 'gates', member: 'gateAgents', shown: gateLines, meant: (text) => ({ gates: gatesOf(text) }) },
];

// The settings whose fields differ from what the form showed first; and the same as they were, for the undo.
function changesOf(values, first, settings) {
  const differing = FIELDS.filter((one) => values[one.name] !== first[one.name]);
  return { next: Object.fromEntries(differing.map((one) => [one.member, one.meant(values[one.name])])),
    before: Object.fromEntries(differing.map((one) => [one.member, settings[one.member] ?? one.meant(one.shown(settings))])) };
}

function settingsForm(settings, org, reload) {
  const shown = Object.fromEntries(FIELDS.map((one) => [one.name, one.shown(settings)]));
  const node = form({
    submit: t('Save settings'), keep: true,
    fields: [h('div', { class: 'field-row' }, NUMBERS.map(([name, , label, attributes]) => field({ name, label: label(), kind: 'number', value: shown[name], required: true, attributes }))),
      h('div', { class: 'field-row' }, CHOICES.map(([name, , label, prefix, values]) => field({ name, label: label(), kind: 'select', value: shown[name], options: values.map((one) => [one, enumWords(prefix + one, prefix)]) }))),
      field({ name: 'kinds', label: t('Examples are made by'), kind: 'select', value: shown.kinds, options: [['HUMAN', t('people')], ['HUMAN,CODE', t('people and programs')], ['HUMAN,CODE,LLM', t('people, programs and models')]] }),
      field({ name: 'gates', label: t('Agents of gates'), kind: 'area', rows: 2, value: shown.gates, help: t('For decisions that name no agent: a line GATE=AGENT for each gate.') })],
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
