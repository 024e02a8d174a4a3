// The wording of guidance: versions, an editor with a preview beside the version in use, and approval.

import { h, show } from '../core/dom.js';
import { t, tn } from '../core/words.js';
import { go, changed } from '../core/route.js';
import { readPage, write } from '../core/call.js';
import { hasRole } from '../core/session.js';
import { say, sayDone } from '../core/notes.js';
import { enumWords, when } from '../core/format.js';
import { heading, empty, badge, facts, section, button } from '../parts/frame.js';
import { form, field } from '../parts/form.js';
import { List } from '../parts/list.js';
import { reviewTabs } from './reviews.js';

const STATE = 'FRAGMENT_SET_STATE_';
const STATE_KINDS = { APPROVED: 'right', DRAFT: '', REPLACED: '' };
const CHARACTERS_MAX = 300;

function stateBadge(set) {
  return badge(enumWords(set.state, STATE), STATE_KINDS[set.state.slice(STATE.length)]);
}

function keyOf(fragment) {
  return `${fragment.signal} ${fragment.placeholder}`;
}

function titleOf(fragment) {
  return t('{signal}, for {placeholder}', { signal: enumWords(fragment.signal, 'REVIEW_SIGNAL_'), placeholder: fragment.placeholder.slice('REVIEW_PLACEHOLDER_'.length) });
}

// Compares fragments with those of another version: new and replaced ones.
function fragmentsBeside(set, other) {
  const before = new Map((other ? other.fragments || [] : []).map((one) => [keyOf(one), one.text]));
  return (set.fragments || []).map((one) => {
    const old = before.get(keyOf(one));
    const differs = other && old !== one.text;
    return h('div', { class: 'fragment' }, h('h3', null, titleOf(one)), differs && old && h('p', null, h('del', null, old)), h('p', null, differs ? h('ins', null, one.text) : one.text));
  });
}

// The text of each placeholder if every signal is set, joined like on the server.
function previewOf(set) {
  const byPlaceholder = new Map();
  (set.fragments || []).forEach((one) => byPlaceholder.set(one.placeholder, [...(byPlaceholder.get(one.placeholder) || []), one.text]));
  return [...byPlaceholder].map(([placeholder, texts]) => h('div', { class: 'fragment' }, h('h3', { class: 'mono' }, `{{${placeholder.slice('REVIEW_PLACEHOLDER_'.length)}}}`), h('p', { class: 'snippet', tabindex: '0' }, texts.join('\n'))));
}

async function allSets() {
  return (await readPage('ReviewService/ListFragmentSets', { pageSize: 1000 }, 'fragmentSets')).rows;
}

function editor(set, inUse, close, list) {
  const preview = h('div', { class: 'section' });
  const draftOf = (node) => ({
    fragments: (set.fragments || []).map((one, at) => ({ ...one, text: node.elements[`text_${at}`].value.trim() })), labelFocusFields: node.elements.label_focus_fields.value.trim(), comment: node.elements.comment.value.trim(),
  });
  const node = form({
    submit: t('Store as a draft'), cancel: close, keep: true,
    fields: [
      ...(set.fragments || []).map((one, at) => field({ name: `text_${at}`, label: titleOf(one), kind: 'area', rows: 2, value: one.text, required: true, attributes: { maxlength: CHARACTERS_MAX } })),
      field({ name: 'label_focus_fields', label: t('Label of the focus fields'), value: set.labelFocusFields || '' }), field({ name: 'comment', label: t('Comment'), value: '' })],
    run: async () => {
      const { fragmentSet } = await write('ReviewService/PutFragmentSet', { fragmentSet: draftOf(node) });
      say(t('Draft {n} is stored. It has no effect until it is approved.', { n: fragmentSet.version }));
      await list().refresh();
      go(changed({ open: fragmentSet.version }));
    },
  });
  const draw = () => show(preview, h('h3', null, t('What differs from the wording in use')), fragmentsBeside({ ...set, ...draftOf(node) }, inUse));
  node.addEventListener('input', draw);
  draw();
  return [h('h2', null, t('New draft')), node, section(t('Preview'), preview)];
}

function panelOf(set, sets, list, openers) {
  const place = h('div', { class: 'section' });
  const inUse = sets.find((one) => one.state === `${STATE}APPROVED`);
  const approve = async () => {
    const reply = await write('ReviewService/ApproveFragmentSet', { version: set.version || 0 });
    sayDone(t('Version {n} is in use.', { n: reply.fragmentSet.version || 0 }), inUse && (async () => { await write('ReviewService/ApproveFragmentSet', { version: inUse.version || 0 }); await list().refresh(); }));
    await list().refresh();
  };
  const overview = () => show(place,
    h('h2', null, t('Version {n}', { n: set.version || 0 }), ' ', stateBadge(set)),
    facts([[t('Written by'), set.actorUserId], [t('Written'), when(set.createdAt)], [t('Approved by'), set.approvedBy], [t('Approved'), set.approvedAt && when(set.approvedAt)], [t('Comment'), set.comment], [t('Label of the focus fields'), set.labelFocusFields]]),
    h('div', { class: 'actions' },
      openers.approve && button(t('Approve'), openers.approve, { kind: 'primary', key: 'c' }),
      hasRole('OPERATOR', 'REVIEWER', 'SERVICE', 'ADMIN') && button(t('Edit a copy'), () => show(place, editor(set, inUse, overview, list)))), problem,
    section(set === inUse ? t('Fragments') : t('Fragments, beside the wording in use'), fragmentsBeside(set, set === inUse ? null : inUse)),
    section(t('Preview, with every signal on'), previewOf(set)));
  const problem = h('div', null);
  openers.approve = set !== inUse && hasRole('REVIEWER', 'ADMIN')
    ? () => approve().catch((error) => show(problem, h('p', { class: 'callout wrong', role: 'alert' }, error.message))) : null;
  overview();
  return place;
}

export function open(root, route) {
  const place = h('div', null);
  const openers = {};
  let list = null;
  show(root, heading(t('Wording'), t('The guidance that prompts get for each signal. A person writes a draft, and a person approves it; the server never changes it.')), reviewTabs('wording'), place);
  list = new List(place, route, {
    name: 'wording', caption: t('Versions of the wording'), panelLabel: t('Version'), key: (set) => String(set.version || 0),
    columns: [
      { head: t('Version'), cell: (set) => set.version || 0, text: (set) => set.version || 0 }, { head: t('State'), cell: stateBadge, text: (set) => set.state },
      { head: t('Fragments'), kind: 'wide', cell: (set) => tn((set.fragments || []).length, '{n} fragment', '{n} fragments'), text: (set) => (set.fragments || []).length },
      { head: t('Written by'), cell: (set) => set.actorUserId || '–', text: (set) => set.actorUserId || '' }, { head: t('Written'), cell: (set) => when(set.createdAt), text: (set) => set.createdAt || '' },
      { head: t('Approved by'), kind: 'wide', cell: (set) => set.approvedBy || '–', text: (set) => set.approvedBy || '' }, { head: t('Comment'), kind: 'wide', cell: (set) => set.comment || '–', text: (set) => set.comment || '' }],
    load: ({ size, token, signal }) => readPage('ReviewService/ListFragmentSets', { pageSize: size, pageToken: token }, 'fragmentSets', { signal }),
    open: async (version) => {
      const sets = await allSets();
      const set = sets.find((one) => String(one.version || 0) === version);
      if (!set) throw new Error(t('There is no version {n}.', { n: version }));
      return panelOf(set, sets, () => list, openers);
    },
    actionKeys: [['c', t('approve the open version')]],
    actions: (set) => [{ key: 'c', run: () => {
      if (list.openKey !== String(set.version || 0)) go(changed({ open: set.version || 0 }));
      else if (openers.approve) openers.approve();
    } }],
    concerns: (event) => /FRAGMENT_SET/.test(event.kind),
    empty: () => empty(t('No wording.'), ''),
  });
  return list;
}
