// Values of the contract as text: numbers, times, names of enums, shortened ids.

import { h } from './dom.js';
import { t, currentLanguage } from './words.js';

// A count of proto JSON: 64-bit numbers arrive as text, absent ones are 0.
export function count(value) {
  return Number(value || 0);
}

// With a minus sign, as `signed` has it, not the hyphen that some languages' formats use.
export function number(value, digits = 0) {
  return Number(value).toLocaleString(currentLanguage(), { minimumFractionDigits: digits, maximumFractionDigits: digits }).replace('-', '−');
}

export function percent(share, digits = 1) {
  return share === undefined || share === null ? '–' : `${number(share * 100, digits)}%`;
}

export function signed(value, digits = 3) {
  return `${value > 0 ? '+' : value < 0 ? '−' : '±'}${number(Math.abs(value), digits)}`;
}

// Returns a part of a whole; undefined if there is no whole, so that it is displayed as a dash.
export function share(part, whole) {
  return whole ? part / whole : undefined;
}

const WORDS_OF_ENUMS = /_(FALSE|TRUE)?/g;

// `FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED` with prefix `FEEDBACK_EVENT_TYPE_` is "mapping confirmed".
export function enumWords(value, prefix) {
  if (!value || value.endsWith('UNSPECIFIED')) return t('not given');
  return t(value.slice(prefix.length).toLowerCase().replace(WORDS_OF_ENUMS, ' ').trim());
}

// Kinds of events as people call them; the others by the words of their name.
const KIND_NAMES = {
  FEEDBACK: 'correction or judgement', RUN_ITEM_PUT: 'item of a run', FRAGMENT_SET_PUT: 'draft of the wording', FRAGMENT_SET_APPROVED: 'wording approved', EXPOSURE_RECORDED: 'answer cited', EXTRACTION_RECORDED: 'extraction',
  VERDICT_SUBMITTED: 'verdict', REVIEW_SUBMITTED: 'review', RETRACTED: 'retraction', MAPPING_APPLIED: 'article numbers filled in', LEARNED_RULE_ENABLED_SET: 'rule switched', LEARNED_RULE_WEIGHT_SET: 'weight applied',
  ORGANIZATION_CREATED: 'organisation created', ORGANIZATION_STATE_SET: 'organisation suspended or resumed', ORGANIZATION_DELETED: 'organisation deleted', ORGANIZATION_EXPORTED: 'organisation exported',
  ORGANIZATION_IMPORTED: 'organisation imported', SETTINGS_UPDATED: 'settings changed', QUOTA_SET: 'quota changed', CONTENT_SWEPT: 'content removed by retention', CONTENT_ERASED: 'content erased on request',
  DOCUMENT_INGESTED: 'document measured', TURN_RECORDED: 'turn', TURN_FEEDBACK_SET: 'feedback corrected', DECISION_RECORDED: 'decision', PROPOSAL_CREATED: 'proposal', PROPOSAL_VOTED: 'vote on a proposal',
  GUIDELINE_SUNSET_PROPOSED: 'retirement proposed', LEARNED_RULE_IMPORTED: 'rule imported',
  ARTIFACT_STATE_SET: 'state of a rule', LEARNED_RULE_CREATED: 'rule learned', PROMPT_TEMPLATE_PUT: 'prompt template', TRIGGER_THRESHOLDS_SET: 'thresholds',
};

export function kindName(kind) {
  const name = KIND_NAMES[kind.slice('EVENT_KIND_'.length)];
  return name ? t(name) : enumWords(kind, 'EVENT_KIND_');
}

// The beginning of a hash; the end of a UUIDv7, whose beginning is the time.
export function shortId(id) {
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/.test(id)) return tail(id);
  return id.length > 16 ? `${id.slice(0, 8)}…` : id;
}

// The key of a turn in addresses; ids may have any characters.
export function turnKey(sessionId, turnId) {
  return `${encodeURIComponent(sessionId)} ${encodeURIComponent(turnId)}`;
}

export function turnOfKey(key) {
  const [sessionId, turnId] = key.split(' ').map(decodeURIComponent);
  return { sessionId, turnId };
}

// Shortens a UUIDv7 to its end, since its beginning is the time.
export function tail(id) {
  return id ? `…${id.slice(-6)}` : '';
}

export function mono(text, title) {
  return h('span', { class: 'mono', title: title || undefined }, text);
}

export function idText(id) {
  return id ? mono(shortId(id), id) : '–';
}

export function dateText(value) {
  const date = new Date(value);
  return date.toLocaleDateString(currentLanguage(), { day: 'numeric', month: 'short', year: 'numeric' });
}

// The date of a time that is the beginning of a day in UTC.
export function dayText(value) {
  return new Date(value).toLocaleDateString(currentLanguage(), { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
}

export function timeText(value) {
  const date = new Date(value);
  return date.toLocaleString(currentLanguage(), { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit' });
}

const STEPS = [[60, 'second', 1], [3600, 'minute', 60], [86400, 'hour', 3600], [86400 * 30, 'day', 86400]];

export function agoText(value) {
  const seconds = (Date.now() - new Date(value).getTime()) / 1000;
  const step = STEPS.find(([limit]) => Math.abs(seconds) < limit);
  if (!step) return dateText(value);
  if (Math.abs(seconds) < 5) return t('just now');
  return new Intl.RelativeTimeFormat(currentLanguage(), { numeric: 'always', style: 'short' }).format(-Math.round(seconds / step[2]), step[1]);
}

// Returns a time as text, with seconds in its tooltip.
export function when(value) {
  return value ? h('time', { datetime: value, title: timeText(value) }, agoText(value)) : '–';
}

export function bytesText(value) {
  const bytes = count(value);
  for (const [size, unit] of [[1 << 30, 'GiB'], [1 << 20, 'MiB'], [1 << 10, 'KiB']]) {
    if (bytes >= size) return `${number(bytes / size, 1)} ${unit}`;
  }
  return `${number(bytes)} B`;
}

// JSON text indented; other text as it is.
export function prettyJson(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

// The value of one member, as people write it: 10, not "10".
export function valueText(json) {
  if (json === undefined || json === null) return '∅';
  try {
    const value = JSON.parse(json);
    return typeof value === 'string' ? value || '""' : json;
  } catch {
    return json;
  }
}

export function isoDay(date) {
  return date.toISOString().slice(0, 10);
}

export function daysAgo(days) {
  return isoDay(new Date(Date.now() - days * 86400000));
}

const MONTHS = 30;

// The last `days` UTC days, today included, and as many before them.
export function lastDays(days = MONTHS) {
  return {
    now: { startDate: daysAgo(days - 1), endDate: daysAgo(0) },
    before: { startDate: daysAgo(2 * days - 1), endDate: daysAgo(days) },
  };
}
