// Signing in and out, tokens that stop being valid, and a server that goes away and comes back.
import { equal, isTrue } from './check.mjs';

async function signIn({ browser, Tab, server }) {
  const tab = await Tab.open(browser, server.url);
  await tab.page.goto(server.url);
  await tab.ready();
  equal(await tab.barriers(), [], 'barriers');
  await tab.fill('token', 'secret');
  await tab.press('Sign in');
  await tab.sees('This is not a token');
  await tab.fill('token', `errata_00000000_${'A'.repeat(43)}`);
  await tab.press('Sign in');
  await tab.sees('The server does not accept this token');
  await tab.fill('token', server.admin);
  await tab.key('Enter');
  await tab.sees('What waits for a person');
  await tab.sees('admin, key');
  const kept = await tab.page.evaluate(() => [sessionStorage.length, JSON.stringify({ ...localStorage }).includes('errata_'), document.cookie, location.href.includes('errata_')]);
  equal(kept, [1, false, '', false], 'where the token is');
  await tab.page.reload();
  await tab.sees('What waits for a person');
  await tab.press('Sign out');
  await tab.sees('The token stays in this tab');
  equal(await tab.page.evaluate(() => sessionStorage.length), 0, 'what is left of the token');
  await tab.page.reload();
  await tab.sees('The token stays in this tab');
  equal(tab.problems, [], 'problems');
  await tab.close();
}

// A token is revoked while a form is filled in: the input is still present after signing in again, and is stored.
async function revoked({ browser, Tab, server }) {
  const first = await server.call('AdminService/CreateToken', { token: { role: 'ROLE_REVIEWER', userId: 'rosa' } });
  const second = await server.token('REVIEWER', 'rosa');
  const tab = await (await Tab.open(browser, server.url)).signedIn(first.secret, '#/reviews/new');
  await tab.fill('run_id', 'run-revoked');
  await tab.fill('subcategory', 'drills');
  await tab.choose('decision', 'REVIEWED');
  await tab.fill('notes', 'typed before the token was revoked');
  await server.call('AdminService/RevokeToken', { keyId: first.token.keyId });
  await tab.press('Submit review');
  await tab.until('the question for another token', () => document.querySelector('dialog[open]'));
  equal(await tab.page.$eval('[name=notes]', (node) => node.value), 'typed before the token was revoked', 'the note');
  await tab.page.type('dialog [name=token]', second);
  await tab.press('Sign in', 'dialog');
  await tab.sees('Review of run-revoked submitted.');
  const { run } = await server.call('ReviewService/GetRun', { runId: 'run-revoked' });
  equal([run.reviewCount, run.newestReview.notes], [1, 'typed before the token was revoked'], 'the stored review');
  equal(tab.problems, [], 'problems');
  await tab.close();
}

// The server is restarted while a form is filled in: the page reports it, and the review is stored
// once, when the server is available again.
async function restarted({ browser, Tab, server }) {
  const tab = await (await Tab.open(browser, server.url)).signedIn(server.admin, '#/reviews/new');
  await tab.fill('run_id', 'run-restart');
  await tab.fill('subcategory', 'drills');
  await tab.choose('decision', 'REJECTED');
  await tab.fill('notes', 'typed before the restart');
  await server.stop();
  await tab.press('Submit review');
  await tab.sees('The server can’t be reached. Trying again; nothing that you typed is lost.');
  equal(await tab.page.$eval('[name=notes]', (node) => node.value), 'typed before the restart', 'the note');
  await server.start();
  await tab.sees('Review of run-restart submitted.');
  await tab.until('the end of the banner', () => document.querySelector('.banner').hidden);
  const { run } = await server.call('ReviewService/GetRun', { runId: 'run-restart' });
  equal(run.reviewCount, 1, 'reviews of the run');
  await server.call('FeedbackService/CaptureFeedbackEvent', { event: { eventType: 'FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED', actorUserId: 'after-restart', layoutFingerprint: 'restart', beforeJson: '{"a":1}', afterJson: '{"a":2}' } });
  await tab.go('#/corrections');
  await tab.sees('after-restart');
  isTrue(tab.problems.length === 0, tab.problems.join());
  await tab.close();
}

// Who leaves the page and comes back has no connection taken by the visits before: a browser has six for a server.
async function visits({ browser, Tab, server }) {
  const tab = await (await Tab.open(browser, server.url)).signedIn(server.admin);
  for (let visit = 0; visit < 9; visit += 1) {
    await tab.until('live events', () => document.querySelector('.live[data-state=on]'));
    await tab.page.goto('about:blank');
    await tab.page.goto(`${server.url}#/corrections`);
    await tab.ready();
  }
  await tab.close();
}

export const cases = [['visits keep no connection', visits], ['signing in and out', signIn], ['a revoked token loses nothing', revoked], ['a restarted server loses nothing', restarted]];
