// Quotas of an organisation and of its tokens: what is in use of each limit, and a form that changes them.

import { h, show } from '../core/dom.js';
import { t } from '../core/words.js';
import { go, changed } from '../core/route.js';
import { readPage, write } from '../core/call.js';
import { sayDone } from '../core/notes.js';
import { number, count, bytesText, enumWords, mono } from '../core/format.js';
import { heading, empty, facts, button } from '../parts/frame.js';
import { form, field } from '../parts/form.js';
import { List } from '../parts/list.js';
import { adminTabs, orgLine } from './admin_tabs.js';

const OWN = 'organisation'; // the address of the organisation's own quota
const MIB = 1048576;
const LIMITS = [
  { name: 'requests_per_second', member: 'requestsPerSecond', label: () => t('Calls a second'), help: () => t('On average.') },
  { name: 'request_burst', member: 'requestBurst', label: () => t('Calls at once'), help: () => t('After a pause; empty: those of one second.') },
  { name: 'concurrent_streams', member: 'concurrentStreams', label: () => t('Open streams') },
  { name: 'pdf_jobs', member: 'pdfJobs', label: () => t('PDFs at a time') },
  { name: 'stored_bytes', member: 'storedBytes', label: () => t('Stored, in MiB'), help: () => t('Of events; without indexes.'), unit: MIB, ownOnly: true },
];

const PAGE_ROWS = 1000;
const PAGES_MAX = 20;

// The rows of all pages of a list of the organisation.
async function readEach(method, member, org) {
  const all = [];
  let token = '';
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { rows, next } = await readPage(method, { orgId: org || undefined, pageSize: PAGE_ROWS, pageToken: token }, member);
    all.push(...rows);
    if (!next) return all;
    token = next;
  }
  throw new Error(t('There are more than {n} of them, too many for the page: use the command errata.', { n: number(PAGE_ROWS * PAGES_MAX) }));
}

function keyOf(one) {
  return one.keyId || OWN;
}

// What is in use of a limit; without a limit only that.
function useOf(used, limit, text = number) {
  return limit ? t('{used} of {limit}', { used: text(count(used)), limit: text(count(limit)) }) : text(count(used));
}

function rateText({ requestsPerSecond, requestBurst } = {}) {
  if (!requestsPerSecond) return t('no limit');
  return requestBurst ? t('{rate}, {burst} at once', { rate: number(count(requestsPerSecond)), burst: number(count(requestBurst)) }) : number(count(requestsPerSecond));
}

function storedText(one) {
  return one.keyId ? '–' : useOf(one.storedBytes, one.quota?.storedBytes, bytesText);
}

function shown(quota, limit) {
  return quota[limit.member] ? String(count(quota[limit.member]) / (limit.unit || 1)) : '';
}

// The limits that differ from those that are stored, 0 for one that ends; and the same the other way, for the undo.
function changesOf(values, quota, limits) {
  const differing = limits.filter((limit) => values[limit.name] !== shown(quota, limit));
  const next = Object.fromEntries(differing.map((limit) => [limit.member, String(Math.round(Number(values[limit.name] || 0) * (limit.unit || 1)))]));
  return { next, before: Object.fromEntries(differing.map((limit) => [limit.member, String(count(quota[limit.member]))])) };
}

function quotaForm(one, org, list) {
  const quota = one.quota || {};
  const limits = LIMITS.filter((limit) => !limit.ownOnly || !one.keyId);
  const target = { orgId: org || undefined, keyId: one.keyId || undefined };
  return form({
    submit: t('Save limits'), keep: true,
    fields: h('div', { class: 'field-row' }, limits.map((limit) => field({ name: limit.name, label: limit.label(), kind: 'number', value: shown(quota, limit), help: limit.help && limit.help(), attributes: { min: 0, step: limit.unit ? 'any' : 1, placeholder: limit.name === 'request_burst' ? null : t('no limit') } }))),
    run: async (values) => {
      const { next, before } = changesOf(values, quota, limits);
      await write('AdminService/SetQuota', { ...target, quota: next });
      sayDone(t('Limits saved.'), async () => { await write('AdminService/SetQuota', { ...target, quota: before }); await list().refresh(); });
      await list().refresh();
    },
  });
}

function panelOf(one, org, list) {
  return [h('h2', null, one.keyId ? t('Token {key}', { key: one.keyId }) : t('The organisation')),
    facts([[t('Calls that may begin now'), one.requestsAvailable === undefined ? undefined : number(one.requestsAvailable)], [t('Open streams'), number(count(one.concurrentStreams))], [t('PDFs at a time'), number(count(one.pdfJobs))], [t('Stored'), !one.keyId && bytesText(one.storedBytes)]]),
    h('p', { class: 'muted' }, one.keyId ? t('A call counts for its token and for the organisation: of two limits the lower one takes effect first.') : t('A call beyond a limit is refused with the time after which another attempt may succeed.')), quotaForm(one, org, list)];
}

// The quota of a key, from any page of the list; one without limits only if no limit is set.
async function readQuota(key, org) {
  return (await readEach('AdminService/ListQuotas', 'quotas', org)).find((one) => keyOf(one) === key) || { keyId: key };
}

function isValid(token) {
  return !token.revokedAt && !(token.expiresAt && new Date(token.expiresAt) < new Date());
}

// Selects a token that has no limit yet.
function tokenChoice(org, close) {
  const place = h('div', null);
  const load = async () => {
    const rows = await readEach('AdminService/ListTokens', 'tokens', org);
    const options = rows.filter(isValid).map((one) => [one.keyId, [one.keyId, enumWords(one.role, 'ROLE_'), one.userId].filter(Boolean).join(', ')]);
    show(place, form({
      submit: t('Set its limits'), cancel: close, fields: [field({ name: 'key_id', label: t('Token'), kind: 'select', options })],
      run: async ({ key_id: key }) => { close(); go(changed({ open: key })); },
    }));
    place.querySelector('select').focus();
  };
  load().catch((error) => show(place, h('p', { class: 'callout wrong', role: 'alert' }, error.message)));
  return place;
}

export function open(root, route) {
  const org = route.parameters.get('org') || '';
  const place = h('div', null);
  const adding = h('div', { class: 'card narrow', hidden: true });
  let list = null;
  const close = () => { adding.hidden = true; show(adding); };
  const add = () => { adding.hidden = false; show(adding, tokenChoice(org, close)); };
  show(root, heading(t('Quotas'), t('How much the organisation and single tokens may use. Without limits they share the server fairly.'), button(t('Limit a token'), add)), adminTabs('quotas', org), orgLine(org), adding, place);
  list = new List(place, route, {
    name: 'quotas', caption: t('Quotas'), panelLabel: t('Quota'), key: keyOf,
    columns: [{ head: t('Whose'), cell: (one) => (one.keyId ? mono(one.keyId) : t('the organisation')), text: keyOf }, { head: t('Calls a second'), cell: (one) => rateText(one.quota), text: (one) => count(one.quota?.requestsPerSecond) },
      { head: t('Open streams'), cell: (one) => useOf(one.concurrentStreams, one.quota?.concurrentStreams), text: (one) => count(one.concurrentStreams) }, { head: t('PDFs at a time'), cell: (one) => useOf(one.pdfJobs, one.quota?.pdfJobs), text: (one) => count(one.pdfJobs) },
      { head: t('Stored'), cell: storedText, text: (one) => (one.keyId ? '' : count(one.storedBytes)) }],
    load: ({ size, token, signal }) => readPage('AdminService/ListQuotas', { orgId: org || undefined, pageSize: size, pageToken: token }, 'quotas', { signal }),
    open: async (key, row) => panelOf(row || await readQuota(key, org), org, () => list),
    concerns: (event) => /QUOTA|TOKEN/.test(event.kind), empty: () => empty(t('No quotas.'), ''),
  });
  return list;
}
