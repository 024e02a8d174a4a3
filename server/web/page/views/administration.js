// Administration: the server and its health, organisations, tokens, settings, and the log of events.

import { h, show } from '../core/dom.js';
import { t, tn } from '../core/words.js';
import { href } from '../core/route.js';
import { read, readPage, write } from '../core/call.js';
import { keyId } from '../core/session.js';
import { say, sayDone } from '../core/notes.js';
import { enumWords, kindName, when, timeText, number, count, idText, bytesText, mono } from '../core/format.js';
import { heading, figure, section, fillFrom, empty, tabs, badge, facts, button, plainTable, details, copyText } from '../parts/frame.js';
import { form, field } from '../parts/form.js';
import { List } from '../parts/list.js';

const ROLE = 'ROLE_';
const ROLES = ['VIEWER', 'OPERATOR', 'REVIEWER', 'SERVICE', 'INTEGRATOR', 'ADMIN'];
const PARTS = ['', 'errata.write', 'errata.pdf', 'errata.embedder', 'errata.admin', 'errata.tokens', 'errata.clock', 'errata.redis'];
const KIND = 'EVENT_KIND_';

function adminTabs(current) {
  return tabs(t('Administration'), [
    { id: '', label: t('Server'), address: href('administration') }, { id: 'organisations', label: t('Organisations'), address: href('administration/organisations') },
    { id: 'tokens', label: t('Tokens'), address: href('administration/tokens') }, { id: 'settings', label: t('Settings'), address: href('administration/settings') },
    { id: 'log', label: t('Event log'), address: href('administration/log') }], current);
}

// --- the server ---

function partName(service) {
  return { '': t('reads'), 'errata.write': t('writes'), 'errata.pdf': t('PDFs'), 'errata.embedder': t('sentence encoder'), 'errata.admin': t('admin tokens'), 'errata.tokens': t('expiry of tokens'), 'errata.clock': t('clock'), 'errata.redis': t('stream of decisions') }[service];
}

async function health(signal) {
  const found = await Promise.all(PARTS.map(async (service) => {
    try {
      return { service, status: (await read('/grpc.health.v1.Health/Check', { service }, { signal, once: true })).status };
    } catch (error) {
      return { service, status: error.code === 'not_found' ? 'UNKNOWN' : 'NOT_SERVING' };
    }
  }));
  return h('ul', { class: 'health' }, found.map(({ service, status }) => h('li', null, badge(status === 'SERVING' ? t('serving') : status === 'UNKNOWN' ? t('not there') : t('not serving'), status === 'SERVING' ? 'right' : status === 'UNKNOWN' ? '' : 'wrong'), ' ', partName(service))));
}

function counterText(counter) {
  return /bytes/.test(counter.name) ? bytesText(counter.value) : number(count(counter.value));
}

function serverInfo(info) {
  const methods = (info.methods || []).map((one) => ({ ...one, count: count(one.count) })).sort((a, b) => b.count - a.count);
  const calls = methods.reduce((sum, one) => sum + one.count, 0);
  const failed = methods.filter((one) => one.code && one.code !== 'OK').reduce((sum, one) => sum + one.count, 0);
  return [
    h('div', { class: 'figures' },
      figure({ label: t('Version'), value: info.version || '–', detail: t('store format {n}, log in {engine}', { n: info.formatVersion || 0, engine: enumWords(info.logEngine, 'LOG_ENGINE_KIND_') }) }),
      figure({ label: t('Calls since the start'), value: number(calls), detail: info.startedAt && t('started {time}', { time: timeText(info.startedAt) }) }),
      figure({ label: t('Not OK'), value: number(failed), detail: calls ? t('{share} of the calls', { share: `${number(failed * 100 / calls, 2)}%` }) : '' })),
    count(info.logAheadUs) > 60e6 && h('p', { class: 'callout wrong' }, t('The newest event is dated {n} s ahead of this server’s clock.', { n: number(count(info.logAheadUs) / 1e6) })),
    section(t('Calls by method'), plainTable(t('Calls by method'), [{ head: t('Method'), cell: (one) => mono(one.method) }, { head: t('Result'), cell: (one) => badge(one.code || 'OK', !one.code || one.code === 'OK' ? '' : 'wrong') }, { head: t('Calls'), number: true, cell: (one) => number(one.count) }], methods)),
    details(tn((info.counters || []).length, '{n} counter', 'All {n} counters'), plainTable(t('Counters'), [{ head: t('Counter'), cell: (one) => mono(one.name) }, { head: t('Value'), number: true, cell: counterText }], info.counters || []))];
}

function openServer(root, route, signal) {
  const places = [h('div', null), h('div', { class: 'section wide-gap' })];
  show(root, heading(t('Administration'), t('This server, who may use it, and how it is set.')), adminTabs(''), section(t('Health'), places[0]), places[1]);
  fillFrom(places[0], () => health(signal), signal);
  fillFrom(places[1], async () => serverInfo(await read('AdminService/GetServerInfo', {}, { signal })), signal);
  return {};
}

// --- organisations ---

function openOrganisations(root, route) {
  const place = h('div', null);
  const adding = h('div', { class: 'card narrow', hidden: true });
  let list = null;
  const close = () => { adding.hidden = true; show(adding); list.refresh(); };
  const add = () => {
    adding.hidden = false;
    show(adding, form({ submit: t('Create'), cancel: close, fields: [field({ name: 'name', label: t('Name'), required: true, help: t('Letters, digits, - and _.') })],
      run: async ({ name }) => { await write('AdminService/CreateOrganization', { organization: { name } }); say(t('{name} was created. Its first token is made under tokens.', { name })); close(); } }));
    adding.querySelector('input').focus();
  };
  show(root, heading(t('Organisations'), t('Nothing of one organisation can be seen from another.'), button(t('Create'), add)), adminTabs('organisations'), adding, place);
  list = new List(place, route, {
    name: 'organisations', caption: t('Organisations'), key: (one) => one.id,
    columns: [{ head: t('Name'), cell: (one) => h('strong', null, one.name), text: (one) => one.name }, { head: t('Id'), cell: (one) => mono(one.id), text: (one) => one.id }, { head: t('Created'), cell: (one) => when(one.createdAt), text: (one) => one.createdAt },
      { head: t('Opens'), cell: (one) => [h('a', { href: href('administration/tokens', { org: one.id }) }, t('tokens')), ' · ', h('a', { href: href('administration/settings', { org: one.id }) }, t('settings'))] }],
    load: ({ size, token, signal }) => readPage('AdminService/ListOrganizations', { pageSize: size, pageToken: token }, 'organizations', { signal }),
    concerns: (event) => event.kind === 'EVENT_KIND_ORGANIZATION_CREATED', empty: () => empty(t('No organisations.'), ''),
  });
  return list;
}

// --- tokens ---

function tokenState(token) {
  if (token.revokedAt) return badge(t('revoked'), 'wrong');
  if (token.expiresAt && new Date(token.expiresAt) < new Date()) return badge(t('expired'), 'wrong');
  return badge(t('valid'), 'right');
}

function secretBox(reply) {
  const copy = button(t('Copy'), () => copyText(reply.secret, copy.querySelector('span')), { kind: 'small', symbol: 'copy' });
  return h('div', { class: 'callout right' }, h('p', null, h('strong', null, t('The token is shown only now:'))), h('p', { class: 'mono secret' }, reply.secret), copy);
}

function tokenForm(org, place, close) {
  return form({
    submit: t('Create token'), cancel: close,
    fields: [h('div', { class: 'field-row' }, field({ name: 'role', label: t('Role'), kind: 'select', value: 'REVIEWER', options: ROLES.map((one) => [one, one.toLowerCase()]) }),
      field({ name: 'user_id', label: t('User'), help: t('Who acts with it. A vote needs one; an operator or reviewer token is bound to it.') }), field({ name: 'days', label: t('Valid for, in days'), kind: 'number', help: t('Empty: without an end.'), attributes: { min: 1 } })),
    field({ name: 'server', label: t('May administer the whole server'), kind: 'check' })],
    run: async (values) => {
      const reply = await write('AdminService/CreateToken', { orgId: org || undefined, token: { role: ROLE + values.role, userId: values.user_id || undefined, server: values.server, expiresAt: values.days ? new Date(Date.now() + Number(values.days) * 86400000).toISOString() : undefined } });
      show(place, secretBox(reply), h('div', { class: 'actions' }, button(t('Done'), close)));
    },
  });
}

function revokeButton(token, org, list) {
  const place = h('span', { class: 'actions' });
  const reset = () => show(place, button(t('Revoke'), () => show(place, h('span', null, token.keyId === keyId() ? t('This is the token of this page. Revoke it?') : t('It stops at once, for good.')),
    button(t('Revoke'), async () => {
      try {
        await write('AdminService/RevokeToken', { orgId: org || undefined, keyId: token.keyId });
        say(t('Token {key} is revoked.', { key: token.keyId }));
        await list().refresh();
      } catch (error) {
        show(place, h('span', { class: 'field-error', role: 'alert' }, error.message));
      }
    }, { kind: 'danger small' }), button(t('Keep'), reset, { kind: 'quiet small' })), { kind: 'quiet small' }));
  reset();
  return place;
}

function openTokens(root, route) {
  const org = route.parameters.get('org') || '';
  const place = h('div', null);
  const adding = h('div', { class: 'card narrow', hidden: true });
  let list = null;
  const close = () => { adding.hidden = true; show(adding); list.refresh(); };
  const add = () => { adding.hidden = false; show(adding, tokenForm(org, adding, close)); adding.querySelector('select').focus(); };
  show(root, heading(t('Tokens'), t('Who may call this server, and as what. Only a hash of a token is stored.'), button(t('Create token'), add)), adminTabs('tokens'), org && h('p', { class: 'muted' }, t('Of the organisation '), mono(org)), adding, place);
  list = new List(place, route, {
    name: 'tokens', caption: t('Tokens'), key: (one) => one.keyId, rowKind: (one) => (one.revokedAt ? 'is-off' : ''),
    columns: [{ head: t('Key id'), cell: (one) => [mono(one.keyId), one.keyId === keyId() && badge(t('this page'))], text: (one) => one.keyId }, { head: t('State'), cell: tokenState, text: (one) => (one.revokedAt ? 'revoked' : 'valid') },
      { head: t('Role'), cell: (one) => [enumWords(one.role, ROLE), one.server && badge(t('server'))], text: (one) => one.role }, { head: t('User'), cell: (one) => one.userId || '–', text: (one) => one.userId || '' },
      { head: t('Expires'), cell: (one) => (one.expiresAt ? when(one.expiresAt) : t('never')), text: (one) => one.expiresAt || '' }, { head: t('Created'), kind: 'wide', cell: (one) => [when(one.createdAt), one.createdBy && h('span', { class: 'muted' }, ` · ${one.createdBy}`)], text: (one) => one.createdAt },
      { head: t('Revoke'), cell: (one) => (one.revokedAt ? h('span', { class: 'muted' }, when(one.revokedAt)) : revokeButton(one, org, () => list)) }],
    load: ({ size, token, signal }) => readPage('AdminService/ListTokens', { orgId: org || undefined, pageSize: size, pageToken: token }, 'tokens', { signal }),
    concerns: (event) => /TOKEN/.test(event.kind), empty: () => empty(t('No tokens.'), t('Create one for each person and each program.')),
  });
  return list;
}

// --- settings ---

const NUMBERS = [['holdout_percent', 'holdoutPercent', () => t('Held out from examples, in percent'), { min: 0, max: 100, step: 1 }, '0'], ['reviews_needed', 'reviewsNeeded', () => t('Reviewers that a run needs'), { min: 1, step: 1 }, '1'],
  ['suspicious_at', 'suspiciousAt', () => t('A score is suspicious from'), { min: 0, max: 1, step: 'any' }, '0.4'], ['fake_at', 'fakeAt', () => t('A score is fake from'), { min: 0, max: 1, step: 'any' }, '0.6']];
const CHOICES = [['match_mode', 'matchMode', () => t('Examples come from'), 'MATCH_MODE_', ['EXACT', 'FAMILY']], ['grouping', 'grouping', () => t('One example is'), 'EXAMPLE_GROUPING_', ['EVENT', 'DOCUMENT']],
  ['stacking', 'stacking', () => t('Rules with one pattern'), 'SCORE_STACKING_', ['SUM', 'MAX']]];

function settingsForm(settings, org, reload) {
  return form({
    submit: t('Save settings'), keep: true,
    fields: [h('div', { class: 'field-row' }, NUMBERS.map(([name, member, label, attributes, usual]) => field({ name, label: label(), kind: 'number', value: settings[member] ?? usual, required: true, attributes }))),
      h('div', { class: 'field-row' }, CHOICES.map(([name, member, label, prefix, values]) => field({ name, label: label(), kind: 'select', value: (settings[member] || '').slice(prefix.length), options: values.map((one) => [one, enumWords(prefix + one, prefix)]) }))),
      field({ name: 'kinds', label: t('Examples are made by'), kind: 'select', value: (settings.annotatorKinds || []).map((one) => one.slice('ANNOTATOR_KIND_'.length)).join(','), options: [['HUMAN', t('people')], ['HUMAN,CODE', t('people and programs')], ['HUMAN,CODE,LLM', t('people, programs and models')]] })],
    run: async (values) => {
      const next = {};
      NUMBERS.forEach(([name, member]) => { next[member] = Number(values[name]); });
      CHOICES.forEach(([name, member, , prefix]) => { next[member] = prefix + values[name]; });
      next.annotatorKinds = values.kinds.split(',').map((one) => `ANNOTATOR_KIND_${one}`);
      await write('AdminService/UpdateSettings', { orgId: org || undefined, settings: next });
      sayDone(t('Settings saved.'), async () => { await write('AdminService/UpdateSettings', { orgId: org || undefined, settings }); reload(); });
      reload();
    },
  });
}

// What is in use of a limit; without a limit only that.
function useOf(used, limit, text = number) {
  return limit ? t('{used} of {limit}', { used: text(count(used)), limit: text(count(limit)) }) : text(count(used));
}

function quotaTable(quotas) {
  return section(t('Quotas'), plainTable(t('Quotas'), [{ head: t('Whose'), cell: (one) => (one.keyId ? mono(one.keyId) : t('the organisation')) },
    { head: t('Calls a second'), cell: (one) => (one.quota?.requestsPerSecond ? number(count(one.quota.requestsPerSecond)) : t('no limit')) },
    { head: t('Open streams'), cell: (one) => useOf(one.concurrentStreams, one.quota?.concurrentStreams) }, { head: t('PDFs at a time'), cell: (one) => useOf(one.pdfJobs, one.quota?.pdfJobs) },
    { head: t('Stored'), cell: (one) => (one.keyId ? '–' : useOf(one.storedBytes, one.quota?.storedBytes, bytesText)) }], quotas));
}

function openSettings(root, route, signal) {
  const org = route.parameters.get('org') || '';
  const place = h('div', { class: 'card narrow' });
  const quotas = h('div', null);
  const load = () => fillFrom(place, async () => settingsForm((await read('AdminService/GetSettings', { orgId: org || undefined }, { signal })).settings || {}, org, load), signal);
  show(root, heading(t('Settings'), t('Of this organisation. Every change is an event; the last one can be undone.')), adminTabs('settings'), org && h('p', { class: 'muted' }, t('Of the organisation '), mono(org)), place, quotas);
  load();
  fillFrom(quotas, async () => quotaTable((await read('AdminService/ListQuotas', { orgId: org || undefined }, { signal })).quotas || []), signal);
  return {};
}

// --- the log ---

const KINDS = ['FEEDBACK', 'MAPPING_SUGGESTED', 'MAPPING_APPLIED', 'DOCUMENT_INGESTED', 'EXPOSURE_RECORDED', 'EXTRACTION_RECORDED', 'RETRACTED', 'VERDICT_SUBMITTED', 'LEARNED_RULE_CREATED', 'LEARNED_RULE_ENABLED_SET', 'ARTIFACT_STATE_SET',
  'LEARNED_RULE_WEIGHT_SET', 'LEARNED_RULE_IMPORTED', 'REVIEW_SUBMITTED', 'TRIGGER_THRESHOLDS_SET', 'RUN_ITEM_PUT', 'FRAGMENT_SET_PUT', 'FRAGMENT_SET_APPROVED', 'PROMPT_TEMPLATE_PUT', 'SETTINGS_UPDATED', 'QUOTA_SET', 'FAMILIES_MERGED', 'FAMILY_SPLIT', 'TOKEN_CREATED', 'TOKEN_REVOKED', 'ORGANIZATION_CREATED'];

function eventPanel(event) {
  return [h('h2', null, kindName(event.kind)),
    facts([[t('Number'), count(event.seq)], [t('Who'), event.actorUserId], [t('Made by'), enumWords(event.annotatorKind, 'ANNOTATOR_KIND_')], [t('Source'), enumWords(event.source, 'EVENT_SOURCE_')], [t('Recorded'), timeText(event.recordedAt)], [t('Created'), timeText(event.createdAt)],
      [t('About'), (event.subjects || []).map((one) => h('div', null, enumWords(one.kind, 'EVENT_SUBJECT_KIND_'), ' ', mono(one.id)))], [t('Id'), idText(event.id)],
      [t('Retracted'), event.retractedAt && t('{time} by {who}', { time: timeText(event.retractedAt), who: event.retractedBy || '–' })]]),
    event.contentRemoved && h('p', { class: 'callout' }, t('Retention removed the content of this event; its hash is left.')),
    event.kind === 'EVENT_KIND_FEEDBACK' && h('p', null, h('a', { href: href('corrections', { open: event.id, type: 'ALL' }) }, t('Open the correction'))),
    section(t('As stored'), h('pre', { class: 'code', tabindex: '0' }, JSON.stringify(event, null, 2)))];
}

function openLog(root, route) {
  const place = h('div', null);
  show(root, heading(t('Event log'), t('All that was ever written, newest first: numbered, hashed, and never changed.')), adminTabs('log'), place);
  return new List(place, route, {
    name: 'log', caption: t('Events'), panelLabel: t('Event'), key: (event) => event.id, rowKind: (event) => (event.retractedAt ? 'is-retracted' : ''),
    filters: [{ name: 'kind', label: t('Kind'), kind: 'select', options: [['', t('any')], ...KINDS.map((one) => [one, kindName(KIND + one)])] }],
    columns: [{ head: t('Number'), cell: (event) => number(count(event.seq)), text: (event) => count(event.seq) }, { head: t('Kind'), cell: (event) => kindName(event.kind), text: (event) => event.kind },
      { head: t('Who'), cell: (event) => event.actorUserId || h('span', { class: 'muted' }, enumWords(event.annotatorKind, 'ANNOTATOR_KIND_')), text: (event) => event.actorUserId || '' }, { head: t('When'), cell: (event) => when(event.createdAt), text: (event) => event.createdAt },
      { head: t('About'), kind: 'wide', cell: (event) => (event.subjects || []).slice(0, 2).map((one) => badge(one.id.length > 24 ? `${one.id.slice(0, 8)}…` : one.id)), text: (event) => (event.subjects || []).map((one) => one.id).join(' ') }],
    load: ({ parameters, size, token, signal }) => readPage('EventService/ListEvents', { kind: parameters.kind ? KIND + parameters.kind : undefined, pageSize: size, pageToken: token }, 'events', { signal }),
    open: async (id) => eventPanel((await read('EventService/GetEvent', { id })).event),
    concerns: () => true, empty: () => empty(t('The log is empty.'), t('All that people and pipelines write appears here.')),
  });
}

export function open(root, route, signal) {
  const parts = { organisations: openOrganisations, tokens: openTokens, settings: openSettings, log: openLog };
  return (parts[route.part] || openServer)(root, route, signal);
}

