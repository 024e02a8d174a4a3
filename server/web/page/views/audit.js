// The audit: who changed organisations, tokens, settings and rules, newest first, with the values before and after.

import { h, show } from '../core/dom.js';
import { t } from '../core/words.js';
import { href } from '../core/route.js';
import { read, readPage } from '../core/call.js';
import { enumWords, kindName, when, timeText, number, count, bytesText, idText, shortId, mono } from '../core/format.js';
import { heading, section, empty, facts, plainTable } from '../parts/frame.js';
import { List } from '../parts/list.js';
import { adminTabs, orgLine } from './admin_tabs.js';

const KIND = 'EVENT_KIND_';
const KINDS = [
  'ORGANIZATION_CREATED', 'ORGANIZATION_STATE_SET', 'ORGANIZATION_DELETED', 'ORGANIZATION_EXPORTED', 'ORGANIZATION_IMPORTED', 'TOKEN_CREATED', 'TOKEN_REVOKED', 'TOKEN_ROTATED', 'SETTINGS_UPDATED',
  'QUOTA_SET', 'CONTENT_ERASED', 'RETRACTED', 'PROMPT_TEMPLATE_PUT', 'FAMILIES_MERGED', 'FAMILY_SPLIT', 'LEARNED_RULE_CREATED', 'LEARNED_RULE_ENABLED_SET', 'LEARNED_RULE_WEIGHT_SET',
  'LEARNED_RULE_IMPORTED', 'ARTIFACT_STATE_SET', 'TRIGGER_THRESHOLDS_SET', 'FRAGMENT_SET_APPROVED', 'PROPOSAL_VOTED', 'GUIDELINE_RETIRED',
];
const ENUMS = ['ORGANIZATION_STATE_', 'ARTIFACT_STATE_', 'ARTIFACT_KIND_', 'ROLE_', 'MATCH_MODE_', 'EXAMPLE_GROUPING_', 'SCORE_STACKING_', 'TOPIC_CHANGE_', 'ANNOTATOR_KIND_', 'PROPOSAL_VOTE_KIND_', 'LEARNED_RULE_TYPE_'];
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{22}$/;
const TIME = /^\d{4}-\d\d-\d\dT/;
const SHOWN = 2; // changes in a row of the list; the panel has all of them
const SHORT = 60;
const DIGITS = 4;

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// What the event records besides the members that all events have.
function payloadOf(event) {
  return Object.values(event).find(isObject) || {};
}

// `holdoutPercent` is "holdout percent".
function words(name) {
  return name.replace(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`).trim();
}

function valueText(value, name) {
  if (Array.isArray(value)) return value.map((one) => (isObject(one) ? Object.values(one).join('=') : valueText(one, name))).join(', ');
  if (/bytes$/i.test(name)) return bytesText(value);
  if (typeof value === 'number') return String(Number(value.toPrecision(DIGITS)));
  if (typeof value !== 'string') return String(value);
  const prefix = ENUMS.find((one) => value.startsWith(one));
  if (prefix) return enumWords(value, prefix);
  return TIME.test(value) ? timeText(value) : value;
}

// The members of an object and of those in it, by their paths; numbers of other events are left out.
function flat(object, path = []) {
  return Object.fromEntries(Object.entries(object || {}).filter(([name]) => name !== 'internal' && !/seqs?$/i.test(name)).flatMap(([name, value]) => {
    const place = [...path, words(name)];
    return isObject(value) ? Object.entries(flat(value, place)) : [[place.join(' '), valueText(value, name)]];
  }));
}

function isId(name) {
  return / ids?$/.test(name);
}

// [{name, before, after}] of the members that differ, ids last.
function difference(before, after) {
  const [first, second] = [flat(before), flat(after)];
  const names = [...new Set([...Object.keys(first), ...Object.keys(second)])];
  return [...names.filter((name) => !isId(name)), ...names.filter(isId)].filter((name) => first[name] !== second[name]).map((name) => ({ name, before: first[name], after: second[name] }));
}

// The values before that an event of this kind has beside those after.
const BEFORE = {
  LEARNED_RULE_ENABLED_SET: (one) => [{ enabled: one.wasEnabled || false }, { enabled: one.rule?.enabled || false }],
  LEARNED_RULE_WEIGHT_SET: (one) => [{ weight: one.previousWeight || 0 }, { weight: one.rule?.confidenceAdjustment || 0 }],
  LEARNED_RULE_IMPORTED: (one) => [one.previous, one.rule],
  ARTIFACT_STATE_SET: (one) => [{ state: one.previousState }, { state: one.state }],
  ORGANIZATION_STATE_SET: (one) => [{ state: one.previousState }, { state: one.state }],
  TOKEN_ROTATED: (one) => [{ expires: one.previousExpiresAt || t('never') }, { expires: one.expiresAt, replacedBy: one.replacedBy }],
  FRAGMENT_SET_APPROVED: (one) => [{ version: one.previousVersion || 0 }, { version: one.version || 0 }],
};

// What an event changed; one that records nothing from before has all of its own values as those after.
function changesOf(event) {
  const payload = payloadOf(event);
  const pair = BEFORE[event.kind.slice(KIND.length)];
  if (pair) return difference(...pair(payload));
  if (payload.before || payload.after) return difference(payload.before, payload.after);
  const { reason, ...rest } = payload;
  return difference({}, rest);
}

function cut(text) {
  if (UUID.test(text)) return shortId(text);
  return text.length > SHORT ? `${text.slice(0, SHORT - 1)}…` : text;
}

function changeNode({ name, before, after }) {
  return h('span', { class: 'change' }, h('span', { class: 'change-name' }, name), ' ', before !== undefined && h('del', null, cut(before) || '""'),
    before !== undefined && after !== undefined && h('span', { class: 'arrow' }, ' → '), after !== undefined && h('ins', null, cut(after) || '""'));
}

function changesNode(event) {
  const changes = changesOf(event);
  return h('span', { class: 'changes' }, changes.slice(0, SHOWN).map(changeNode), changes.length > SHOWN && h('span', { class: 'muted' }, t('and {n} more', { n: changes.length - SHOWN })));
}

function changesText(event) {
  return changesOf(event).map((one) => `${one.name}: ${one.before ?? ''} -> ${one.after ?? ''}`).join('; ');
}

function panelOf(event, org) {
  const payload = payloadOf(event);
  return [h('h2', null, kindName(event.kind)), payload.reason && h('p', { class: 'callout' }, payload.reason),
    event.contentRemoved && h('p', { class: 'callout' }, t('The content of this event was removed, by retention or an erasure; its hash is left.')),
    changesOf(event).length > 0 && plainTable(t('Changed values'), [{ head: t('Value'), cell: (one) => one.name }, { head: t('Before'), cell: (one) => (one.before === undefined ? '∅' : h('del', null, one.before || '""')) },
      { head: t('After'), cell: (one) => (one.after === undefined ? '∅' : h('ins', null, one.after || '""')) }], changesOf(event)),
    facts([[t('Who'), event.actorUserId && h('a', { href: href('administration/audit', { who: event.actorUserId, org }) }, event.actorUserId)], [t('When'), timeText(event.recordedAt || event.createdAt)], [t('Number'), number(count(event.seq))],
      [t('About'), (event.subjects || []).map((one) => h('div', null, enumWords(one.kind, 'EVENT_SUBJECT_KIND_'), ' ', mono(one.id)))], [t('Id'), idText(event.id)]]),
    section(t('As stored'), h('pre', { class: 'code', tabindex: '0' }, JSON.stringify(event, null, 2)))];
}

// An event that is not on the page of the list; those of another organisation can only be listed.
async function readEvent(id, org) {
  if (org) throw new Error(t('This event is not on this page of the list.'));
  return (await read('EventService/GetEvent', { id })).event;
}

export function open(root, route) {
  const org = route.parameters.get('org') || '';
  const place = h('div', null);
  show(root, heading(t('Audit'), t('Who changed organisations, tokens, settings and rules, and from what to what. It is part of the log, so it cannot be edited.')), adminTabs('audit', org), orgLine(org), place);
  return new List(place, route, {
    name: 'audit', caption: t('Audit'), panelLabel: t('Change'), key: (event) => event.id,
    filters: [{ name: 'kind', label: t('Kind'), kind: 'select', options: [['', t('any')], ...KINDS.map((one) => [one, kindName(KIND + one)]).sort(([, a], [, b]) => a.localeCompare(b))] },
      { name: 'who', label: t('Who'), placeholder: 'token:1a2b3c4d' }],
    columns: [{ head: t('Kind'), kind: 'firm', cell: (event) => kindName(event.kind), text: (event) => event.kind }, { head: t('Change'), cell: changesNode, text: changesText },
      { head: t('Who'), kind: 'firm', cell: (event) => event.actorUserId || '–', text: (event) => event.actorUserId || '' }, { head: t('When'), cell: (event) => when(event.recordedAt || event.createdAt), text: (event) => event.recordedAt || event.createdAt },
      { head: t('Number'), kind: 'number wide', cell: (event) => number(count(event.seq)), text: (event) => count(event.seq) }],
    load: ({ parameters, size, token, signal }) => readPage('AdminService/ListAudit', {
      orgId: org || undefined, kind: parameters.kind ? KIND + parameters.kind : undefined, actorUserId: parameters.who, pageSize: size, pageToken: token,
    }, 'events', { signal }),
    open: async (id, row) => panelOf(row || await readEvent(id, org), org),
    concerns: (event) => KINDS.includes(event.kind.slice(KIND.length)), empty: () => empty(t('No changes yet.'), t('Changes of tokens, settings and rules appear here.')),
  });
}
