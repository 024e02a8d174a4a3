// Explains the content of a response from its exposure reference: the reasons, the evidence and its
// authors, and the approvers.

import { h, show } from '../core/dom.js';
import { t, tn } from '../core/words.js';
import { href, go, changed } from '../core/route.js';
import { read } from '../core/call.js';
import { enumWords, timeText, count, prettyJson, shortId, mono, signed, idText } from '../core/format.js';
import { heading, section, fillFrom, facts, badge, empty, details, plainTable, button, copyText } from '../parts/frame.js';
import { form, field } from '../parts/form.js';
import { evidenceTable, outcomesTable } from '../parts/evidence.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-/i;

function titleOf(artifact) {
  if (artifact.example) return [t('Example'), ' ', h('a', { href: href('corrections', { open: artifact.example.id }) }, idText(artifact.example.id))];
  if (artifact.mapping) return [t('Mapping'), h('span', { class: 'mono' }, `${artifact.mapping.customerSku} → ${artifact.mapping.internalSku}`)];
  if (artifact.promptTemplate) return [t('Prompt template'), h('span', { class: 'mono' }, artifact.promptTemplate.name)];
  if (artifact.learnedRule) return [t('Learned rule'), h('a', { href: href('verdicts/rules', { open: artifact.learnedRule.id }) }, artifact.learnedRule.pattern)];
  if (artifact.fragmentSet) return [t('Wording'), ' ', h('a', { href: href('reviews/wording', { open: artifact.fragmentSet.version || 0 }) }, t('version {n}', { n: artifact.fragmentSet.version || 0 }))];
  if (artifact.exampleItemJson !== undefined) return [t('Example item')];
  return [t('Artifact')];
}

function contentOf(artifact) {
  const { example, mapping, promptTemplate, learnedRule, exampleItemJson } = artifact;
  if (example) return h('div', { class: 'pair' }, h('pre', { class: 'snippet', tabindex: '0' }, example.inputSnippet || t('(no text)')), h('pre', { class: 'snippet', tabindex: '0' }, prettyJson(example.output || '')));
  if (mapping) return facts([[t('Customer'), mapping.customerId], [t('Status as served'), enumWords(mapping.status, 'MAPPING_STATUS_')], [t('Status now'), enumWords(artifact.currentStatus, 'MAPPING_STATUS_')], [t('Lines'), artifact.lineCount]]);
  if (promptTemplate) return h('pre', { class: 'snippet', tabindex: '0' }, promptTemplate.text || '');
  if (learnedRule) return facts([[t('Adds'), signed(learnedRule.confidenceAdjustment || 0)], [t('Learned from'), tn(count(learnedRule.learnedFromFeedbackCount), '{n} verdict', '{n} verdicts')]]);
  if (exampleItemJson) return h('pre', { class: 'snippet', tabindex: '0' }, prettyJson(exampleItemJson));
  return null;
}

function artifactCard(artifact) {
  return h('article', { class: 'card' },
    h('div', { class: 'actions' }, h('h3', null, titleOf(artifact)), artifact.version !== undefined && badge(t('version {n}', { n: artifact.version })), artifact.expired && badge(t('removed by retention'), 'wrong'),
      artifact.heldOut && badge(t('held out'), 'wrong'), artifact.shadow && badge(t('in shadow')), artifact.supersededByEventId && badge(t('superseded since'))),
    artifact.approvedBy && h('p', null, t('Approved by {who}.', { who: artifact.approvedBy })),
    contentOf(artifact),
    (artifact.evidence || []).length > 0 && details(tn(artifact.evidence.length, '{n} event is its evidence', '{n} events are its evidence'), evidenceTable(artifact.evidence, artifact.evidenceIncomplete)));
}

function signalsOf(reply) {
  if (!(reply.signals || []).length) return null;
  return section(t('Signals, and the reviews that caused them'), reply.signals.map((one) => h('article', { class: 'card' }, h('h3', null, enumWords(one.signal, 'REVIEW_SIGNAL_')),
    (one.fragments || []).map((fragment) => h('p', null, badge(enumWords(fragment.placeholder, 'REVIEW_PLACEHOLDER_')), ' ', fragment.text)), evidenceTable(one.reviews || [], one.reviewsIncomplete))));
}

function scoresOf(reply) {
  if (!(reply.scoreEvents || []).length) return null;
  return section(t('Rules that matched'), plainTable(t('Rules that matched'), [
    { head: t('Rule'), cell: (one) => h('a', { href: href('verdicts/rules', { open: one.ruleId.replace('LEARNED_', '') }) }, one.message) },
    { head: t('Weight'), number: true, cell: (one) => signed(one.weight || 0) },
    { head: t('Suppressed by'), cell: (one) => (one.suppressedBy ? enumWords(one.suppressedBy, 'SCORE_GATE_') : '–') },
  ], reply.scoreEvents));
}

function answerOf(reply) {
  const artifacts = reply.artifacts || [];
  return [
    facts([
      [t('What'), enumWords(reply.exposureKind, 'EXPOSURE_KIND_')], [t('Served'), timeText(reply.servedAt)], [t('As of event'), count(reply.asOfSeq)], [t('Side of the experiment'), enumWords(reply.arm, 'EXPERIMENT_ARM_')],
      [t('Subcategory'), reply.subcategory], [t('Verdict of the base score'), reply.baseVerdict && enumWords(reply.baseVerdict, 'VERDICT_')], [t('Verdict with rules'), reply.verdict && enumWords(reply.verdict, 'VERDICT_')],
      [t('Verdict with shadow rules too'), reply.shadowVerdict && enumWords(reply.shadowVerdict, 'VERDICT_')],
      [t('Recorded as'), reply.exposureId ? mono(shortId(reply.exposureId), reply.exposureId) : t('not cited by an outcome yet')]]),
    reply.expired && h('p', { class: 'callout wrong' }, t('Retention removed a part of what was served; its hash is left.')),
    reply.incomplete && h('p', { class: 'callout' }, t('This answer named more than can be listed.')),
    scoresOf(reply), signalsOf(reply),
    section(tn(count(reply.artifactCount), '{n} artifact was in it', '{n} artifacts were in it'), artifacts.length ? artifacts.map(artifactCard) : h('p', { class: 'muted' }, t('Nothing that was learned was in this answer.'))),
    reply.hintExamplesJson && section(t('The learned part of the text, byte for byte'), h('pre', { class: 'code', tabindex: '0' }, reply.hintExamplesJson), button(t('Copy'), (event) => copyText(reply.hintExamplesJson, event.currentTarget.querySelector('span')), { kind: 'small', symbol: 'copy' })),
    section(t('Outcomes that cite it'), (reply.outcomes || []).length ? outcomesTable(reply.outcomes) : h('p', { class: 'muted' }, t('None yet: a pipeline cites the reference when it records the extraction, verdict or review.'))),
  ];
}

export function open(root, route, signal) {
  const answer = h('div', { class: 'section wide-gap' });
  const ask = form({
    submit: t('Explain'), keep: true,
    fields: [field({ name: 'reference', label: t('Exposure reference or id'), kind: 'area', rows: 3, required: true, value: route.parameters.get('ref') || '', attributes: { class: 'mono' },
      help: t('Answers of GetExamples, PreparePrompt, MatchLines, ScoreDocument and ResolvePlaceholders have it as exposure_ref.') })],
    run: async ({ reference }) => go(changed({ ref: reference })),
  });
  const load = (reference) => {
    if (!reference) {
      show(answer, empty(t('Paste a reference.'), t('You get the artifacts that were in the answer, as they were, the corrections or verdicts they were learned from, and what became of it.')));
      return;
    }
    const request = UUID.test(reference) ? { exposureId: reference } : { exposureRef: reference };
    show(answer);
    fillFrom(answer, async () => answerOf(await read('LearningService/ExplainExposure', request, { signal })), signal);
  };
  show(root, heading(t('Explain'), t('Why did a model get this? Every answer with something learned in it can be explained, as it was when it was served.')), ask, answer);
  load(route.parameters.get('ref') || '');
  return { update: (next) => { ask.elements.reference.value = next.parameters.get('ref') || ''; load(next.parameters.get('ref') || ''); } };
}

