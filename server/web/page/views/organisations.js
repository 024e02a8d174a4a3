// Organisations: created, suspended and resumed, and deleted once their names are typed. A deletion is shown while it runs.

import { h, show } from '../core/dom.js';
import { t, tn } from '../core/words.js';
import { href, go, changed } from '../core/route.js';
import { readPage, write } from '../core/call.js';
import { say, sayDone } from '../core/notes.js';
import { enumWords, when, timeText, number, count, mono } from '../core/format.js';
import { heading, section, empty, badge, button, facts } from '../parts/frame.js';
import { form, field } from '../parts/form.js';
import { List } from '../parts/list.js';
import { adminTabs, readOrganization } from './admin_tabs.js';

const STATE = 'ORGANIZATION_STATE_';
const LOOK_MS = 1000;

function isIn(one, state) {
  return one.state === STATE + state;
}

function stateBadge(one) {
  if (isIn(one, 'SUSPENDED')) return badge(t('suspended'), 'wrong');
  if (isIn(one, 'DELETING')) return badge(t('being deleted'), 'wrong');
  if (isIn(one, 'IMPORTING')) return badge(t('being imported'));
  return isIn(one, 'ACTIVE') ? badge(t('active'), 'right') : badge(enumWords(one.state, STATE));
}

function links(one) {
  const part = (name, label) => h('a', { href: href(`administration/${name}`, { org: one.id }) }, label);
  return [part('tokens', t('tokens')), ' · ', part('settings', t('settings')), ' · ', part('retention', t('retention')), ' · ', part('quotas', t('quotas')), ' · ', part('audit', t('audit'))];
}

// A form in place of the buttons, with the reason that the audit shows.
function reasonForm(spec, reset) {
  return form({ ...spec, cancel: reset, fields: [...(spec.fields || []), field({ name: 'reason', label: t('Reason'), kind: 'area', rows: 2, required: true, help: t('Recorded with the change, for the audit.') })] });
}

function stateActions(one, list) {
  const place = h('div', null);
  const id = { orgId: one.id };
  const ask = (spec, name) => {
    const node = reasonForm(spec, reset);
    show(place, node);
    node.elements[name].focus();
  };
  const suspend = () => ask({ kind: 'danger', submit: t('Suspend this organisation'), run: async ({ reason }) => {
    await write('AdminService/SuspendOrganization', { ...id, reason });
    sayDone(t('{name} is suspended.', { name: one.name }), async () => { await write('AdminService/ResumeOrganization', { ...id, reason: t('undone') }); await list().refresh(); });
    await list().refresh();
  } }, 'reason');
  const resume = () => ask({ submit: t('Resume this organisation'), run: async ({ reason }) => {
    await write('AdminService/ResumeOrganization', { ...id, reason });
    sayDone(t('{name} is active again.', { name: one.name }), async () => { await write('AdminService/SuspendOrganization', { ...id, reason: t('undone') }); await list().refresh(); });
    await list().refresh();
  } }, 'reason');
  const remove = () => ask({ kind: 'danger', submit: t('Delete it for good'),
    fields: [h('p', { class: 'callout wrong' }, t('Its tokens, its events and all that was made of them are deleted. This cannot be undone; backups keep their copy.')),
      field({ name: 'confirm_name', label: t('Type its name, {name}', { name: one.name }), required: true })],
    run: async (values) => {
      await write('AdminService/DeleteOrganization', { ...id, confirmName: values.confirm_name, reason: values.reason });
      say(t('{name} is being deleted.', { name: one.name }));
      await list().refresh();
    } }, 'confirm_name');
  const reset = () => show(place, h('div', { class: 'actions' }, isIn(one, 'ACTIVE') && button(t('Suspend'), suspend, { kind: 'danger' }),
    isIn(one, 'SUSPENDED') && [button(t('Resume'), resume, { kind: 'primary' }), button(t('Delete'), remove, { kind: 'danger' })],
    isIn(one, 'IMPORTING') && button(t('Delete'), remove, { kind: 'danger' })));
  reset();
  return place;
}

function panelOf(one, list) {
  const deletion = one.deletion || {};
  return [h('h2', null, one.name), h('p', null, stateBadge(one)),
    facts([[t('Id'), mono(one.id)], [t('Created'), timeText(one.createdAt)], [t('Suspended'), one.suspendedAt && timeText(one.suspendedAt)], [t('Deletion began'), deletion.startedAt && timeText(deletion.startedAt)],
      [t('Events'), deletion.startedAt && number(count(deletion.eventCount))], [t('Rows deleted so far'), deletion.startedAt && number(count(deletion.deletedRowCount))]]),
    section(t('Administration'), h('p', null, links(one))),
    isIn(one, 'ACTIVE') && h('p', { class: 'muted' }, t('While it is suspended its tokens are refused, its streams are ended and its data stay. Only then can it be deleted.')),
    isIn(one, 'IMPORTING') && h('p', { class: 'muted' }, t('Events of an export are being stored in it. It can only be imported further, or deleted.')),
    isIn(one, 'SUSPENDED') && h('p', { class: 'muted' }, t('Its tokens are refused, and its data stay.')), stateActions(one, list)];
}

function createForm(close) {
  return form({
    submit: t('Create'), cancel: close, fields: [field({ name: 'name', label: t('Name'), required: true })],
    run: async ({ name }) => {
      const { organization } = await write('AdminService/CreateOrganization', { organization: { name } });
      say(t('{name} was created. Its first token is made under tokens.', { name }));
      close();
      go(changed({ open: organization.id }));
    },
  });
}

// Reads the rows again while an organisation is being deleted, and its panel; what is typed in that of another one stays.
function lookAtDeletions(list) {
  let isLooking = false;
  return async () => {
    const deleted = list().rows.filter((one) => isIn(one, 'DELETING'));
    if (isLooking || document.hidden || !deleted.length) return;
    isLooking = true;
    try {
      await list().reload({ quiet: true });
      if (deleted.some((one) => one.id === list().openKey)) await list().refillPanel();
    } finally {
      isLooking = false;
    }
  };
}

export function open(root, route) {
  const place = h('div', null);
  const adding = h('div', { class: 'card narrow', hidden: true });
  let list = null;
  const close = () => { adding.hidden = true; show(adding); list.refresh(); };
  const add = () => { adding.hidden = false; show(adding, createForm(close)); adding.querySelector('input').focus(); };
  show(root, heading(t('Organisations'), t('Nothing of one organisation can be seen from another.'), button(t('Create'), add)), adminTabs('organisations'), adding, place);
  list = new List(place, route, {
    name: 'organisations', caption: t('Organisations'), panelLabel: t('Organisation'), key: (one) => one.id, rowKind: (one) => (isIn(one, 'ACTIVE') ? '' : 'is-off'),
    columns: [{ head: t('Name'), cell: (one) => one.name, text: (one) => one.name },
      { head: t('State'), cell: (one) => [stateBadge(one), one.deletion && h('span', { class: 'muted' }, tn(count(one.deletion.deletedRowCount), '{n} row deleted', '{n} rows deleted'))], text: (one) => (one.state || '').slice(STATE.length) },
      { head: t('Created'), cell: (one) => when(one.createdAt), text: (one) => one.createdAt }, { head: t('Id'), kind: 'wide', cell: (one) => mono(one.id), text: (one) => one.id }, { head: t('Opens'), kind: 'wide', cell: links }],
    load: ({ size, token, signal }) => readPage('AdminService/ListOrganizations', { pageSize: size, pageToken: token }, 'organizations', { signal }),
    open: async (id) => panelOf(await readOrganization(id), () => list),
    concerns: (event) => /ORGANIZATION/.test(event.kind), empty: () => empty(t('No organisations.'), ''),
  });
  const timer = setInterval(lookAtDeletions(() => list), LOOK_MS);
  return { update: (next) => list.update(next), close: () => { clearInterval(timer); list.close(); } };
}
