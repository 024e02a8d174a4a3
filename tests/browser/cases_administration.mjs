// Organisations, tokens, retention, quotas, dead letters, and the effect of guidelines. Cases that need a clock which is put
// ahead, or a Redis, have a server of their own; browser.py makes both.
import fs from 'node:fs';
import net from 'node:net';
import { equal, isTrue } from './check.mjs';
import { Server } from './server.mjs';

const AROUND = JSON.parse(process.env.ERRATA_SURROUNDINGS || '{}');
const DAY_NS = 86400n * 1000000000n;
const STREAM = 'asdlc:events:hitl_decisions';

// A signed-in tab without motion, so that colours are measured at rest.
async function signedIn({ browser, Tab }, server, route) {
  const tab = await (await Tab.open(browser, server.url)).signedIn(server.admin, route);
  await tab.theme('light');
  return tab;
}

async function comes(what, found, wanted) {
  for (let tries = 0; tries < 200; tries += 1) {
    if (JSON.stringify(await found()) === JSON.stringify(wanted)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  equal(await found(), wanted, what);
}

async function withServer(bin, words, run) {
  const server = await new Server(bin, undefined, { words, environment: AROUND.environment }).start();
  try {
    await run(server);
  } finally {
    equal(await server.close(), 0, 'the end of the server');
  }
}

// Gives the calls of a method to `answer`, which responds, or returns false to let them through. Returns what ends it.
async function answered(tab, method, answer) {
  const take = (request) => (request.url().endsWith(method) && answer(request) !== false ? undefined : request.continue());
  await tab.page.setRequestInterception(true);
  tab.page.on('request', take);
  return async () => { tab.page.off('request', take); await tab.page.setRequestInterception(false); };
}

function respond(request, reply, status = 200) {
  request.respond({ status, contentType: 'application/json', body: JSON.stringify(reply) });
}

async function organisations({ browser, Tab, server }) {
  const { organization: { id } } = await server.call('AdminService/CreateOrganization', { organization: { name: 'Doomed Ltd' } });
  const find = async () => ((await server.call('AdminService/ListOrganizations', { idPrefix: id })).organizations || [])[0];
  const state = async () => (await find())?.state;
  const tab = await signedIn({ browser, Tab }, server, `#/administration/organisations?open=${id}`);
  const suspend = async () => {
    await tab.press('Suspend', '.panel');
    await tab.fill('reason', 'contract ended');
    await tab.press('Suspend this organisation');
    await comes('the suspension', state, 'ORGANIZATION_STATE_SUSPENDED');
  };
  await suspend();
  await tab.sees('Doomed Ltd is suspended.');
  await tab.until('the panel of a suspended one', () => [...document.querySelectorAll('.panel button')].some((node) => node.innerText === 'Resume'));
  await tab.key('u');
  await comes('the state after the undo', state, 'ORGANIZATION_STATE_ACTIVE');
  await tab.until('the button again', () => [...document.querySelectorAll('.panel button')].some((node) => node.innerText === 'Suspend'));
  await suspend();
  await tab.press('Delete', '.panel');
  equal(await tab.barriers(), [], 'barriers of a deletion');
  await tab.fill('confirm_name', 'Another Ltd');
  await tab.fill('reason', 'request 17');
  await tab.press('Delete it for good');
  await tab.until('the error beside its field', () => document.querySelector('[name=confirm_name][aria-invalid]'));
  equal([await state(), await tab.page.$eval('[name=reason]', (node) => node.value)], ['ORGANIZATION_STATE_SUSPENDED', 'request 17'], 'what is kept');
  await tab.fill('confirm_name', 'Doomed Ltd');
  await tab.press('Delete it for good');
  await tab.sees('Doomed Ltd is being deleted.');
  await comes('the organisation', find, undefined);
  await tab.until('the list without it', () => ![...document.querySelectorAll('.list tbody td')].some((cell) => cell.innerText === 'Doomed Ltd'));
  const own = (await server.call('AdminService/ListOrganizations')).organizations.find((one) => one.name === 'default');
  await tab.go(`#/administration/organisations?open=${own.id}`);
  await tab.press('Suspend', '.panel');
  await tab.fill('reason', 'to see');
  await tab.press('Suspend this organisation');
  await tab.until('the refusal', () => document.querySelector('.panel .form-problem .error-box'));
  equal(tab.problems, [], 'problems');
  await tab.close();
}

// A list in which the deletion of one organisation makes progress with each look. Returns the number of looks, and the end.
async function changingList(tab) {
  const states = { Doomed: 'DELETING', Kept: 'ACTIVE', Copied: 'IMPORTING', Later: 'OF_A_NEWER_SERVER' };
  const looks = { count: 0 };
  const all = () => Object.entries(states).map(([name, state], at) => ({ id: `0190000${at}-0000-7000-8000-000000000000`, name, state: `ORGANIZATION_STATE_${state}`, createdAt: '2026-01-02T03:04:05Z', ...(state === 'DELETING' && { deletion: { startedAt: '2026-01-02T03:04:05Z', eventCount: '9', deletedRowCount: String(looks.count) } }) }));
  looks.end = await answered(tab, 'ListOrganizations', (request) => {
    const { idPrefix } = JSON.parse(request.postData());
    looks.count += idPrefix ? 0 : 1;
    respond(request, { organizations: all().filter((one) => !idPrefix || one.id === idPrefix) });
  });
  return looks;
}

// An organisation is shown as active only if it is; one that is being imported can be deleted.
async function otherStates({ browser, Tab, server }) {
  const tab = await signedIn({ browser, Tab }, server, '#/overview');
  const looks = await changingList(tab);
  await tab.go('#/administration/organisations');
  equal(await tab.page.$$eval('.list tbody tr', (rows) => rows.map((row) => [row.querySelector('.row-link').innerText, ...[row.querySelector('.badge')].map((node) => [node.innerText, node.classList.contains('right')])])),
    [['Doomed', ['being deleted', false]], ['Kept', ['active', true]], ['Copied', ['being imported', false]], ['Later', ['of a newer server', false]]], 'states');
  await tab.page.$$eval('.list tbody .row-link', (nodes) => nodes.find((node) => node.innerText === 'Copied').click());
  await tab.sees('It can only be imported further, or deleted.');
  await tab.press('Delete', '.panel');
  equal(await tab.page.$$eval('.panel form [name]', (nodes) => nodes.map((node) => node.name)), ['confirm_name', 'reason'], 'the form of the deletion');
  equal(await tab.barriers(), [], 'barriers of an import');
  await looks.end();
  equal(tab.problems, [], 'problems');
  await tab.close();
}

// While one is being deleted, the rows are read again each second; what is typed about another one stays.
async function deletionBeside({ browser, Tab, server }) {
  const tab = await signedIn({ browser, Tab }, server, '#/overview');
  const looks = await changingList(tab);
  const open = async (name) => {
    await tab.page.$$eval('.list tbody .row-link', (nodes, wanted) => nodes.find((node) => node.innerText === wanted).click(), name);
    await tab.until('the panel', (wanted) => document.querySelector('.panel-content h2')?.innerText === wanted, name);
  };
  await tab.go('#/administration/organisations');
  await open('Kept');
  await tab.press('Suspend', '.panel');
  await tab.fill('reason', 'contract ended');
  const before = looks.count;
  await tab.until('further looks', (least) => Number(/(\d+) rows? deleted/.exec(document.querySelector('.list tbody').innerText)[1]) > least, before + 1);
  equal(await tab.page.$$eval('.panel [name=reason]', (nodes) => nodes.map((node) => node.value)), ['contract ended'], 'what was typed');
  await open('Doomed');
  const shown = () => tab.page.$eval('.panel .facts', (node) => Number(/Rows deleted so far\s+(\d+)/.exec(node.innerText)[1]));
  const first = await shown();
  await tab.until('progress in the panel', (least) => Number(/Rows deleted so far\s+(\d+)/.exec(document.querySelector('.panel .facts')?.innerText)?.[1]) > least, first);
  await looks.end();
  equal(tab.problems, [], 'problems');
  await tab.close();
}

async function rotatedToken({ browser, Tab, server }) {
  const { token: { keyId } } = await server.call('AdminService/CreateToken', { token: { role: 'ROLE_SERVICE' } });
  const tab = await signedIn({ browser, Tab }, server, '#/administration/tokens');
  await tab.page.evaluate((key) => [...document.querySelectorAll('.list tbody tr')].find((row) => row.dataset.key === key).querySelector('button').click(), keyId);
  await tab.fill('overlap_seconds', '3600');
  await tab.press('Replace the token');
  await tab.sees('The token is shown only now:');
  const secret = (await tab.text('.secret')).trim();
  isTrue((await server.call('FeedbackService/ListFeedbackEvents', { pageSize: 1 }, secret)).events.length === 1, 'the new token works');
  const [old] = (await server.call('AdminService/ListTokens', { keyIdPrefix: keyId })).tokens;
  isTrue(secret.includes(old.replacedBy) && new Date(old.expiresAt) > new Date(), 'the old token ends in an hour');
  await tab.press('Done');
  equal(tab.problems, [], 'problems');
  await tab.close();
}

async function quotas({ browser, Tab, server }) {
  const { token: { keyId } } = await server.call('AdminService/CreateToken', { token: { role: 'ROLE_SERVICE' } });
  const sorted = (limits) => Object.fromEntries(Object.entries(limits).sort());
  const quotaOf = async (key) => sorted(((await server.call('AdminService/ListQuotas')).quotas.find((one) => (one.keyId || '') === key) || {}).quota || {});
  const before = await quotaOf('');
  const tab = await signedIn({ browser, Tab }, server, '#/administration/quotas?open=organisation');
  await tab.until('the form', () => document.querySelector('.panel [name=pdf_jobs]'));
  equal(await tab.barriers(), [], 'barriers of a quota');
  await tab.fill('request_burst', '2000000');
  await tab.fill('stored_bytes', '512.5');
  await tab.press('Save limits');
  await tab.until('the error beside its field', () => document.querySelector('[name=request_burst][aria-invalid]'));
  equal(await quotaOf(''), before, 'the quota after the refusal');
  await tab.fill('request_burst', '300');
  await tab.press('Save limits');
  await tab.sees('Limits saved.');
  equal(await quotaOf(''), sorted({ ...before, requestBurst: 300, storedBytes: '537395200' }), 'the quota');
  await tab.key('u');
  await comes('the quota after the undo', () => quotaOf(''), before);
  await tab.press('Limit a token');
  await tab.fill('key_id', keyId);
  await tab.press('Set its limits');
  await tab.until('the form of the token', (key) => document.querySelector('.panel-content h2')?.innerText.includes(key), keyId);
  isTrue(!(await tab.count('.panel [name=stored_bytes]')), 'a token stores no bytes');
  await tab.fill('requests_per_second', '100');
  await tab.press('Save limits');
  await comes('the quota of the token', () => quotaOf(keyId), { requestsPerSecond: 100 });
  await tab.until('its row', (key) => document.querySelector(`.list tr[data-key="${key}"]`), keyId);
  equal(tab.problems, [], 'problems');
  await tab.close();
}

// The panel of a token that is not on the list's page shows its limits; tokens that have expired are not offered.
async function quotaOfAnotherPage({ browser, Tab, server }) {
  const { organization: { id: orgId } } = await server.call('AdminService/CreateOrganization', { organization: { name: 'Many tokens' } });
  const create = async (token) => (await server.call('AdminService/CreateToken', { orgId, token: { role: 'ROLE_SERVICE', ...token } })).token.keyId;
  const end = Date.now() + 1000;
  const expired = await create({ expiresAt: new Date(end).toISOString() });
  const keys = [];
  for (let number = 0; number < 26; number += 1) {
    keys.push(await create({}));
    await server.call('AdminService/SetQuota', { orgId, keyId: keys[number], quota: { pdfJobs: 7, requestsPerSecond: 100 } });
  }
  const key = keys.sort()[25];
  const tab = await signedIn({ browser, Tab }, server, `#/administration/quotas?org=${orgId}&size=25&open=${key}`);
  await tab.until('the form', () => document.querySelector('.panel [name=pdf_jobs]'));
  equal(await tab.page.$eval('.panel [name=pdf_jobs]', (node) => node.value), '7', 'the limit that is set');
  await tab.fill('requests_per_second', '200');
  await tab.press('Save limits');
  await tab.sees('Limits saved.');
  await tab.press('Undo', '.notes');
  const quotaOf = async () => (await server.call('AdminService/ListQuotas', { orgId, pageSize: 100 })).quotas.find((one) => one.keyId === key).quota;
  await comes('the limit after the undo', async () => (await quotaOf()).requestsPerSecond, 100);
  await comes('the end of a token', () => Date.now() > end, true);
  await tab.press('Limit a token');
  await tab.until('the choice', () => document.querySelector('[name=key_id]'));
  equal((await tab.page.$$eval('[name=key_id] option', (nodes) => nodes.map((node) => node.value))).includes(expired), false, 'an expired token is offered');
  equal(tab.problems, [], 'problems');
  await tab.close();
}

// Without a finished preview of the submitted times, the name is needed: after Enter at once, a failure, a late answer.
async function nameWithoutPreview(tab, days) {
  await tab.fill('corrections_days', '3');
  await tab.key('Enter');
  await tab.sees('missing; expected default');
  equal([await days(), await tab.count('[name=confirm_name]')], [365, 1], 'the days, and the field of the name');
  await tab.page.reload();
  await tab.ready();
  let end = await answered(tab, 'PreviewRetention', (request) => respond(request, { code: 'internal', message: 'no preview' }, 500));
  await tab.fill('corrections_days', '3');
  await tab.press('Save');
  await tab.until('the refusal', () => document.querySelector('.form-problem .error-box')?.innerText.includes('no preview'));
  await end();
  const held = [];
  end = await answered(tab, 'PreviewRetention', (request) => (request.postData().includes('"correctionsDays":4') ? held.push(request) : false));
  await tab.fill('corrections_days', '4');
  await comes('the older preview', () => held.length, 1);
  await tab.fill('corrections_days', '3');
  await tab.sees('The content of 3 events is removed for good');
  const late = tab.page.waitForResponse((response) => response.url().endsWith('PreviewRetention'));
  respond(held[0], { previews: [] });
  await late;
  await tab.page.evaluate(() => new Promise((resolve) => { setTimeout(resolve, 100); }));
  equal([await days(), await tab.count('[name=confirm_name]')], [365, 1], 'the days after a late answer, and the field of the name');
  await end();
}

// A preview that did not examine all events is not a proof that nothing is removed.
async function nameAfterPartialPreview(tab, days) {
  const end = await answered(tab, 'PreviewRetention', (request) => respond(request, { partial: true, previews: [{ contentClass: 'CONTENT_CLASS_CORRECTIONS', days: 3, recordedUntil: '2026-01-02T03:04:05Z' }] }));
  await tab.fill('corrections_days', '3');
  await tab.sees('is unknown: the log is too long to count all of it');
  await tab.sees('Content may be removed for good');
  await tab.fill('confirm_name', 'another');
  await tab.press('Save');
  await tab.sees('not its name; expected default');
  equal(await days(), 365, 'the days after a partial preview');
  await end();
}

// The clock of the server is put five days ahead, so that content is old enough.
function retention({ browser, Tab, bin }) {
  return withServer(bin, [], async (server) => {
    for (let number = 0; number < 3; number += 1) {
      await server.call('FeedbackService/CaptureFeedbackEvent', { event: { eventType: 'FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED', actorUserId: 'ada', layoutFingerprint: 'old', beforeJson: '{"qty":1}', afterJson: '{"qty":2}' } });
    }
    fs.writeFileSync(AROUND.clock, Buffer.from(new BigInt64Array([5n * DAY_NS, 0n]).buffer), { flag: 'r+' });
    const days = async () => (await server.call('AdminService/GetSettings')).settings.contentRetention.correctionsDays;
    const tab = await signedIn({ browser, Tab }, server, '#/administration/retention');
    await tab.sees('Nothing is older than');
    await tab.fill('corrections_days', '1');
    await tab.sees('expected at least 2 days');
    await tab.fill('corrections_days', '3');
    await tab.sees('3 events until');
    await tab.sees('The content of 3 events is removed for good');
    equal(await tab.hash(), '#/administration/retention?corrections_days=3', 'the address');
    equal(await tab.barriers(), [], 'barriers of retention');
    await tab.page.reload();
    await tab.sees('The content of 3 events is removed for good');
    await tab.fill('confirm_name', 'another');
    await tab.press('Save');
    await tab.sees('not its name; expected default');
    equal(await days(), 365, 'the days after the refusal');
    await server.call('AdminService/UpdateSettings', { settings: { contentRetention: { verdictsDays: 700 } } });
    await tab.fill('confirm_name', 'default');
    await tab.press('Save');
    await tab.sees('Retention saved.');
    equal([await days(), await tab.hash()], [3, '#/administration/retention'], 'the days, and the address');
    await server.call('AdminService/UpdateSettings', { settings: { contentRetention: { reviewsDays: 800 } } });
    await tab.press('Undo', '.notes');
    await comes('the days after the undo', days, 365);
    const { contentRetention: { verdictsDays, reviewsDays } } = (await server.call('AdminService/GetSettings')).settings;
    equal([verdictsDays, reviewsDays], [700, 800], 'days that others set meanwhile');
    await tab.until('the field after the undo', () => document.querySelector('[name=corrections_days]')?.value === '365');
    await nameWithoutPreview(tab, days);
    await nameAfterPartialPreview(tab, days);
    await tab.fill('corrections_days', '4');
    await tab.go('#/administration/settings');
    await tab.page.evaluate(() => new Promise((resolve) => { setTimeout(resolve, 400); }));
    equal(await tab.hash(), '#/administration/settings', 'the address of the next view');
    equal(tab.problems, [], 'problems');
    await tab.close();
  });
}

// Adds an entry to the stream, and waits for Redis to answer.
function addEntry(fields) {
  const words = ['XADD', STREAM, '*', ...Object.entries(fields).flat()];
  const packed = `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
  return new Promise((resolve, reject) => {
    const socket = net.connect(AROUND.redis, () => socket.write(packed));
    socket.once('data', (reply) => { socket.destroy(); (reply[0] === 0x24 ? resolve : reject)(String(reply)); });
    socket.once('error', reject);
  });
}

async function deadLetters({ browser, Tab, bin }) {
  if (!AROUND.redis) return 'there is no redis-server';
  return withServer(bin, ['--redis', AROUND.redis], async (server) => {
    const tab = await signedIn({ browser, Tab }, server, '#/administration/dead-letters');
    await tab.sees('No dead letters.');
    await addEntry({ decision_id: 'd-1', gate_id: 'HITL-1', epic_id: 'epic-1', decision: 'REJECTED', reviewer_id: 'anna', timestamp: '2026-01-02T03:04:05Z', reviewer_comment: '<img src=x onerror=window.pwned=1>' });
    await tab.sees('missing, and the gate has no agent');
    await tab.page.$eval('.list tbody .row-link', (node) => node.click());
    await tab.until('the panel', () => document.querySelector('.panel-content h2'));
    await tab.sees('<img src=x onerror=window.pwned=1>');
    equal(await tab.barriers(), [], 'barriers of a dead letter');
    await tab.press('Try again', '.panel');
    await tab.until('the refusal', () => document.querySelector('.panel .error-box')?.innerText.includes('the gate has no agent'));
    await tab.go('#/overview');
    await tab.sees('entry of the stream that could not be stored');
    await tab.go('#/administration/settings');
    await tab.fill('gates', 'HITL-1=coder');
    await tab.press('Save settings');
    await tab.sees('Settings saved.');
    await tab.go('#/administration/dead-letters');
    await tab.key('Enter');
    await tab.until('the panel', () => document.querySelector('.panel-content h2'));
    await tab.key('t');
    await tab.sees('Stored as the decision');
    await tab.sees('No dead letters.');
    equal((await server.call('DecisionService/ListDecisions')).decisions.map((one) => [one.decisionId, one.agentName]), [['d-1', 'coder']], 'the decision');
    equal(tab.problems, [], 'problems');
    await tab.close();
  });
}

// Two guidelines: output with the first is rejected less often, output with the second as often as without it.
async function makeEffects(server) {
  await server.call('AdminService/UpdateSettings', { settings: { holdoutPercent: 50, votesNeeded: 1 } });
  const people = [await server.token('REVIEWER', 'rita'), await server.token('REVIEWER', 'ruben')];
  for (const [agent, ruleContent] of [['helped', 'Set a timeout on each remote call.'], ['unhelped', 'Sort the imports of each module.']]) {
    const { proposal } = await server.call('GuidelineService/ProposeGuideline', { proposal: { ruleType: 'RULE_TYPE_CONSTRAINT', ruleContent, affectedAgents: [agent] } }, people[0]);
    await server.call('GuidelineService/ApproveProposal', { proposalId: proposal.id }, people[1]);
    const counts = { true: 0, false: 0 };
    for (let number = 0; number < 120; number += 1) {
      const prompt = await server.call('GuidelineService/BuildAgentPrompt', { agentName: agent, subjectId: `${agent}-${number}` });
      const has = (prompt.prompt || '').includes(ruleContent);
      counts[has] += 1;
      const isBad = agent === 'helped' ? !has : counts[has] % 2 === 0;
      await server.call('DecisionService/RecordDecision', { decision: { decisionId: `${agent}-${number}`, gateId: 'HITL-1', epicId: 'e', agentName: agent, decision: isBad ? 'DECISION_OUTCOME_REJECTED' : 'DECISION_OUTCOME_APPROVED' }, exposureRefs: [prompt.exposureRef] });
    }
  }
  return (await server.call('GuidelineService/GenerateProposal')).sunsetGuidelineIds;
}

function effect({ browser, Tab, bin }) {
  return withServer(bin, [], async (server) => {
    const sunset = await makeEffects(server);
    const effects = (await server.call('GuidelineService/GetGuidelineEffectiveness')).guidelines;
    const tab = await signedIn({ browser, Tab }, server, '#/proposals/effect');
    await tab.sees('1 guideline measurably helps; 1 may do either, since its interval includes 0. Right of the line is better.');
    await tab.press('Table', 'figure.chart');
    const table = await tab.page.$$eval('figure.chart table tbody tr', (rows) => rows.map((row) => Number(row.children[1].innerText.replace('−', '-').replace(/[+±]/, ''))));
    equal(table, effects.map((one) => Math.round(-1000 * one.difference) / 10), 'percentage points of the table');
    equal(await tab.barriers(), [], 'barriers of the effect');
    equal(sunset, [effects.find((one) => one.guideline.affectedAgents[0] === 'unhelped').guideline.id], 'what is proposed for retirement');
    await tab.go('#/overview');
    await tab.sees('guideline proposed for retirement');
    await tab.go(`#/proposals/effect?agent=unhelped&open=${sunset[0]}`);
    await tab.sees('decisions do not show a benefit');
    equal(await tab.barriers(), [], 'barriers of a guideline');
    await tab.press('Keep', '.panel');
    await tab.fill('reason', 'the law requires it');
    await tab.press('Keep this guideline');
    await tab.sees('Kept: it is proposed for retirement again');
    await comes('the state', async () => (await server.call('LearningService/GetArtifactReport', { artifactId: sunset[0] })).state, 'ARTIFACT_STATE_ACTIVE');
    await tab.until('the panel without the note', () => !document.querySelector('.panel .callout'));
    equal(tab.problems, [], 'problems');
    await tab.close();
  });
}

export const cases = [
  ['organisations are suspended, and deleted by their names', organisations], ['organisations have their states', otherStates], ['what is typed stays while an organisation is being deleted', deletionBeside], ['tokens are replaced', rotatedToken], ['quotas are changed, and undone', quotas],
  ['quotas of other pages of the list are read', quotaOfAnotherPage],
  ['retention shows what it would remove', retention], ['dead letters are tried again', deadLetters], ['the effect of guidelines has intervals', effect],
];
