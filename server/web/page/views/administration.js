// Administration: the server and its health here; organisations, tokens, settings, retention, quotas, the audit, dead letters
// and the log of events in files of their own.

import { h, show } from '../core/dom.js';
import { t, tn } from '../core/words.js';
import { read } from '../core/call.js';
import { enumWords, timeText, number, count, bytesText, mono } from '../core/format.js';
import { heading, figure, section, fillFrom, badge, plainTable, details } from '../parts/frame.js';
import { adminTabs } from './admin_tabs.js';
import { open as openAudit } from './audit.js';
import { open as openDeadLetters } from './dead_letters.js';
import { open as openLog } from './event_log.js';
import { open as openOrganisations } from './organisations.js';
import { open as openQuotas } from './quotas.js';
import { open as openRetention } from './retention.js';
import { open as openSettings } from './settings.js';
import { open as openTokens } from './tokens.js';

const PARTS = ['', 'errata.write', 'errata.pdf', 'errata.embedder', 'errata.admin', 'errata.tokens', 'errata.clock', 'errata.redis'];

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
    section(t('Calls by method'), plainTable(t('Calls by method'), [{ head: t('Method'), cell: (one) => mono(one.method.replace(/^errata\.v1\./, ''), one.method) }, { head: t('Result'), cell: (one) => badge(one.code || 'OK', !one.code || one.code === 'OK' ? '' : 'wrong') }, { head: t('Calls'), number: true, cell: (one) => number(one.count) }], methods)),
    details(tn((info.counters || []).length, '{n} counter', 'All {n} counters'), plainTable(t('Counters'), [{ head: t('Counter'), cell: (one) => mono(one.name) }, { head: t('Value'), number: true, cell: counterText }], info.counters || []))];
}

function openServer(root, route, signal) {
  const places = [h('div', null), h('div', { class: 'section wide-gap' })];
  show(root, heading(t('Administration'), t('This server, who may use it, and how it is set.')), adminTabs(''), section(t('Health'), places[0]), places[1]);
  fillFrom(places[0], () => health(signal), signal);
  fillFrom(places[1], async () => serverInfo(await read('AdminService/GetServerInfo', {}, { signal })), signal);
  return {};
}

const VIEWS = { organisations: openOrganisations, tokens: openTokens, settings: openSettings, retention: openRetention, quotas: openQuotas, audit: openAudit, 'dead-letters': openDeadLetters, log: openLog };

// Another organisation in the address of the same view opens the view again.
export function open(root, route, signal) {
  const openView = VIEWS[route.part] || openServer;
  const orgOf = (one) => one.parameters.get('org') || '';
  let org = orgOf(route);
  let view = openView(root, route, signal);
  const close = () => { if (view.close) view.close(); };
  const update = (next) => {
    if (view.update && orgOf(next) === org) { view.update(next); return; }
    close();
    org = orgOf(next);
    view = openView(root, next, signal);
  };
  return { update, close };
}
