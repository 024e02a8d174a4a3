// Chromium, without a window and without anything of its own that would use the network.
import puppeteer from 'puppeteer-core';

const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

// `folder` is a new, empty profile.
export function launch(folder) {
  return puppeteer.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', headless: true, args: FLAGS, userDataDir: folder });
}
