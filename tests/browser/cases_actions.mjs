// Actions of people in each view, and the data that is stored afterwards.
import { equal, isTrue } from './check.mjs';

const LINE = 'FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED';

async function liveAndRetract({ browser, Tab, server, tokens }) {
  const tab = await (await Tab.open(browser, server.url)).signedIn(tokens.reviewer, '#/corrections');
  const { event } = await server.call('FeedbackService/CaptureFeedbackEvent', { event: { eventType: LINE, actorUserId: 'lena', layoutFingerprint: 'live', documentId: 'live-1', beforeJson: '{"price":1}', afterJson: '{"price":2}' } });
  await tab.sees('lena');
  await tab.go(`#/corrections?open=${event.id}`);
  await tab.until('the panel', () => document.querySelector('.panel-content h2'));
  await tab.press('Retract', '.panel');
  await tab.fill('reason', 'wrong document');
  await tab.press('Retract this correction');
  await tab.sees('Retracted.');
  await tab.sees('wrong document');
  const { event: now } = await server.call('FeedbackService/GetFeedbackEvent', { id: event.id });
  equal([now.retractedBy, now.retractionReason], ['rita', 'wrong document'], 'the retraction');
  equal(tab.problems, [], 'problems');
  await tab.close();
}

async function judgeMappings({ browser, Tab, server, tokens }) {
  const status = async (sku) => (await server.call('MappingService/ListMappings', { customerSkuPrefix: sku })).mappings[0].status.slice('MAPPING_STATUS_'.length);
  const tab = await (await Tab.open(browser, server.url)).signedIn(tokens.operator, '#/mappings?sku=SKU-');
  await tab.key('j', 'k', 'c');
  await tab.sees('1 mapping is being confirmed.');
  await tab.sees('being confirmed');
  await tab.key('u');
  await tab.until('the suggestion', () => !document.querySelector('.list').innerText.includes('being confirmed'));
  await tab.key('c', 'r');
  await tab.until('both', () => document.querySelector('.list').innerText.includes('being rejected'));
  await tab.go('#/overview');
  await tab.until('the confirmation', async (url) => url, server.url);
  for (let tries = 0; tries < 100 && (await status('SKU-01')) !== 'CONFIRMED' && (await status('SKU-00')) !== 'CONFIRMED'; tries += 1) await new Promise((resolve) => setTimeout(resolve, 50));
  equal([await status('SKU-00'), await status('SKU-01'), await status('SKU-02')].sort(), ['CONFIRMED', 'REJECTED', 'SUGGESTED'], 'the first three mappings');
  await tab.go('#/mappings?status=SUGGESTED&customer=C-3');
  await tab.page.$eval('thead input[type=checkbox]', (node) => node.click());
  await tab.press('Confirm', '.bulk');
  await tab.until('the bulk confirmation', () => document.body.innerText.includes('Nothing matches these filters.'));
  isTrue(['CONFIRMED'].includes(await status('SKU-03')), 'SKU-03 is confirmed');
  await tab.go('#/mappings');
  await tab.press('Add');
  await tab.fill('customer_id', 'C-added');
  await tab.fill('customer_sku', 'ADDED-1');
  await tab.fill('internal_sku', 'INT-ADDED');
  await tab.press('Confirm this mapping');
  await tab.sees('Confirmed.');
  equal(await status('ADDED-1'), 'CONFIRMED', 'the added mapping');
  equal(tab.problems, [], 'problems');
  await tab.close();
}

async function submitVerdict({ browser, Tab, server, tokens }) {
  const tab = await (await Tab.open(browser, server.url)).signedIn(tokens.reviewer, '#/verdicts/submit');
  const before = Number((await server.call('VerdictService/GetVerdictStats')).totalFeedback);
  await tab.fill('receipt_id', 'receipt-browser');
  await tab.page.type('.indicators ~ .actions input', 'torn_edge');
  await tab.press('Add indicator');
  await tab.press('Score it');
  await tab.sees('so the verdict is');
  await tab.choose('original_verdict', 'REAL');
  await tab.choose('correct_verdict', 'FAKE');
  await tab.fill('corrections', 'total: 12.40');
  await tab.press('Submit verdict');
  await tab.sees('Verdict on receipt-browser submitted.');
  await tab.sees('torn_edge');
  const rules = (await server.call('VerdictService/ListLearnedRules', { pattern: 'torn_edge' })).rules;
  equal(rules.map((rule) => rule.ruleType).sort(), ['LEARNED_RULE_TYPE_FALSE_NEGATIVE', 'LEARNED_RULE_TYPE_MISSED_INDICATOR'], 'rules learned');
  await tab.press('Undo', '.notes');
  for (let tries = 0; tries < 100 && Number((await server.call('VerdictService/GetVerdictStats')).totalFeedback) !== before; tries += 1) await new Promise((resolve) => setTimeout(resolve, 50));
  equal(Number((await server.call('VerdictService/GetVerdictStats')).totalFeedback), before, 'verdicts after the undo');
  await tab.fill('receipt_id', 'x');
  await tab.fill('original_features_json', '{broken');
  await tab.choose('original_verdict', 'REAL');
  await tab.choose('correct_verdict', 'FAKE');
  await tab.press('Submit verdict');
  await tab.until('the field of the error', () => document.querySelector('[name=original_features_json][aria-invalid]'));
  equal(tab.problems, [], 'problems');
  await tab.close();
}

async function rulesAndWeights({ browser, Tab, server, tokens }) {
  const tab = await (await Tab.open(browser, server.url)).signedIn(tokens.reviewer, '#/verdicts/rules?pattern=font_mismatch&type=FALSE_NEGATIVE');
  const rule = async () => (await server.call('VerdictService/ListLearnedRules', { pattern: 'font_mismatch', ruleType: 'LEARNED_RULE_TYPE_FALSE_NEGATIVE' })).rules[0];
  await tab.page.$eval('.list tbody .row-link', (node) => node.click());
  await tab.until('the switch', () => document.querySelector('.switch'));
  await tab.page.$eval('.switch', (node) => node.click());
  await tab.sees('font_mismatch is switched off.');
  equal((await rule()).enabled, undefined, 'the switch');
  await tab.until('the switch that is off', () => document.querySelector('.switch[aria-checked=false]'));
  await tab.key('u');
  await tab.until('the switch that is on again', () => document.querySelector('.switch[aria-checked=true]'));
  equal((await rule()).enabled, true, 'the switch');
  await tab.press('Run over the stored verdicts');
  await tab.sees('stored verdicts it matches');
  for (const state of ['false', 'true']) { // a panel that is filled again keeps the backtest
    await tab.page.$eval('.switch', (node) => node.click());
    await tab.until(`the switch at ${state}`, (wanted) => document.querySelector(`.switch[aria-checked=${wanted}]`), state);
    await tab.sees('stored verdicts it matches');
  }
  const weight = (await rule()).confidenceAdjustment;
  await tab.go('#/verdicts/weights');
  await tab.page.$eval('tbody input[type=checkbox]', (node) => node.click());
  await tab.press('Preview', '.bulk');
  await tab.sees('1 weight would change');
  equal((await rule()).confidenceAdjustment, weight, 'a preview changes nothing');
  await tab.fill('reason', 'measured');
  await tab.press('Apply 1 weight');
  await tab.sees('1 weight applied.');
  await tab.go('#/verdicts/rules?state=PROPOSED');
  await tab.page.$eval('.list tbody .row-link', (node) => node.click());
  await tab.until('the panel', () => document.querySelector('.panel-content h2'));
  await tab.press('Try in shadow');
  await tab.fill('reason', 'to see what it would do');
  await tab.press('Try in shadow', '.panel form');
  await tab.sees('The rule is shadow now.');
  await tab.go('#/verdicts/rules');
  await tab.press('Propose a rule');
  await tab.fill('pattern', 'total>1000');
  await tab.fill('reason', 'large totals');
  await tab.press('Propose');
  await tab.sees('Proposed. It has no effect');
  await tab.go('#/verdicts/find');
  await tab.press('Search');
  await tab.sees('Nothing found.');
  equal(tab.problems, [], 'problems');
  await tab.close();
}

async function reviewRuns({ browser, Tab, server, tokens }) {
  const tab = await (await Tab.open(browser, server.url)).signedIn(tokens.reviewer, '#/reviews?open=run-9');
  await tab.until('the form', () => document.querySelector('.panel form'));
  equal(await tab.page.$eval('[name=subcategory]', (node) => node.value), 'drills', 'the subcategory of the item');
  await tab.choose('decision', 'CHANGES_REQUESTED');
  await tab.choose('bad_format', 'yes');
  await tab.fill('missing_spec', 'torque, weight');
  await tab.press('Submit review');
  await tab.sees('Review of run-9 submitted.');
  const { run } = await server.call('ReviewService/GetRun', { runId: 'run-9' });
  equal([run.newestReview.badFormat, run.newestReview.missingSpec, run.newestReview.reviewedBy], [true, ['torque', 'weight'], 'rita'], 'the review');
  await tab.go('#/reviews');
  await tab.until('the queue', () => document.querySelector('.list tbody tr.is-here'));
  const quick = await tab.page.$eval('.list tbody tr.is-here', (row) => row.dataset.key);
  const reviews = async () => ((await server.call('ReviewService/ListReviews', { runId: quick })).reviews || []).filter((one) => !one.retractedAt).length;
  const had = await reviews();
  await tab.key('c');
  await tab.sees(`${quick} is reviewed.`);
  equal(await reviews(), had + 1, 'the review without findings');
  await tab.key('u');
  for (let tries = 0; tries < 100 && (await reviews()) !== had; tries += 1) await new Promise((resolve) => setTimeout(resolve, 50));
  equal(await reviews(), had, 'reviews after the undo');
  await tab.go('#/reviews/all?run=run-9');
  await tab.page.$eval('.list tbody .row-link', (node) => node.click());
  await tab.until('the panel', () => document.querySelector('.panel-content h2'));
  await tab.key('r');
  await tab.fill('reason', 'wrong run');
  await tab.press('Retract this review');
  await tab.sees('Retracted.');
  await tab.go('#/reviews/wording?open=1');
  await tab.until('the panel', () => document.querySelector('.panel-content h2'));
  await tab.press('Edit a copy');
  await tab.fill('text_0', 'Keep to the schema.');
  await tab.fill('comment', 'from the page');
  await tab.press('Store as a draft');
  await tab.sees('Draft 2 is stored.');
  await tab.sees('from the page');
  await tab.key('c');
  await tab.sees('Version 2 is in use.');
  const { fragmentSets } = await server.call('ReviewService/ListFragmentSets', { pageSize: 1 });
  equal([fragmentSets[0].state, fragmentSets[0].fragments[0].text], ['FRAGMENT_SET_STATE_APPROVED', 'Keep to the schema.'], 'the wording');
  await tab.go('#/reviews/agent?subcategory=drills');
  equal(tab.problems, [], 'problems');
  await tab.close();
}

async function administer({ browser, Tab, server }) {
  const tab = await (await Tab.open(browser, server.url)).signedIn(server.admin, '#/administration/tokens');
  await tab.press('Create token');
  await tab.fill('role', 'OPERATOR');
  await tab.fill('user_id', 'made-here');
  await tab.press('Create token', '.card form');
  await tab.sees('The token is shown only now:');
  const secret = (await tab.text('.secret')).trim();
  isTrue((await server.call('FeedbackService/ListFeedbackEvents', { pageSize: 1 }, secret)).events.length === 1, 'the token works');
  await tab.press('Done');
  await tab.sees('made-here');
  await tab.page.evaluate(() => { const row = [...document.querySelectorAll('.list tbody tr')].find((one) => one.innerText.includes('made-here')); [...row.querySelectorAll('button')].find((one) => one.innerText === 'Revoke').click(); row.querySelector('.button.danger').click(); });
  await tab.sees('is revoked.');
  const refused = await server.call('FeedbackService/ListFeedbackEvents', { pageSize: 1 }, secret).catch((error) => error.message);
  isTrue(String(refused).includes('unauthenticated'), 'the revoked token is refused');
  await server.call('AdminService/SetQuota', { quota: { pdfJobs: 50, storedBytes: 1 << 30 } });
  await tab.go('#/administration/quotas');
  await tab.sees('0 of 50');
  await tab.sees('of 1.0 GiB');
  await tab.go('#/administration/settings');
  await tab.fill('holdout_percent', '20');
  const { settings: before } = await server.call('AdminService/GetSettings');
  await server.call('AdminService/UpdateSettings', { settings: { fakeAt: 0.7 } });
  await tab.press('Save settings');
  await tab.sees('Settings saved.');
  equal((await server.call('AdminService/GetSettings')).settings.holdoutPercent, 20, 'the setting');
  await server.call('AdminService/UpdateSettings', { settings: { contentRetention: { verdictsDays: 700 } } });
  await tab.press('Undo', '.notes');
  for (let tries = 0; tries < 100 && (await server.call('AdminService/GetSettings')).settings.holdoutPercent; tries += 1) await new Promise((resolve) => setTimeout(resolve, 50));
  equal((await server.call('AdminService/GetSettings')).settings.holdoutPercent, 0, 'the setting after the undo');
  const { settings: after } = await server.call('AdminService/GetSettings');
  equal([after.fakeAt, after.contentRetention.verdictsDays], [0.7, 700], 'settings that others changed meanwhile');
  await server.call('AdminService/UpdateSettings', { settings: { fakeAt: before.fakeAt, contentRetention: before.contentRetention } });
  await tab.go('#/administration/settings');
  await tab.fill('suspicious_at', '0.9');
  await tab.fill('fake_at', '0.1');
  await tab.press('Save settings');
  await tab.until('the error', () => document.querySelector('.form-problem .error-box'));
  equal(await tab.page.$eval('[name=suspicious_at]', (node) => node.value), '0.9', 'what was typed');
  await tab.go('#/administration/organisations');
  await tab.go('#/administration/settings');
  await tab.fill('gates', 'HITL-1');
  await tab.press('Save settings');
  await tab.until('the error beside the field of the gates', () => document.querySelector('[name=gates][aria-invalid]'));
  await tab.go('#/administration/organisations');
  await tab.press('Create');
  await tab.fill('name', 'second');
  await tab.press('Create', '.card form');
  await tab.sees('second was created.');
  equal(tab.problems, [], 'problems');
  await tab.close();
}

async function explain({ browser, Tab, server, reference }) {
  const tab = await (await Tab.open(browser, server.url)).signedIn(server.admin, '#/explain');
  await tab.fill('reference', 'forged');
  await tab.press('Explain', 'main');
  await tab.until('the refusal', () => document.querySelector('main .error-box'));
  await tab.page.$eval('[name=reference]', (node, value) => { node.value = value; }, reference);
  await tab.press('Explain', 'main');
  await tab.sees('2 artifacts were in it');
  await tab.sees('Outcomes that cite it');
  isTrue((await tab.hash()).includes('ref='), 'the reference is in the address');
  await tab.close();
}

const RULES = ['Answer in English.', 'Cite every source.', 'Round prices to cents.', 'Name the unit of each size.', 'Keep the order of lines.'];

// Votes on five proposals, one after the other.
async function voteByKeyboard(tab, server, operator) {
  const proposals = [];
  for (const ruleContent of RULES) {
    proposals.push((await server.call('GuidelineService/ProposeGuideline', { proposal: { ruleType: 'RULE_TYPE_GUIDELINE', ruleContent, affectedAgents: ['keys-agent'] } }, operator)).proposal.id);
  }
  const votes = async () => (await Promise.all(proposals.map((id) => server.call('GuidelineService/GetProposal', { id })))).reduce((sum, reply) => sum + (reply.proposal.votes || []).length, 0);
  await tab.key('g', 'p');
  await tab.until('the proposals', () => location.hash === '#/proposals' && document.querySelector('.list tbody tr'));
  await tab.key('/');
  await tab.page.keyboard.type('keys-agent');
  await tab.until('five proposals', () => location.hash.includes('agent=keys-agent') && document.querySelectorAll('.list tbody tr').length === 5);
  await tab.ready();
  await tab.key('Escape', 'Enter');
  for (let number = 1; number <= RULES.length; number += 1) {
    await tab.until('the panel', () => document.querySelector('.panel .actions .primary'));
    await tab.ready();
    const open = await tab.hash();
    await tab.key('c');
    for (let tries = 0; tries < 200 && (await votes()) < number; tries += 1) await new Promise((resolve) => setTimeout(resolve, 50));
    equal(await votes(), number, 'votes');
    await tab.ready();
    await tab.key('j');
    if (number < RULES.length) await tab.until('the next proposal', (before) => location.hash !== before, open);
  }
}

// A session by keyboard only: 20 corrections, 5 proposals, 5 verdicts; the mouse is never used.
async function byKeyboard({ browser, Tab, server, tokens }) {
  for (let number = 0; number < 20; number += 1) {
    await server.call('FeedbackService/CaptureFeedbackEvent', { event: { eventType: LINE, actorUserId: 'kim', layoutFingerprint: 'keys', documentId: `keys-${number}`, beforeJson: `{"qty":${number}}`, afterJson: `{"qty":${number + 1}}` } });
  }
  const tab = await (await Tab.open(browser, server.url)).signedIn(tokens.reviewer);
  await tab.key('g', 'c');
  await tab.until('the corrections', () => location.hash === '#/corrections' && document.querySelector('.list tbody tr'));
  await tab.ready();
  await tab.key('/');
  await tab.key('Tab', 'Tab');
  await tab.page.keyboard.type('kim');
  await tab.until('the filter', () => location.hash.includes('actor=kim') && document.querySelectorAll('.list tbody tr').length === 20);
  await tab.ready();
  await tab.key('Escape', 'Enter');
  await tab.until('the first panel', () => document.querySelector('.panel-content h2'));
  for (let number = 0; number < 19; number += 1) {
    const open = await tab.hash();
    if (number === 7) {
      await tab.key('r');
      await tab.until('the reason', () => document.activeElement.name === 'reason');
      await tab.page.keyboard.type('reviewed: it was right before');
      await tab.key('Tab', 'Enter');
      await tab.sees('Retracted.');
      await tab.until('the retracted panel', () => document.querySelector('.panel .callout.wrong'));
    }
    await tab.key('c');
    await tab.until('the next correction', (before) => location.hash !== before && document.querySelector('.panel-content h2'), open);
  }
  const { events } = await server.call('FeedbackService/ListFeedbackEvents', { actorUserId: 'kim', pageSize: 50 });
  equal(events.filter((event) => event.retractedAt).map((event) => event.documentId), ['keys-12'], 'the retracted correction');
  await voteByKeyboard(tab, server, tokens.operator);
  await tab.key('g', 'v');
  await tab.until('the verdicts', () => location.hash === '#/verdicts');
  await tab.ready();
  await tab.page.evaluate(() => { [...document.querySelectorAll('.tabs a')].find((one) => one.innerText === 'New verdict').focus(); });
  await tab.key('Enter');
  await tab.until('the form', () => document.querySelector('[name=receipt_id]'));
  for (let number = 0; number < 5; number += 1) {
    await tab.key('/');
    await tab.until('the first field', () => document.activeElement.name === 'receipt_id');
    await tab.page.keyboard.type(`keys-receipt-${number}`);
    await tab.key('Tab', 'Tab', 'Space', 'Tab', 'Space', 'ArrowRight', 'ArrowRight', 'Tab');
    await tab.page.keyboard.type('folded_corner');
    await tab.key('Enter');
    await tab.page.keyboard.down('Control');
    await tab.key('Enter');
    await tab.page.keyboard.up('Control');
    await tab.sees(`Verdict on keys-receipt-${number} submitted.`);
    await tab.key('Escape');
  }
  const rule = (await server.call('VerdictService/ListLearnedRules', { pattern: 'folded_corner', ruleType: 'LEARNED_RULE_TYPE_FALSE_NEGATIVE' })).rules[0];
  equal(rule.learnedFromFeedbackCount, '5', 'verdicts that the rule was learned from');
  await tab.key('?');
  await tab.until('the keys', () => document.querySelector('dialog.keys[open]'));
  equal(await tab.barriers(), [], 'barriers of the list of keys');
  await tab.key('Escape');
  await tab.until('the end of the list', () => !document.querySelector('dialog'));
  equal(tab.problems, [], 'problems');
  await tab.close();
}

export const cases = [
  ['a correction appears live, and is retracted', liveAndRetract], ['mappings are judged, and undone', judgeMappings], ['a verdict is submitted, and undone', submitVerdict],
  ['rules are switched, tried and proposed, weights applied', rulesAndWeights], ['runs are reviewed, wording is approved', reviewRuns], ['tokens, settings and organisations', administer],
  ['a reference is explained', explain], ['a session by keyboard only', byKeyboard],
];
