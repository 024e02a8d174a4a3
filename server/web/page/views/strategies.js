// Strategies that earlier turns used for queries like a given one, in the order in which an assistant gets them, with the share
// of users who accepted them, and those that it must avoid.

import { h, show } from '../core/dom.js';
import { t, tn } from '../core/words.js';
import { href, go, changed } from '../core/route.js';
import { read } from '../core/call.js';
import { enumWords, number, percent, count, when, turnKey } from '../core/format.js';
import { heading, empty, badge, section, fillFrom, plainTable } from '../parts/frame.js';
import { form, field } from '../parts/form.js';
import { intervals } from '../parts/chart.js';

const STATUS = 'TURN_STATUS_';
const KINDS = { TURN_STATUS_REJECTED: 'wrong', TURN_STATUS_ACCEPTED: 'right' };
const MOST = 50;

function nameOf(one) {
  const strategy = one.strategy || {};
  return [strategy.tool, strategy.text].filter(Boolean).join(': ') || t('not given');
}

function turnLink(one) {
  return h('a', { href: href('sessions', { session: one.sessionId, open: turnKey(one.sessionId, one.turnId) }) }, one.turnId);
}

// Each strategy once, in the order of the server, with what users of its intent said about it.
function acceptedChart(found) {
  const seen = new Map(found.filter((one) => one.acceptedShare !== undefined).map((one) => [`${one.intent || ''} ${nameOf(one)}`, one]));
  const rows = [...seen.values()].map((one) => ({ label: nameOf(one), value: one.acceptedShare, low: one.acceptedShareLow || 0, high: one.acceptedShareHigh || 0,
    detail: t('{n} of {all} accepted', { n: one.acceptedCount || 0, all: (one.acceptedCount || 0) + (one.rejectedCount || 0) }) }));
  return rows.length > 0 && section(t('What users said'), intervals({ title: t('Accepted by users'), name: 'strategies', rows, from: 0, to: 1, zero: 0.5, sentence: tn(rows.length, '{n} strategy was judged by users of its intent.', '{n} strategies were judged by users of their intents.') }));
}

function answerOf(reply) {
  const found = reply.strategies || [];
  const avoid = reply.avoid || [];
  if (!found.length && !avoid.length) return empty(t('No turn is similar enough.'), t('{n} turns were searched. Try the words of a user.', { n: number(count(reply.searchedCount)) }));
  return [
    h('p', { class: 'muted' }, tn(count(reply.searchedCount), '{n} turn was searched.', '{n} turns were searched.'), ' ', reply.exposureRef && h('a', { href: href('explain', { ref: reply.exposureRef }) }, t('Explain this answer'))),
    section(t('In this order'), found.length ? plainTable(t('Strategies'), [
      { head: t('Strategy'), cell: nameOf }, { head: t('Feedback'), cell: (one) => badge(enumWords(one.status, STATUS), KINDS[one.status] || '') }, { head: t('For the query'), cell: (one) => one.query || '–' }, { head: t('Similarity'), number: true, wide: true, cell: (one) => number(one.similarity || 0, 2) },
      { head: t('Ranking'), number: true, wide: true, cell: (one) => number(one.rankingScore || 0, 2) }, { head: t('Accepted'), number: true, cell: (one) => percent(one.acceptedShare, 0) }, { head: t('Turn'), cell: turnLink }, { head: t('When'), wide: true, cell: (one) => when(one.createdAt) }], found)
      : h('p', { class: 'muted' }, t('Every similar turn was rejected.'))),
    acceptedChart(found),
    avoid.length > 0 && section(t('To avoid'), plainTable(t('Strategies to avoid'), [{ head: t('Strategy'), cell: nameOf }, { head: t('Because'), cell: (one) => enumWords(one.reason, 'AVOID_REASON_') }, { head: t('For the query'), cell: (one) => one.query || '–' }, { head: t('Similarity'), number: true, wide: true, cell: (one) => number(one.similarity || 0, 2) }, { head: t('Turn'), cell: turnLink }], avoid)),
  ];
}

export function openStrategies(root, route, signal, tabs) {
  const place = h('div', { class: 'section wide-gap' });
  const ask = form({
    submit: t('Search'), keep: true,
    fields: [h('div', { class: 'field-row' }, field({ name: 'query', label: t('What a user asks'), required: true, value: route.parameters.get('q') || '' }), field({ name: 'intent', label: t('Intent'), value: route.parameters.get('intent') || '', help: t('Selects whose counts are shown; may be empty.') }))],
    run: async ({ query, intent }) => go(changed({ q: query, intent })),
  });
  const load = (parameters) => {
    const [query, intent] = [parameters.get('q') || '', parameters.get('intent') || ''];
    show(place);
    if (!query) {
      show(place, empty(t('Ask like a user.'), t('You get the strategies of similar turns as an assistant gets them: accepted ones first, and those that it should not use again.')));
      return;
    }
    fillFrom(place, async () => answerOf(await read('TurnService/SearchStrategies', { query, intent: intent || undefined, limit: MOST }, { signal })), signal);
  };
  show(root, heading(t('Strategies'), t('How similar questions were answered before, ranked by what users said about the answers.')), tabs, h('div', { class: 'card narrow' }, ask), place);
  load(route.parameters);
  return { update: (next) => {
    ask.elements.query.value = next.parameters.get('q') || '';
    ask.elements.intent.value = next.parameters.get('intent') || '';
    load(next.parameters);
  } };
}
