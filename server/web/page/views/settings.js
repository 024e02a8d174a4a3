// Settings of an organisation: which examples are served, how scores are read, how many people must agree.

import { h, show } from '../core/dom.js';
import { t } from '../core/words.js';
import { read, write } from '../core/call.js';
import { sayDone } from '../core/notes.js';
import { enumWords } from '../core/format.js';
import { heading, fillFrom } from '../parts/frame.js';
import { form, field } from '../parts/form.js';
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

function settingsForm(settings, org, reload) {
  return form({
    submit: t('Save settings'), keep: true,
    fields: [h('div', { class: 'field-row' }, NUMBERS.map(([name, member, label, attributes, usual]) => field({ name, label: label(), kind: 'number', value: settings[member] ?? usual, required: true, attributes }))),
      h('div', { class: 'field-row' }, CHOICES.map(([name, member, label, prefix, values]) => field({ name, label: label(), kind: 'select', value: (settings[member] || '').slice(prefix.length), options: values.map((one) => [one, enumWords(prefix + one, prefix)]) }))),
      field({ name: 'kinds', label: t('Examples are made by'), kind: 'select', value: (settings.annotatorKinds || []).map((one) => one.slice('ANNOTATOR_KIND_'.length)).join(','), options: [['HUMAN', t('people')], ['HUMAN,CODE', t('people and programs')], ['HUMAN,CODE,LLM', t('people, programs and models')]] }),
      field({ name: 'gates', label: t('Agents of gates'), kind: 'area', rows: 2, value: gateLines(settings), help: t('For decisions that name no agent: a line GATE=AGENT for each gate.') })],
    run: async (values) => {
      const next = {};
      NUMBERS.forEach(([name, member]) => { next[member] = Number(values[name]); });
      CHOICES.forEach(([name, member, , prefix]) => { next[member] = prefix + values[name]; });
      next.annotatorKinds = values.kinds.split(',').map((one) => `ANNOTATOR_KIND_${one}`);
      next.gateAgents = { gates: gatesOf(values.gates) };
      await write('AdminService/UpdateSettings', { orgId: org || undefined, settings: next });
      sayDone(t('Settings saved.'), async () => { await write('AdminService/UpdateSettings', { orgId: org || undefined, settings }); reload(); });
      reload();
    },
  });
}

export function open(root, route, signal) {
  const org = route.parameters.get('org') || '';
  const place = h('div', { class: 'card narrow' });
  const load = () => fillFrom(place, async () => settingsForm((await read('AdminService/GetSettings', { orgId: org || undefined }, { signal })).settings || {}, org, load), signal);
  show(root, heading(t('Settings'), t('Of this organisation. Every change is an event; the last one can be undone.')), adminTabs('settings', org), orgLine(org), place);
  load();
  return {};
}
