// Tokens of an organisation: who may call the server, and as what.

import { h, show } from '../core/dom.js';
import { t } from '../core/words.js';
import { readPage, write } from '../core/call.js';
import { keyId } from '../core/session.js';
import { say } from '../core/notes.js';
import { dayText, enumWords, when, mono } from '../core/format.js';
import { heading, empty, badge, button, copyText } from '../parts/frame.js';
import { form, field } from '../parts/form.js';
import { List } from '../parts/list.js';
import { adminTabs, orgLine } from './admin_tabs.js';

const ROLE = 'ROLE_';
const ROLES = ['VIEWER', 'OPERATOR', 'REVIEWER', 'SERVICE', 'INTEGRATOR', 'ADMIN'];
const OVERLAPS = [['0', () => t('no time: it ends at once')], ['3600', () => t('1 hour')], ['86400', () => t('1 day')], ['604800', () => t('7 days')], ['2592000', () => t('30 days')]];

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

// A new token of the same role and user, while the old one stays valid for a time.
function rotateForm(token, org, place, close) {
  return form({
    submit: t('Replace the token'), cancel: close,
    fields: [h('p', null, t('A token with the same role and user replaces {key}.', { key: token.keyId })),
      field({ name: 'overlap_seconds', label: t('The old one stays valid for'), kind: 'select', value: '86400', options: OVERLAPS.map(([seconds, label]) => [seconds, label()]) })],
    run: async (values) => {
      const reply = await write('AdminService/RotateToken', { orgId: org || undefined, keyId: token.keyId, overlapSeconds: Number(values.overlap_seconds) });
      show(place, secretBox(reply), h('div', { class: 'actions' }, button(t('Done'), close)));
    },
  });
}

function actionsOf(token, org, list, rotate) {
  const place = h('span', { class: 'actions' });
  const reset = () => show(place, !token.replacedBy && button(t('Rotate'), () => rotate(token), { kind: 'quiet small' }), button(t('Revoke'), () => show(place, h('span', null, token.keyId === keyId() ? t('This is the token of this page. Revoke it?') : t('It stops at once, for good.')),
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

export function open(root, route) {
  const org = route.parameters.get('org') || '';
  const place = h('div', null);
  const adding = h('div', { class: 'card narrow', hidden: true });
  let list = null;
  const close = () => { adding.hidden = true; show(adding); list.refresh(); };
  const rotate = (token) => {
    adding.hidden = false;
    show(adding, rotateForm(token, org, adding, close));
    adding.querySelector('select').focus();
  };
  const add = () => { adding.hidden = false; show(adding, tokenForm(org, adding, close)); adding.querySelector('select').focus(); };
  show(root, heading(t('Tokens'), t('Who may call this server, and as what. Only a hash of a token is stored.'), button(t('Create token'), add)), adminTabs('tokens', org), orgLine(org), adding, place);
  list = new List(place, route, {
    name: 'tokens', caption: t('Tokens'), key: (one) => one.keyId, rowKind: (one) => (one.revokedAt ? 'is-off' : ''),
    columns: [{ head: t('Key id'), cell: (one) => [mono(one.keyId), ' ', one.keyId === keyId() && badge(t('this page'))], text: (one) => one.keyId }, { head: t('State'), cell: tokenState, text: (one) => (one.revokedAt ? 'revoked' : 'valid') },
      { head: t('Role'), cell: (one) => [enumWords(one.role, ROLE), ' ', one.server && badge(t('server'))], text: (one) => one.role }, { head: t('User'), cell: (one) => one.userId || '–', text: (one) => one.userId || '' },
      { head: t('Expires'), cell: (one) => (one.expiresAt ? when(one.expiresAt) : t('never')), text: (one) => one.expiresAt || '' },
      { head: t('Last used'), kind: 'wide', cell: (one) => (one.lastUsedAt ? dayText(one.lastUsedAt) : '–'), text: (one) => one.lastUsedAt || '' }, { head: t('Created'), kind: 'wide', cell: (one) => [when(one.createdAt), one.createdBy && h('span', { class: 'muted' }, ` · ${one.createdBy}`)], text: (one) => one.createdAt },
      { head: t('Actions'), cell: (one) => (one.revokedAt ? h('span', { class: 'muted' }, when(one.revokedAt)) : actionsOf(one, org, () => list, rotate)) }],
    load: ({ size, token, signal }) => readPage('AdminService/ListTokens', { orgId: org || undefined, pageSize: size, pageToken: token }, 'tokens', { signal }),
    concerns: (event) => /TOKEN/.test(event.kind), empty: () => empty(t('No tokens.'), t('Create one for each person and each program.')),
  });
  return list;
}
