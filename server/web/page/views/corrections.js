// Corrections, newest first: who changed what, when, in which document and layout; a panel with before and after,
// the text that the model saw, where the correction has been served, and its retraction.

import { h, show } from '../core/dom.js';
import { t } from '../core/words.js';
import { href, go, changed } from '../core/route.js';
import { read, readPage, write } from '../core/call.js';
import { hasRole } from '../core/session.js';
import { say } from '../core/notes.js';
import { enumWords, idText, when, mono, shortId, timeText, count, percent } from '../core/format.js';
import { heading, empty, badge, facts, section, button, fillFrom } from '../parts/frame.js';
import { form, field } from '../parts/form.js';
import { List } from '../parts/list.js';
import { shortDiff, diffTable, diffText, jsonBlock } from '../parts/diff.js';
import { outcomesTable } from '../parts/evidence.js';

const TYPE = 'FEEDBACK_EVENT_TYPE_';
const TYPES = ['EXTRACTION_LINE_CORRECTED', 'EXTRACTION_FIELD_CORRECTED', 'CUSTOMER_SELECTED', 'MAPPING_CONFIRMED', 'MAPPING_REJECTED'];
const KINDS = ['HUMAN', 'CODE', 'LLM'];
const ENTITY = /^([^/]+)\/?(.*)$/;

function filters() {
  return [
    { name: 'field', label: t('Field'), placeholder: 'qty' },
    { name: 'type', label: t('Type'), kind: 'select', options: [['', t('corrections and selections')], ['ALL', t('all types')], ...TYPES.map((one) => [one, enumWords(TYPE + one, TYPE)])] },
    { name: 'actor', label: t('Person') },
    { name: 'layout', label: t('Layout') },
    { name: 'document', label: t('Document') },
    { more: true, name: 'draft', label: t('Draft order') },
    { more: true, name: 'entity', label: t('Entity'), placeholder: 'draft_order_line/3' },
    { more: true, name: 'annotator', label: t('Made by'), kind: 'select', options: [['', t('anyone')], ...KINDS.map((one) => [one, enumWords(`ANNOTATOR_KIND_${one}`, 'ANNOTATOR_KIND_')])] },
    { more: true, name: 'from', label: t('From'), kind: 'date' },
    { more: true, name: 'to', label: t('To'), kind: 'date' },
  ];
}

// The request of the filters; `to` is the last day.
export function requestOf(parameters) {
  const entity = ENTITY.exec(parameters.entity || '');
  const end = parameters.to && new Date(new Date(`${parameters.to}T00:00:00Z`).getTime() + 86400000).toISOString();
  return {
    field: parameters.field, actorUserId: parameters.actor, layoutFingerprint: parameters.layout, documentId: parameters.document, draftOrderId: parameters.draft,
    entityType: entity ? entity[1] : '', entityId: entity ? entity[2] : '',
    eventType: parameters.type && parameters.type !== 'ALL' ? TYPE + parameters.type : undefined,
    excludeMappingEvents: !parameters.type, annotatorKind: parameters.annotator ? `ANNOTATOR_KIND_${parameters.annotator}` : undefined,
    startTime: parameters.from ? `${parameters.from}T00:00:00Z` : undefined, endTime: end || undefined,
  };
}

function who(event) {
  if (event.actorUserId) return event.actorUserId;
  return h('span', { class: 'muted' }, enumWords(event.annotatorKind, 'ANNOTATOR_KIND_'));
}

function columns() {
  return [
    { head: t('Change'), cell: (event) => shortDiff(event), text: diffText },
    { head: t('Who'), cell: who, text: (event) => event.actorUserId || '' },
    { head: t('When'), cell: (event) => when(event.createdAt), text: (event) => event.createdAt },
    { head: t('Document'), kind: 'wide', cell: (event) => event.documentId || event.draftOrderId || '–', text: (event) => event.documentId || event.draftOrderId || '' },
    { head: t('Layout'), kind: 'wide', cell: (event) => (event.layoutFingerprint ? mono(shortId(event.layoutFingerprint), event.layoutFingerprint) : '–'), text: (event) => event.layoutFingerprint || '' },
    { head: t('Type'), kind: 'wide', cell: (event) => [badge(enumWords(event.eventType, TYPE)), event.retractedAt && badge(t('retracted'), 'wrong')], text: (event) => event.eventType },
  ];
}

function snippetOf(event) {
  try {
    return JSON.parse(event.metaJson || '{}').input_snippet || '';
  } catch {
    return '';
  }
}

function serving(event, signal) {
  const place = h('div', null);
  if (!event.isExample) {
    show(place, h('p', { class: 'muted' }, event.retractedAt ? t('Retracted: it is no longer served.') : t('This event is not an example for prompts.')));
    return place;
  }
  fillFrom(place, async () => {
    const report = await read('LearningService/GetArtifactReport', { artifactId: event.id }, { signal });
    const served = report.served || {};
    return [h('p', null, count(served.exposureCount) === 0 ? t('Not served in a prompt yet.') : t('Served {served} times; of {outcomes} extractions that had it, {bad} were corrected ({rate}).', {
      served: count(served.exposureCount), outcomes: count(served.outcomeCount), bad: count(served.badCount), rate: percent(served.badRate),
    })), outcomesTable(report.newestOutcomes || [])];
  }, signal);
  return place;
}

function retraction(event, list) {
  const place = h('div', { class: 'retract' });
  const close = () => show(place, button(t('Retract'), openForm, { kind: 'danger', key: 'r' }));
  const openForm = () => {
    const node = form({
      kind: 'danger', submit: t('Retract this correction'), cancel: close,
      fields: [h('p', null, t('It is no longer served as an example, and every count that it added is subtracted. It stays in the log and in this list. A retraction can’t be undone.')),
        field({ name: 'reason', label: t('Reason'), kind: 'area', rows: 2, required: true })],
      run: async ({ reason }) => {
        await write('EventService/RetractEvent', { eventId: event.id, reason });
        say(t('Retracted.'));
        await list().refresh();
      },
    });
    show(place, node);
    node.elements.reason.focus();
  };
  close();
  return { place, openForm };
}

function originOf(event) {
  return facts([
    [t('Type'), enumWords(event.eventType, TYPE)], [t('Who'), who(event)], [t('When'), timeText(event.createdAt)],
    [t('Document'), event.documentId && h('a', { href: href('corrections', { document: event.documentId }) }, event.documentId)],
    [t('Draft order'), event.draftOrderId && h('a', { href: href('corrections', { draft: event.draftOrderId }) }, event.draftOrderId)],
    [t('Entity'), event.entityType && `${event.entityType}/${event.entityId || ''}`],
    [t('Layout'), event.layoutFingerprint && h('a', { href: href(`learning/${encodeURIComponent(event.layoutFingerprint)}`) }, mono(shortId(event.layoutFingerprint), event.layoutFingerprint))],
    [t('Fields'), (event.fieldsChanged || []).map((name) => h('a', { class: 'badge', href: href('corrections', { field: name }) }, name))],
    [t('Id'), idText(event.id)],
  ]);
}

function panelOf(event, list, openers) {
  const canRetract = !event.retractedAt && hasRole('OPERATOR', 'REVIEWER', 'ADMIN') && !event.eventType.startsWith(`${TYPE}MAPPING`);
  const snippet = snippetOf(event);
  const retract = canRetract && retraction(event, list);
  openers.retract = retract && retract.openForm;
  return [
    h('h2', null, t('Correction')), diffTable(event),
    event.retractedAt && h('p', { class: 'callout wrong' }, t('Retracted {time} by {who}: {reason}', { time: timeText(event.retractedAt), who: event.retractedBy || '–', reason: event.retractionReason || t('no reason given') })),
    (event.warnings || []).map((one) => h('p', { class: 'callout' }, one.message)),
    event.reduced && h('p', { class: 'callout' }, t('Before and after were larger than 10 KiB: only what differs was kept.')),
    originOf(event),
    section(t('What the model saw'), snippet ? h('pre', { class: 'snippet', tabindex: '0' }, snippet) : h('p', { class: 'muted' }, t('No text was recorded with this correction.'))),
    section(t('Where it has been served'), serving(event, new AbortController().signal)),
    section(t('As stored'), jsonBlock(t('Before'), event.beforeJson), jsonBlock(t('After'), event.afterJson), jsonBlock(t('Corrected output'), event.correctedOutputJson), jsonBlock(t('Other data'), event.metaJson)),
    retract && retract.place,
  ];
}

export function open(root, route) {
  const place = h('div', null);
  const openers = {};
  let list = null;
  show(root, heading(t('Corrections'), t('What people changed in the output of models. The newest of a layout are the examples of its next prompt.')), place);
  list = new List(place, route, {
    name: 'corrections', caption: t('Corrections'), panelLabel: t('Correction'), filters: filters(), columns: columns(), key: (event) => event.id,
    rowKind: (event) => (event.retractedAt ? 'is-retracted' : ''),
    load: ({ parameters, size, token, signal }) => readPage('FeedbackService/ListFeedbackEvents', { ...requestOf(parameters), pageSize: size, pageToken: token }, 'events', { signal }),
    open: async (id) => panelOf((await read('FeedbackService/GetFeedbackEvent', { id })).event, () => list, openers),
    actionKeys: [['r', t('retract the open correction')], ['c', t('leave it as it is, and go to the next one')]],
    actions: (event) => [
      { key: 'c', run: () => { list.move(1); } },
      { key: 'r', run: async () => {
        if (!route || list.openKey !== event.id) { go(changed({ open: event.id })); return; }
        if (openers.retract) openers.retract();
      } },
    ],
    concerns: (event) => event.kind === 'EVENT_KIND_FEEDBACK' || event.kind === 'EVENT_KIND_RETRACTED',
    empty: () => empty(t('No corrections yet.'), t('They appear here as soon as people correct what a model extracted: by CaptureFeedbackEvent from your application, or by `errata corrections capture`.')),
  });
  return list;
}

