// What the page shows in the tests: a little of everything, and texts that would run if any view parsed one.
import fs from 'node:fs';

export const HOSTILE = '<img src=x onerror=window.pwned=1>\'"><script>window.pwned=1</script>';
export const LAYOUT = 'supplier-7';
const LINE = 'FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED';
const FIELD = 'FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED';
const PEOPLE = ['ada', 'bela', 'carla'];
const DAY_MS = 86400000;

function daysAgo(days) {
  return new Date(Date.now() - days * DAY_MS - 1000).toISOString();
}

function correction(number, over = {}) {
  return {
    eventType: number % 3 ? LINE : FIELD, actorUserId: PEOPLE[number % 3], layoutFingerprint: LAYOUT, documentId: `order-${number}`, draftOrderId: `draft-${number}`,
    entityType: 'draft_order_line', entityId: `line-${number}`, beforeJson: JSON.stringify({ qty: number }), afterJson: JSON.stringify({ qty: number + 2 }),
    metaJson: JSON.stringify({ input_snippet: `Order ${number}\nArticle 47-${number} | ${number + 2} pcs` }), createdAt: daysAgo(24 - number % 24), ...over,
  };
}

async function corrections(server) {
  await server.call('FeedbackService/BatchCaptureFeedbackEvents', { events: Array.from({ length: 30 }, (_, number) => correction(number)) });
  await server.call('FeedbackService/CaptureFeedbackEvent', { event: correction(40, {
    actorUserId: HOSTILE, layoutFingerprint: HOSTILE, documentId: HOSTILE, draftOrderId: HOSTILE, entityType: HOSTILE, entityId: HOSTILE, createdAt: undefined,
    beforeJson: JSON.stringify({ [HOSTILE]: HOSTILE }), afterJson: JSON.stringify({ [HOSTILE]: `${HOSTILE}!` }), metaJson: JSON.stringify({ input_snippet: HOSTILE }),
  }) });
  const retracted = await server.call('FeedbackService/CaptureFeedbackEvent', { event: correction(41, { createdAt: undefined }) });
  await server.call('EventService/RetractEvent', { eventId: retracted.event.id, reason: HOSTILE });
}

async function extractions(server) {
  await server.call('PromptService/PutPromptTemplate', { promptTemplate: { name: 'order', text: `${HOSTILE} {{hint_examples}}` } });
  const prompt = await server.call('PromptService/PreparePrompt', { templateName: 'order', layoutFingerprint: HOSTILE, documentId: 'order-90' });
  for (let number = 0; number < 6; number += 1) {
    await server.call('ExtractionService/RecordExtraction', { extraction: { documentId: `order-9${number}`, layoutFingerprint: number ? LAYOUT : HOSTILE, confidence: 0.6 + number / 20, exposureRefs: number ? [] : [prompt.exposureRef], createdAt: number ? daysAgo(7 - number) : undefined } });
  }
  return prompt.exposureRef;
}

async function mappings(server) {
  const suggest = (customerId, customerSku, internalSku) => ({ suggest: { customerId, customerSku, internalSku, confidence: 0.8 } });
  const judgements = Array.from({ length: 24 }, (_, at) => suggest(`C-${at % 4}`, `SKU-${String(at).padStart(2, '0')}`, `INT-${at}`));
  judgements.push(suggest(HOSTILE, HOSTILE, HOSTILE), { confirm: { customerId: 'C-9', customerSku: 'A-1', internalSku: 'INT-1' } });
  await server.call('MappingService/BatchJudgeMappings', { judgements });
}

async function verdicts(server) {
  for (let number = 0; number < 8; number += 1) {
    const scored = await server.call('VerdictService/ScoreDocument', { score: 0.45, indicators: ['font_mismatch', HOSTILE], missingFieldsEnabled: true, documentProfile: { confidence: 1 } });
    await server.call('VerdictService/SubmitVerdict', { submission: {
      receiptId: number ? `receipt-${number}` : HOSTILE, actorUserId: number ? 'vera' : HOSTILE, originalScore: 0.45, originalVerdict: number ? 'VERDICT_SUSPICIOUS' : 'VERDICT_REAL', correctVerdict: 'VERDICT_FAKE',
      missedIndicators: number ? [] : ['font_mismatch', HOSTILE], confirmedIndicators: number ? ['font_mismatch'] : [], reviewerNotes: HOSTILE, text: HOSTILE, corrections: { [HOSTILE]: HOSTILE }, exposureRefs: [scored.exposureRef],
    } });
  }
  await server.call('LearningService/ProposeArtifact', { learnedRule: { ruleType: 'LEARNED_RULE_TYPE_FALSE_NEGATIVE', pattern: `text:${HOSTILE}` }, reason: HOSTILE });
}

async function reviews(server, reviewer) {
  for (let number = 0; number < 12; number += 1) {
    const name = number === 11 ? HOSTILE : `run-${number}`;
    const subcategory = number === 11 ? HOSTILE : 'drills';
    await server.call('ReviewService/PutItem', { item: { runId: name, itemId: number === 11 ? HOSTILE : `item-${number}`, itemJson: JSON.stringify({ name: HOSTILE, subcategory }) } });
    if (number < 5 || number === 11) {
      await server.call('ReviewService/SubmitReview', { review: { runId: name, subcategory, decision: 'REVIEW_DECISION_CHANGES_REQUESTED', badFormat: true, wrongInformation: number % 2 === 0, missingSpec: ['weight', HOSTILE], notes: HOSTILE, reviewedBy: number === 11 ? HOSTILE : 'rita', state: HOSTILE } });
    }
  }
  const { fragmentSets } = await server.call('ReviewService/ListFragmentSets', { pageSize: 1 });
  const fragments = fragmentSets[0].fragments.map((one, at) => ({ ...one, text: at ? one.text : HOSTILE }));
  await server.call('ReviewService/PutFragmentSet', { fragmentSet: { fragments, labelFocusFields: HOSTILE, comment: HOSTILE } }, reviewer);
}

async function proposals(server, operator) {
  await server.call('GuidelineService/ProposeGuideline', { proposal: { ruleType: 'RULE_TYPE_GUIDELINE', ruleContent: `Never write ${HOSTILE}`, affectedAgents: [HOSTILE], evidenceSummary: HOSTILE } }, operator);
}

async function turns(server) {
  await server.call('TurnService/RecordTurn', { turn: { sessionId: HOSTILE, turnId: HOSTILE, query: HOSTILE, responseSummary: HOSTILE, intent: HOSTILE, validationOutcome: 'VALIDATION_OUTCOME_APPROVE', qualityScore: 0.7, strategy: { tool: HOSTILE, text: HOSTILE } } });
  await server.call('TurnService/DetectFeedback', { sessionId: HOSTILE, turnId: 'next', message: `No, that is wrong, I meant ${HOSTILE}` });
}

async function documents(server, pdf) {
  for (let tries = 0; tries < 300; tries += 1) {
    const { status } = await server.call('grpc.health.v1.Health/Check', { service: 'errata.pdf' }, '').catch(() => ({}));
    if (status === 'SERVING') break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await server.call('LayoutService/IngestDocument', { documentId: 'invoice-1', content: fs.readFileSync(pdf).toString('base64') });
}

// Fills the server; returns the tokens of people, and a reference to explain.
export async function seed(server, pdf) {
  const tokens = { reviewer: await server.token('REVIEWER', 'rita'), operator: await server.token('OPERATOR', 'otto'), viewer: await server.token('VIEWER', HOSTILE) };
  await corrections(server);
  const reference = await extractions(server);
  await mappings(server);
  await verdicts(server);
  await reviews(server, tokens.reviewer);
  await proposals(server, tokens.operator);
  await turns(server);
  await documents(server, pdf);
  return { tokens, reference };
}
