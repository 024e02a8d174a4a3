// Outcomes and evidence of artifacts, as tables with links.

import { h } from '../core/dom.js';
import { t } from '../core/words.js';
import { href } from '../core/route.js';
import { enumWords, kindName, when, idText } from '../core/format.js';
import { plainTable, badge } from './frame.js';

function subjectOf(one) {
  if (one.documentId) return h('a', { href: href('corrections', { document: one.documentId }) }, one.documentId);
  if (one.runId) return h('a', { href: href('reviews', { run: one.runId }) }, one.runId);
  return one.receiptId || one.draftOrderId || '–';
}

export function outcomesTable(outcomes) {
  if (!outcomes.length) return null;
  return plainTable(t('Newest outcomes'), [
    { head: t('Subject'), cell: subjectOf },
    { head: t('When'), cell: (one) => when(one.createdAt) },
    { head: t('Outcome'), cell: (one) => (one.correctedByEventId ? h('a', { href: href('corrections', { open: one.correctedByEventId }) }, badge(t('corrected'), 'wrong'))
      : one.correctVerdict ? badge(enumWords(one.correctVerdict, 'VERDICT_')) : (one.recurred || []).length ? badge(t('signal came again'), 'wrong') : badge(t('good'), 'right')) },
  ], outcomes);
}

export function evidenceTable(evidence, incomplete) {
  if (!evidence.length) return null;
  return [plainTable(t('Evidence'), [
    { head: t('Event'), cell: (one) => (one.eventType ? h('a', { href: href('corrections', { open: one.eventId, type: 'ALL' }) }, enumWords(one.eventType, 'FEEDBACK_EVENT_TYPE_')) : kindName(one.kind)) },
    { head: t('Who'), cell: (one) => one.actorUserId || enumWords(one.annotatorKind, 'ANNOTATOR_KIND_') },
    { head: t('When'), cell: (one) => when(one.createdAt) },
    { head: t('Subject'), cell: subjectOf },
    { head: t('Id'), cell: (one) => [idText(one.eventId), one.retracted && badge(t('retracted'), 'wrong')] },
  ], evidence), incomplete && h('p', { class: 'muted' }, t('More evidence exists than is listed.'))];
}
