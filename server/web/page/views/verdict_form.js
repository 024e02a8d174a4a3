// A new verdict: the scorer's result, a person's answer for each indicator, and the rules that were learned from it.

import { h, show } from '../core/dom.js';
import { t } from '../core/words.js';
import { href } from '../core/route.js';
import { read, write } from '../core/call.js';
import { addKeys } from '../core/keys.js';
import { sayDone } from '../core/notes.js';
import { enumWords, number, signed, count } from '../core/format.js';
import { heading, section, button, badge, plainTable, errorBox } from '../parts/frame.js';
import { form, field } from '../parts/form.js';
import { verdictTabs } from './verdicts.js';

const VERDICTS = ['REAL', 'SUSPICIOUS', 'FAKE'];
const ANSWERS = [['confirmed', 'c'], ['rejected', 'r'], ['missed', 'm']];

function answerName(answer) {
  return { confirmed: t('confirm'), rejected: t('reject'), missed: t('missed') }[answer];
}

// Indicators, each with one of three answers.
class Indicators {
  constructor() {
    this.answers = new Map();
    this.list = h('ul', { class: 'indicators' });
    this.input = h('input', { type: 'text', 'aria-label': t('Indicator'), placeholder: t('name of an indicator'), autocomplete: 'off', spellcheck: 'false', on: { keydown: (event) => { if (event.key === 'Enter') { event.preventDefault(); this.add(); } } } });
    this.node = h('fieldset', { class: 'field' }, h('legend', null, t('Indicators')), this.list,
      h('div', { class: 'actions' }, h('div', { class: 'grow' }, this.input), button(t('Add indicator'), () => this.add(), { kind: 'small' })),
      h('p', { class: 'help' }, t('Confirm those that the scorer named rightly, reject those it named wrongly, and add those that it missed. Keys on a row: c, r, m.')));
  }

  add(name = this.input.value.trim(), answer = 'missed') {
    if (!name) return;
    this.input.value = '';
    if (!this.answers.has(name)) this.answers.set(name, answer);
    this.draw();
  }

  set(name, answer) {
    this.answers.set(name, answer);
    this.draw(name);
  }

  draw(focus) {
    show(this.list, [...this.answers].map(([name, answer]) => {
      const row = h('li', { tabindex: '0', 'aria-label': `${name}: ${answerName(answer)}`, on: { keydown: (event) => this.onKey(event, name) } }, h('span', { class: 'grow mono' }, name),
        ANSWERS.map(([one]) => h('button', { type: 'button', class: 'button small', tabindex: '-1', 'aria-pressed': String(one === answer), on: { click: () => this.set(name, one) } }, answerName(one))),
        button(t('Remove'), () => { this.answers.delete(name); this.draw(); }, { kind: 'quiet small' }));
      if (name === focus) requestAnimationFrame(() => row.focus());
      return row;
    }));
  }

  onKey(event, name) {
    const found = ANSWERS.find(([, key]) => key === event.key);
    if (!found || event.target.tagName !== 'LI') return;
    event.preventDefault();
    event.stopPropagation();
    this.set(name, found[0]);
  }

  of(answer) {
    return [...this.answers].filter(([, one]) => one === answer).map(([name]) => name);
  }

  clear() {
    this.answers.clear();
    this.draw();
  }
}

function correctionsOf(text) {
  const pairs = text.split('\n').map((line) => line.split(/[:=](.*)/s)).filter((pair) => pair[0].trim() && pair[1] !== undefined);
  return Object.fromEntries(pairs.map(([name, value]) => [name.trim(), value.trim()]));
}

function scoreRows(reply) {
  const rows = reply.events || [];
  return h('div', { class: 'card' },
    h('p', null, t('Score {score}, so the verdict is ', { score: number(reply.score || 0, 3) }), badge(enumWords(reply.verdict, 'VERDICT_'))),
    rows.length ? plainTable(t('Rules that matched'), [
      { head: t('Rule'), cell: (one) => h('a', { href: href('verdicts/rules', { open: one.ruleId.replace('LEARNED_', '') }) }, one.message) },
      { head: t('Weight'), number: true, cell: (one) => signed(one.weight || 0) },
      { head: t('Suppressed by'), cell: (one) => (one.suppressedBy ? enumWords(one.suppressedBy, 'SCORE_GATE_') : '–') }], rows) : h('p', { class: 'muted' }, t('No learned rule matches.')));
}

function changesOf(submission) {
  const changes = submission.ruleChanges || [];
  if (!changes.length) return h('p', null, t('Stored. No rule was learned from it.'));
  return plainTable(t('Rules that it touched'), [
    { head: t('Rule'), cell: (one) => h('a', { href: href('verdicts/rules', { open: one.rule.id }) }, one.rule.pattern) }, { head: t('Type'), cell: (one) => enumWords(one.rule.ruleType, 'LEARNED_RULE_TYPE_') },
    { head: t('What happened'), cell: (one) => enumWords(one.effect, 'LEARNED_RULE_EFFECT_') }, { head: t('Adds'), number: true, cell: (one) => signed(one.rule.confidenceAdjustment || 0) },
    { head: t('Learned from'), number: true, cell: (one) => count(one.rule.learnedFromFeedbackCount) }], changes);
}

function undoOf(submission) {
  return async () => {
    await write('EventService/RetractEvent', { eventId: submission.id, reason: t('undone on the page') });
  };
}

export function open(root) {
  const indicators = new Indicators();
  const scored = h('div', null);
  const result = h('div', { class: 'section' });
  let reference = '';
  const score = async (node) => {
    show(scored);
    try {
      const reply = await read('VerdictService/ScoreDocument', {
        score: Number(node.elements.original_score.value) || 0, indicators: [...indicators.answers.keys()], featuresJson: node.elements.original_features_json.value.trim(),
        text: node.elements.text.value, missingFieldsEnabled: true, documentProfile: { confidence: 1 },
      });
      reference = reply.exposureRef;
      const chosen = node.querySelector(`input[name=original_verdict][value="${reply.verdict.slice('VERDICT_'.length)}"]`);
      if (chosen) chosen.checked = true;
      show(scored, scoreRows(reply));
    } catch (error) {
      show(scored, errorBox(error));
    }
  };
  const options = VERDICTS.map((one) => [one, enumWords(`VERDICT_${one}`, 'VERDICT_')]);
  const node = form({
    submit: t('Submit verdict'), keep: true,
    extra: button(t('Score it'), () => score(node), { title: t('What the scorer says with the rules that were learned') }),
    fields: [
      h('div', { class: 'field-row' }, field({ name: 'receipt_id', label: t('Receipt'), required: true }), field({ name: 'original_score', label: t('Score of the scorer, 0 to 1'), kind: 'number', value: '0.5', attributes: { min: 0, max: 1, step: 'any' } })),
      h('div', { class: 'field-row' }, field({ name: 'original_verdict', label: t('The scorer said'), kind: 'choice', options, required: true }), field({ name: 'correct_verdict', label: t('It really is'), kind: 'choice', options, required: true })),
      indicators.node,
      field({ name: 'corrections', label: t('Corrected data'), kind: 'area', rows: 2, help: t('One a line: total: 12.40') }),
      field({ name: 'reviewer_notes', label: t('Notes'), kind: 'area', rows: 2 }),
      field({ name: 'text', label: t('Text of the receipt'), kind: 'area', rows: 3 }),
      field({ name: 'original_features_json', label: t('Features of the scorer, as JSON'), kind: 'area', rows: 2, attributes: { class: 'mono', placeholder: '{"total": 12.40}' } }),
      scored],
    run: async (values) => {
      const { submission } = await write('VerdictService/SubmitVerdict', { submission: {
        receiptId: values.receipt_id, originalScore: values.original_score === '' ? undefined : Number(values.original_score), originalVerdict: `VERDICT_${values.original_verdict}`, correctVerdict: `VERDICT_${values.correct_verdict}`,
        confirmedIndicators: indicators.of('confirmed'), rejectedIndicators: indicators.of('rejected'), missedIndicators: indicators.of('missed'), corrections: correctionsOf(values.corrections),
        reviewerNotes: values.reviewer_notes, text: values.text, originalFeaturesJson: values.original_features_json, exposureRefs: reference ? [reference] : [],
      } });
      sayDone(t('Verdict on {receipt} submitted.', { receipt: submission.receiptId }), undoOf(submission));
      show(result, section(t('What was learned'), changesOf(submission)));
      node.reset();
      indicators.clear();
      show(scored);
      reference = '';
      node.elements.receipt_id.focus();
    },
  });
  show(root, heading(t('New verdict'), t('Correct the scorer on one receipt. Rules are learned from it at once; a verdict can be taken back.')), verdictTabs('submit'), h('div', { class: 'card narrow' }, node), result);
  return { close: addKeys(t('New verdict'), [{ key: '/', label: t('go to the form'), run: () => node.elements.receipt_id.focus() }]) };
}
