// One tab of the browser: opens views like a person, and returns the displayed text.
import fs from 'node:fs';
import { createRequire } from 'node:module';

const AXE = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const WAIT_MS = 20000;

export class Tab {
  constructor(page, url) {
    this.page = page;
    this.url = url;
    this.problems = [];
    page.on('pageerror', (error) => this.problems.push(`error in the page: ${error.message}`));
    page.on('dialog', (dialog) => { this.problems.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
    page.on('console', (message) => {
      const text = message.text();
      if (message.type() === 'error' && !/Failed to load resource/.test(text)) this.problems.push(`console: ${text}`);
    });
    page.on('request', (request) => {
      const to = request.url();
      if (!to.startsWith(this.url) && !/^(blob|data|about):/.test(to)) this.problems.push(`request to ${to}`);
    });
  }

  static async open(browser, url, { width = 1440, height = 900 } = {}) {
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    await page.setViewport({ width, height });
    return new Tab(page, url);
  }

  // Opens the page signed in, as a reload of a tab with a token does.
  async signedIn(token, route = '#/overview') {
    await this.page.goto(`${this.url}healthz`);
    await this.page.evaluate((text) => sessionStorage.setItem('errata.token', text), token);
    await this.page.goto(this.url + route);
    await this.ready();
    return this;
  }

  async go(route) {
    await this.page.evaluate((hash) => { location.hash = hash; }, route);
    await this.ready();
  }

  // Waits until nothing is being loaded.
  async ready() {
    await this.page.waitForFunction(() => document.querySelector('h1') && !document.querySelector('.loading, [aria-busy=true]'), { timeout: WAIT_MS, polling: 30 });
  }

  async until(what, condition, ...values) {
    try {
      await this.page.waitForFunction(condition, { timeout: WAIT_MS, polling: 30 }, ...values);
    } catch (error) {
      throw new Error(`${what} did not happen; the page shows: ${(await this.text('main')).slice(0, 700)} (${error.message})`);
    }
  }

  text(selector = 'body') {
    return this.page.$eval(selector, (node) => node.innerText);
  }

  count(selector) {
    return this.page.$$eval(selector, (nodes) => nodes.length);
  }

  sees(text) {
    return this.until(`"${text}"`, (wanted) => document.body.innerText.includes(wanted), text);
  }

  hash() {
    return this.page.evaluate(() => location.hash);
  }

  // Presses a button or link by its text.
  async press(text, within = 'body') {
    await this.until(`a button "${text}"`, (wanted, place) => {
      const found = [...document.querySelectorAll(`${place} button, ${place} a, ${place} summary`)].find((node) =>
        node.offsetParent !== null && node.innerText.replace(/\s+/g, ' ').trim().replace(/ [a-z?]$/, '') === wanted);
      if (found) found.click();
      return found;
    }, text, within);
  }

  async key(...keys) {
    for (const one of keys) await this.page.keyboard.press(one);
  }

  async fill(name, value) {
    const field = await this.page.waitForSelector(`[name="${name}"]`, { visible: true, timeout: WAIT_MS });
    const kind = await field.evaluate((node) => node.tagName + (node.type || ''));
    if (kind.startsWith('SELECT')) await field.select(value);
    else {
      await field.evaluate((node) => { node.value = ''; node.dispatchEvent(new Event('input', { bubbles: true })); });
      await field.type(value);
    }
  }

  async choose(name, value) {
    await this.page.$eval(`input[name="${name}"][value="${value}"]`, (node) => node.click());
  }

  theme(name) {
    return this.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: name }, { name: 'prefers-reduced-motion', value: 'reduce' }]);
  }

  // Barriers that axe finds, as sentences.
  async barriers(rules) {
    if (!(await this.page.evaluate(() => Boolean(window.axe)))) await this.page.evaluate(AXE);
    const found = await this.page.evaluate(async (only) => {
      const result = await window.axe.run(document, only ? { runOnly: only } : { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] });
      return result.violations.map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.any.map((any) => any.message).join(' ').slice(0, 200)}`).join(' | ')}`);
    }, rules);
    return found;
  }

  async close() {
    await this.page.browserContext().close();
  }
}
