// run.mjs BIN PDF [CASE+CASE...]: starts a server and one browser, and runs the cases; those whose names contain one of CASE.
// A case that cannot run here returns the reason; it counts as skipped.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Server } from './server.mjs';
import { Tab } from './page.mjs';
import { seed } from './seed.mjs';
import { launch } from './browser.mjs';
import { cases as views } from './cases_views.mjs';
import { cases as actions } from './cases_actions.mjs';
import { cases as signIn } from './cases_sign_in.mjs';
import { cases as proposals } from './cases_proposals.mjs';
import { cases as sessions } from './cases_sessions.mjs';
import { cases as administration } from './cases_administration.mjs';
import { cases as audit } from './cases_audit.mjs';

const SKIPPED = 77; // exit code if no case could run

// Cases of services that this server may not have.
async function optional(server) {
  const has = async (method) => (await fetch(`${server.url}errata.v1.${method}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })).status !== 404;
  if (await has('TurnService/ListTurns')) return sessions;
  console.log('skipped the cases of TurnService, which this server does not have');
  return [];
}

async function main([bin, pdf, only = '']) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'errata-chromium-'));
  const server = await new Server(bin).start();
  const browser = await launch(folder);
  let passed = 0;
  let skipped = 0;
  let failed = 0;
  try {
    const seeded = await seed(server, pdf);
    for (const [name, run] of [...views, ...actions, ...proposals, ...administration, ...audit, ...await optional(server), ...signIn].filter(([one]) => only.split('+').some((part) => one.includes(part)))) {
      const began = Date.now();
      try {
        const reason = await run({ browser, Tab, server, bin, ...seeded });
        if (reason) skipped += 1;
        else passed += 1;
        console.log(reason ? `skipped ${name}: ${reason}` : `ok      ${name} (${Date.now() - began} ms)`);
      } catch (error) {
        failed += 1;
        console.log(`FAILED  ${name} (${Date.now() - began} ms)\n${error.stack}`);
      }
    }
  } finally {
    await browser.close();
    fs.rmSync(folder, { recursive: true, force: true });
    const code = await server.close();
    if (code !== 0) { failed += 1; console.log(`erratad ended with ${code}`); }
  }
  console.log(`${passed} passed, ${skipped} skipped, ${failed} failed`);
  if (failed || !(passed + skipped)) return 1;
  return passed ? 0 : SKIPPED;
}

process.exit(await main(process.argv.slice(2)));
