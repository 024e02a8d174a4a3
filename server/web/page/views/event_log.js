// The log of events, newest first, each as it is stored.

import { h, show } from '../core/dom.js';
import { t } from '../core/words.js';
import { href } from '../core/route.js';
import { read, readPage } from '../core/call.js';
import { enumWords, kindName, when, timeText, number, count, idText, mono, shortId } from '../core/format.js';
import { heading, section, empty, badge, facts } from '../parts/frame.js';
import { List } from '../parts/list.js';
import { adminTabs } from './admin_tabs.js';

const KIND = 'EVENT_KIND_';
const KINDS = [
  'FEEDBACK', 'MAPPING_SUGGESTED', 'MAPPING_APPLIED', 'DOCUMENT_INGESTED', 'EXPOSURE_RECORDED', 'EXTRACTION_RECORDED', 'RETRACTED', 'VERDICT_SUBMITTED', 'LEARNED_RULE_CREATED',
  'LEARNED_RULE_ENABLED_SET', 'ARTIFACT_STATE_SET', 'LEARNED_RULE_WEIGHT_SET', 'LEARNED_RULE_IMPORTED', 'REVIEW_SUBMITTED', 'TRIGGER_THRESHOLDS_SET', 'RUN_ITEM_PUT', 'FRAGMENT_SET_PUT',
  'FRAGMENT_SET_APPROVED', 'PROMPT_TEMPLATE_PUT', 'SETTINGS_UPDATED', 'QUOTA_SET', 'FAMILIES_MERGED', 'FAMILY_SPLIT', 'TOKEN_CREATED', 'TOKEN_REVOKED', 'ORGANIZATION_CREATED', 'TURN_RECORDED',
  'FEEDBACK_DETECTED', 'TURN_FEEDBACK_SET', 'DECISION_RECORDED', 'EVALUATION_SUBMITTED', 'EVALUATION_OVERRIDDEN', 'PROPOSAL_CREATED', 'PROPOSAL_VOTED', 'GUIDELINE_RETIRED',
  'GUIDELINE_SUNSET_PROPOSED', 'DEAD_LETTER_STORED', 'DEAD_LETTER_RETRIED', 'TOKEN_ROTATED', 'CONTENT_SWEPT', 'CONTENT_ERASED', 'ORGANIZATION_STATE_SET', 'ORGANIZATION_DELETED',
  'ORGANIZATION_EXPORTED', 'ORGANIZATION_IMPORTED',
];

function eventPanel(event) {
  return [h('h2', null, kindName(event.kind)),
    facts([[t('Number'), count(event.seq)], [t('Who'), event.actorUserId], [t('Made by'), enumWords(event.annotatorKind, 'ANNOTATOR_KIND_')], [t('Source'), enumWords(event.source, 'EVENT_SOURCE_')], [t('Recorded'), timeText(event.recordedAt)], [t('Created'), timeText(event.createdAt)],
      [t('About'), (event.subjects || []).map((one) => h('div', null, enumWords(one.kind, 'EVENT_SUBJECT_KIND_'), ' ', mono(one.id)))], [t('Id'), idText(event.id)],
      [t('Retracted'), event.retractedAt && t('{time} by {who}', { time: timeText(event.retractedAt), who: event.retractedBy || '–' })]]),
    event.contentRemoved && h('p', { class: 'callout' }, t('The content of this event was removed, by retention or an erasure; its hash is left.')),
    event.kind === 'EVENT_KIND_FEEDBACK' && h('p', null, h('a', { href: href('corrections', { open: event.id, type: 'ALL' }) }, t('Open the correction'))),
    section(t('As stored'), h('pre', { class: 'code', tabindex: '0' }, JSON.stringify(event, null, 2)))];
}

export function open(root, route) {
  const place = h('div', null);
  show(root, heading(t('Event log'), t('All that was ever written, newest first: numbered, hashed, and never changed.')), adminTabs('log'), place);
  return new List(place, route, {
    name: 'log', caption: t('Events'), panelLabel: t('Event'), key: (event) => event.id, rowKind: (event) => (event.retractedAt ? 'is-retracted' : ''),
    filters: [{ name: 'kind', label: t('Kind'), kind: 'select', options: [['', t('any')], ...KINDS.map((one) => [one, kindName(KIND + one)]).sort(([, a], [, b]) => a.localeCompare(b))] }],
    columns: [{ head: t('Number'), cell: (event) => number(count(event.seq)), text: (event) => count(event.seq) }, { head: t('Kind'), cell: (event) => kindName(event.kind), text: (event) => event.kind },
      { head: t('Who'), cell: (event) => event.actorUserId || h('span', { class: 'muted' }, enumWords(event.annotatorKind, 'ANNOTATOR_KIND_')), text: (event) => event.actorUserId || '' }, { head: t('When'), cell: (event) => when(event.createdAt), text: (event) => event.createdAt },
      { head: t('About'), kind: 'wide', cell: (event) => (event.subjects || []).slice(0, 2).map((one) => badge(one.id.length > 24 ? shortId(one.id) : one.id)), text: (event) => (event.subjects || []).map((one) => one.id).join(' ') }],
    load: ({ parameters, size, token, signal }) => readPage('EventService/ListEvents', { kind: parameters.kind ? KIND + parameters.kind : undefined, pageSize: size, pageToken: token }, 'events', { signal }),
    open: async (id) => eventPanel((await read('EventService/GetEvent', { id })).event),
    concerns: () => true, empty: () => empty(t('The log is empty.'), t('All that people and pipelines write appears here.')),
  });
}
