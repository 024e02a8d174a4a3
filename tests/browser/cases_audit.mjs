// The audit of administrative changes, and all settings of an organisation.
import { equal, isTrue } from './check.mjs';

async function comes(what, found, wanted) {
  for (let tries = 0; tries < 200; tries += 1) {
    if (JSON.stringify(await found()) === JSON.stringify(wanted)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  equal(await found(), wanted, what);
}

// The text that a press on CSV would save.
async function savedFile(tab) {
  return tab.page.evaluate(async () => {
    const before = URL.createObjectURL;
    let kept = null;
    URL.createObjectURL = (blob) => { kept = blob; return before.call(URL, blob); };
    [...document.querySelectorAll('.list-foot button')].find((node) => node.innerText.includes('CSV')).click();
    URL.createObjectURL = before;
    return kept.text();
  });
}

// Changes show who made them, and the values before and after; every state of the list has an address.
async function audit({ browser, Tab, server }) {
  const { organization: { id: org } } = await server.call('AdminService/CreateOrganization', { organization: { name: 'Audited Ltd' } });
  const { secret } = await server.call('AdminService/CreateToken', { orgId: org, token: { role: 'ROLE_ADMIN', userId: 'ada' } });
  await server.call('AdminService/UpdateSettings', { settings: { votesNeeded: 3 } }, secret);
  await server.call('AdminService/SetQuota', { orgId: org, quota: { storedBytes: String(1 << 30) } });
  for (let number = 0; number < 27; number += 1) await server.call('AdminService/CreateToken', { token: { role: 'ROLE_VIEWER', userId: `viewer-${number}` } }, secret);
  const tab = await (await Tab.open(browser, server.url)).signedIn(server.admin, `#/administration/audit?org=${org}`);
  await tab.theme('light'); // without motion, so that colours are measured at rest
  await tab.sees('Audited Ltd');
  equal(await tab.barriers(), [], 'barriers of the audit');
  await tab.fill('kind', 'SETTINGS_UPDATED');
  await tab.sees('1 row');
  await tab.ready();
  equal(await tab.page.$$eval('.list tbody td', (cells) => cells.slice(0, 3).map((cell) => cell.innerText)), ['settings changed', 'votes needed 2 → 3', 'ada'], 'the row');
  isTrue((await tab.hash()).includes('kind=SETTINGS_UPDATED'), 'the filter is in the address');
  await tab.page.$eval('.list tbody .row-link', (node) => node.click());
  await tab.until('the panel', () => document.querySelector('.panel .plain tbody tr'));
  equal(await tab.page.$eval('.panel .plain tbody tr', (node) => [...node.children].map((cell) => cell.innerText)), ['votes needed', '2', '3'], 'the change in the panel');
  equal(await tab.barriers(), [], 'barriers of a change');
  await tab.page.reload();
  await tab.ready();
  await tab.until('the panel after a reload', () => document.querySelector('.panel .plain tbody tr'));
  await tab.go(`#/administration/audit?org=${org}&kind=QUOTA_SET`);
  await tab.sees('1.0 GiB');
  equal(await tab.page.$$eval('.list tbody td', (cells) => cells.slice(0, 3).map((cell) => cell.innerText)), ['quota changed', 'stored bytes 1.0 GiB', `token:${server.admin.split('_')[1]}`], 'the row of a quota');
  await tab.go(`#/administration/audit?org=${org}&size=25`);
  await tab.fill('who', 'ada');
  await tab.until('the filter in the address', () => location.hash.includes('who=ada'));
  await tab.ready();
  await tab.sees('25 rows, more follow');
  equal((await savedFile(tab)).split('\r\n').length, 26, 'lines of the CSV');
  await tab.press('Next page');
  await tab.until('the rest', () => location.hash.includes('page=') && document.querySelectorAll('.list tbody tr').length === 3);
  equal(tab.problems, [], 'problems');
  await tab.close();
}

// A filter whose matches are far back in the log does not keep the page busy: it says so, and goes on when it is asked to.
async function farBack({ browser, Tab, server }) {
  const tab = await (await Tab.open(browser, server.url)).signedIn(server.admin, '#/overview');
  let looks = 0;
  await tab.page.setRequestInterception(true);
  tab.page.on('request', (request) => {
    if (!request.url().endsWith('AdminService/ListAudit')) { request.continue(); return; }
    looks += 1;
    const isFound = JSON.parse(request.postData()).pageToken === 'token-5';
    const body = isFound ? { events: [{ id: '01900000-0000-7000-8000-000000000000', seq: '1', kind: 'EVENT_KIND_TOKEN_REVOKED', createdAt: '2026-01-02T03:04:05Z', tokenRevoked: { keyId: '1a2b3c4d' } }] } : { nextPageToken: `token-${looks}` };
    setTimeout(() => request.respond({ status: 200, contentType: 'application/json', body: JSON.stringify(body) }), 500);
  });
  await tab.go('#/administration/audit?kind=TOKEN_REVOKED');
  await tab.sees('Nothing found so far.');
  isTrue(looks <= 5, `${looks} calls before the page stopped`);
  looks = 4;
  await tab.press('Look further', 'main');
  await tab.sees('1a2b3c4d');
  equal(tab.problems, [], 'problems');
  await tab.close();
}

// Each setting that is a list or a text is stored as typed, undone as it was, and refused beside its field.
async function settings({ browser, Tab, server }) {
  const { organization: { id: org } } = await server.call('AdminService/CreateOrganization', { organization: { name: 'Set Ltd' } });
  const stored = async () => {
    const { settings: now } = await server.call('AdminService/GetSettings', { orgId: org });
    return [now.redactedMembers?.names || [], now.evaluatorId || '', now.gateAgents?.gates || [], now.extraCues?.cues || [], now.topicChange];
  };
  const before = await stored();
  const tab = await (await Tab.open(browser, server.url)).signedIn(server.admin, `#/administration/settings?org=${org}`);
  await tab.fill('redacted_members', 'email\nserial_number');
  await tab.fill('evaluator_id', 'judge-1');
  await tab.fill('gates', 'HITL-1=coder\nHITL-2 = writer');
  await tab.fill('topic_change', 'NEUTRAL');
  await tab.fill('extra_cues', 'NO_SUCH_CLASS=meh');
  await tab.press('Save settings');
  await tab.until('the error beside the cues', () => document.querySelector('[name=extra_cues][aria-invalid]'));
  equal(await stored(), before, 'settings after a refusal');
  await tab.fill('extra_cues', 'COMPLAINT=that is rubbish\nTHANKS=ta = thanks');
  await tab.press('Save settings');
  await tab.sees('Settings saved.');
  const wanted = [['email', 'serial_number'], 'judge-1', [{ gateId: 'HITL-1', agentName: 'coder' }, { gateId: 'HITL-2', agentName: 'writer' }], [{ cueClass: 'COMPLAINT', phrase: 'that is rubbish' }, { cueClass: 'THANKS', phrase: 'ta = thanks' }], 'TOPIC_CHANGE_NEUTRAL'];
  equal(await stored(), wanted, 'the settings');
  await tab.until('the form again', () => document.querySelector('[name=extra_cues]')?.value.includes('ta = thanks'));
  equal(await tab.barriers(), [], 'barriers of the settings');
  await tab.fill('redacted_members', '');
  await tab.press('Save settings');
  await comes('no redacted member', async () => (await stored())[0], []);
  await tab.until('an empty field', () => document.querySelector('[name=redacted_members]')?.value === '');
  await tab.key('u');
  await comes('the members after the undo', stored, wanted);
  equal(tab.problems, [], 'problems');
  await tab.close();
}

export const cases = [['the audit shows who changed what', audit], ['a filter that finds nothing for long says so', farBack], ['every setting is stored, refused and undone', settings]];
