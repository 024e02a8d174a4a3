// A real erratad in a folder of its own, and calls to it by Connect JSON.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const START_MS = 30000;
const STEP_MS = 30;

export class Refused extends Error {}

export class Server {
  constructor(bin, data = fs.mkdtempSync(path.join(os.tmpdir(), 'errata-browser-')), { words = [], environment = {} } = {}) {
    this.bin = bin;
    this.data = data;
    this.words = words;
    this.environment = environment;
    this.log = fs.openSync(path.join(os.tmpdir(), `errata-browser-${process.pid}.log`), 'a');
  }

  // Starts it; the second time at the port of the first.
  async start() {
    const file = path.join(this.data, 'address');
    fs.rmSync(file, { force: true });
    this.process = spawn(path.join(this.bin, 'erratad'), ['--data', this.data, '--listen', this.address || '127.0.0.1:0', ...this.words], { stdio: ['ignore', this.log, this.log], env: { ...process.env, ...this.environment } });
    const end = Date.now() + START_MS;
    while (!fs.existsSync(file) || fs.readFileSync(file, 'ascii').trim() === '') {
      if (Date.now() > end || this.process.exitCode !== null) throw new Error('erratad did not start');
      await new Promise((resolve) => setTimeout(resolve, STEP_MS));
    }
    this.address = fs.readFileSync(file, 'ascii').trim();
    this.admin = fs.readFileSync(path.join(this.data, 'admin.token'), 'ascii').trim();
    return this;
  }

  get url() {
    return `http://${this.address}/`;
  }

  // Calls a method; an error has the code and the message of the refusal.
  async call(method, request = {}, token = this.admin) {
    const response = await fetch(`${this.url}${method.includes('.') ? method : `errata.v1.${method}`}`, {
      method: 'POST', headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` }, body: JSON.stringify(request),
    });
    const reply = await response.json();
    if (!response.ok) throw new Refused(`${method}: ${reply.code}: ${reply.message}`);
    return reply;
  }

  async token(role, userId) {
    return (await this.call('AdminService/CreateToken', { token: { role: `ROLE_${role}`, userId } })).secret;
  }

  stop() {
    if (!this.process || this.process.exitCode !== null) return Promise.resolve(0);
    return new Promise((resolve) => {
      this.process.once('exit', (code) => resolve(code));
      this.process.kill('SIGTERM');
    });
  }

  async close() {
    const code = await this.stop();
    fs.rmSync(this.data, { recursive: true, force: true });
    return code;
  }
}
