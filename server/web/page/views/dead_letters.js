// Dead letters: entries of the Redis stream that could not be stored as decisions, with the reasons; each can be tried again.

import { h, show } from '../core/dom.js';
import { t } from '../core/words.js';
import { go, changed } from '../core/route.js';
import { readPage, write } from '../core/call.js';
import { say } from '../core/notes.js';
import { when, timeText, idText, mono, tail } from '../core/format.js';
import { heading, section, empty, badge, facts, button, plainTable, errorBox } from '../parts/frame.js';
import { List } from '../parts/list.js';
import { adminTabs } from './admin_tabs.js';

async function retry(letter, list) {
  const { feedbackId } = await write('DecisionService/RetryDeadLetter', { deadLetterId: letter.id });
  say(t('Stored as the decision {id}.', { id: tail(feedbackId) }));
  go(changed({ open: '' }));
  await list().refresh();
}

function retryAction(letter, list, openers) {
  const problem = h('div', { 'aria-live': 'polite' });
  const send = button(t('Try again'), () => openers.retry(), { kind: 'primary', key: 't' });
  openers.retry = async () => {
    send.setAttribute('aria-busy', 'true');
    try {
      await retry(letter, list);
    } catch (error) {
      show(problem, errorBox(error));
    } finally {
      send.removeAttribute('aria-busy');
    }
  };
  return [problem, h('div', { class: 'actions' }, send)];
}

function panelOf(letter, list, openers) {
  openers.retry = null;
  const fields = letter.fields || [];
  return [h('h2', null, t('Entry {id}', { id: letter.entryId })), h('p', { class: 'callout wrong' }, letter.reason || t('The reason was erased.')),
    letter.incomplete ? h('p', { class: 'callout' }, t('The entry is not stored whole, so it cannot be tried again: send a new one.'))
      : [h('p', { class: 'muted' }, t('Mend the cause first, such as a gate without an agent. If the entry is still invalid, it stays here.')), retryAction(letter, list, openers)],
    facts([[t('Stream'), mono(letter.stream)], [t('Stored'), timeText(letter.createdAt)], [t('Id'), idText(letter.id)]]),
    section(t('Fields'), fields.length ? plainTable(t('Fields'), [{ head: t('Name'), cell: (one) => mono(one.name) }, { head: t('Value'), cell: (one) => h('span', { class: 'pre-line' }, one.value) }], fields) : h('p', { class: 'muted' }, t('Their content was erased.')))];
}

export function open(root, route) {
  const place = h('div', null);
  const openers = { retry: null };
  let list = null;
  show(root, heading(t('Dead letters'), t('Entries of the Redis stream that could not be stored as decisions, with the reasons.')), adminTabs('dead-letters'), place);
  list = new List(place, route, {
    name: 'dead-letters', caption: t('Dead letters'), panelLabel: t('Dead letter'), key: (one) => one.id,
    columns: [{ head: t('Reason'), cell: (one) => one.reason || t('erased'), text: (one) => one.reason || '' }, { head: t('Entry'), kind: 'wide', cell: (one) => mono(one.entryId), text: (one) => one.entryId },
      { head: t('Whole'), kind: 'wide', cell: (one) => (one.incomplete ? badge(t('incomplete'), 'wrong') : t('yes')), text: (one) => !one.incomplete }, { head: t('Stored'), cell: (one) => when(one.createdAt), text: (one) => one.createdAt }],
    load: ({ size, token, signal }) => readPage('DecisionService/ListDeadLetters', { pageSize: size, pageToken: token }, 'deadLetters', { signal }),
    open: async (id, row) => {
      if (!row) throw new Error(t('This entry is not on this page of the list, or it is stored by now.'));
      return panelOf(row, () => list, openers);
    },
    actionKeys: [['t', t('try the open entry again')]],
    actions: (letter) => [{ key: 't', run: () => (list.openKey === letter.id && openers.retry ? openers.retry() : go(changed({ open: letter.id }))) }],
    concerns: (event) => /DEAD_LETTER/.test(event.kind), empty: () => empty(t('No dead letters.'), t('Entries of the stream that are invalid appear here.')),
  });
  return list;
}
