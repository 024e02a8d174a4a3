// node drive.mjs ALLOWED FOREIGN ADDRESS TOKEN_FILE: opens the page in Chromium from an origin that erratad allows, runs the
// checks there, then calls from an origin that it does not allow. The last line counts the checks.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { launch } from './browser.mjs';

const [allowed, foreign, address, tokenFile] = process.argv.slice(2);
const input = { url: `http://${address}`, token: fs.readFileSync(tokenFile, 'ascii').trim(), descriptors: '/descriptors.binpb' };

async function inPage(browser, origin, name) {
  const page = await browser.newPage();
  page.on('pageerror', (error) => console.log(`page: ${error}`));
  await page.goto(`${origin}/page.html`);
  return page.evaluate(async (call, given) => (await import('/checks.mjs'))[call](given), name, input);
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'errata-grpc-web-'));
const browser = await launch(folder);
let result;
try {
  result = await inPage(browser, allowed, 'run');
  if (await inPage(browser, foreign, 'isRefused')) result.passed += 1;
  else result.failed.push('a foreign origin was served');
} finally {
  await browser.close();
  fs.rmSync(folder, { recursive: true, force: true });
}
for (const line of result.failed) console.log(`FAILED ${line}`);
console.log(`${result.passed} passed, ${result.failed.length} failed`);
process.exit(result.failed.length > 0 || result.passed === 0 ? 1 : 0);
