// Parts that all views of the administration share: their tabs, and the organisation that is administered.

import { h, show } from '../core/dom.js';
import { t } from '../core/words.js';
import { href } from '../core/route.js';
import { read, CallError } from '../core/call.js';
import { keyId } from '../core/session.js';
import { mono } from '../core/format.js';
import { tabs } from '../parts/frame.js';

// The tabs; those of one organisation keep it.
export function adminTabs(current, org = '') {
  const tab = (id, label, parameters) => ({ id, label, address: href(id ? `administration/${id}` : 'administration', parameters) });
  return tabs(t('Administration'), [tab('', t('Server')), tab('organisations', t('Organisations')), tab('tokens', t('Tokens'), { org }), tab('settings', t('Settings'), { org }),
    tab('retention', t('Retention'), { org }), tab('quotas', t('Quotas'), { org }), tab('audit', t('Audit'), { org }), tab('dead-letters', t('Dead letters')), tab('log', t('Event log'))], current);
}

// An organisation by its id; without an id, that of the page's token.
export async function readOrganization(org, signal) {
  const id = org || (await read('AdminService/ListTokens', { keyIdPrefix: keyId(), pageSize: 1 }, { signal })).tokens[0].orgId;
  const { organizations } = await read('AdminService/ListOrganizations', { idPrefix: id, pageSize: 1 }, { signal });
  if (!organizations) throw new CallError('not_found', t('This organisation is not there, or it is deleted.'));
  return organizations[0];
}

// Names the organisation that is administered, if it is not the token's own one.
export function orgLine(org) {
  if (!org) return null;
  const name = h('strong', null, mono(org));
  readOrganization(org).then((found) => show(name, found.name), () => {}); // the id stays
  return h('p', { class: 'callout' }, t('You administer the organisation '), name, '. ', h('a', { href: href('administration/organisations') }, t('All organisations')));
}
