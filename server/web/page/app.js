// The page: sign-in, the frame around every view, and the keys that work everywhere.

import { h, icon, show } from './core/dom.js';
import { t, chooseLanguage } from './core/words.js';
import { parseRoute, onRoute, href, go } from './core/route.js';
import { addKeys, allKeys, listenToKeys } from './core/keys.js';
import { read, onReachable } from './core/call.js';
import { currentToken, setToken, keyId, isToken, setRole, currentRole, onExpired } from './core/session.js';
import { startLive, stopLive, onLiveState } from './core/live.js';
import { notesRegion, undoLast, forgetUndos } from './core/notes.js';
import { errorBox, loading, button } from './parts/frame.js';
import { form, field } from './parts/form.js';
import { VIEWS } from './views/index.js';

const app = document.getElementById('app');
const THEMES = ['auto', 'light', 'dark'];
let frame = null; // the elements of the signed-in page
let shown = null; // {id, close, update} of the present view
const missing = new Set(VIEWS.filter((view) => view.needs).map((view) => view.id)); // until the server is known to have them

// --- appearance ---

function stored(name) {
  try { return localStorage.getItem(name); } catch { return null; }
}

function setTheme(theme) {
  if (theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try { localStorage.setItem('errata.theme', theme); } catch { /* applies to this page only, then */ }
}

function themeName(theme) {
  return { auto: t('System colours'), light: t('Light'), dark: t('Dark') }[theme];
}

function themeSwitch() {
  const current = THEMES.includes(stored('errata.theme')) ? stored('errata.theme') : 'auto';
  return h('label', { class: 'theme' }, icon('moon'), h('span', { class: 'visually-hidden' }, t('Appearance')),
    h('select', { on: { change: (event) => setTheme(event.target.value) } }, THEMES.map((one) => h('option', { value: one, selected: one === current }, themeName(one)))));
}

// --- the caller ---

// Tries a token: an error unless the server accepts it. The refusal of an administrative method names the role.
async function learnRole() {
  await read('EventService/ListEvents', { pageSize: 1 }, { once: true });
  try {
    await read('AdminService/GetSettings', {}, { once: true });
    setRole('ADMIN');
  } catch (error) {
    const match = /the role ([A-Z]+) may not/.exec(error.message);
    setRole(match ? match[1] : '');
  }
  await learnViews();
}

// Determines the views for whose methods this server has an implementation.
async function learnViews() {
  await Promise.all(VIEWS.filter((view) => view.needs).map(async (view) => {
    try {
      await read(view.needs, { pageSize: 1 }, { once: true });
      missing.delete(view.id);
    } catch (error) {
      if (error.code !== 'unimplemented') missing.delete(view.id);
    }
  }));
}

function showViews() {
  document.querySelectorAll('[data-view]').forEach((link) => { link.parentNode.hidden = missing.has(link.dataset.view); });
}

function signInForm(done, lead) {
  const input = field({ name: 'token', label: t('Token'), kind: 'password', required: true,
    help: t('The first start of the server wrote one to admin.token in its data folder; `errata token create` makes more.') });
  return form({
    fields: [lead && h('p', null, lead), input], submit: t('Sign in'), keep: true,
    run: async ({ token }) => {
      if (!isToken(token)) throw new Error(t('This is not a token: it begins with errata_ and has 59 characters.'));
      const before = currentToken();
      setToken(token);
      try {
        await Promise.race([learnRole(), refusal()]);
      } catch (error) {
        setToken(before);
        throw error;
      }
      done();
    },
  });
}

// While a token is tried, its refusal is shown in the form, without another prompt.
let refuse = null;
function refusal() {
  return new Promise((resolve, reject) => { refuse = reject; });
}

function showSignIn() {
  closeView();
  frame = null;
  document.title = t('Sign in – Errata');
  const place = h('main', { class: 'sign-in' },
    h('div', { class: 'brand large' }, mark(), h('span', null, 'Errata')),
    h('h1', { tabindex: '-1' }, t('Sign in')),
    h('p', { class: 'lead' }, t('Corrections that people made, and what was learned from them.')),
    signInForm(() => { refuse = null; showFrame(); }),
    h('p', { class: 'muted small' }, t('The token stays in this tab: it is forgotten when you sign out or close it.')));
  show(app, place, notesRegion());
  place.querySelector('input').focus();
}

// Called if the server refuses the token during work: requests another one over the view, which keeps all input.
function askAgain() {
  if (refuse) {
    refuse(new Error(t('The server does not accept this token: it is unknown, revoked or expired.')));
    return new Promise(() => {});
  }
  stopLive();
  return new Promise((resolve) => {
    const dialog = h('dialog', { class: 'dialog', 'aria-label': t('Sign in again') });
    const done = () => { refuse = null; dialog.close(); dialog.remove(); startLive(); resolve(); };
    dialog.append(h('h2', null, t('Sign in again')),
      signInForm(done, t('The server no longer accepts this token: it expired or was revoked. What you typed is still here; the page goes on when you have signed in.')),
      h('div', { class: 'actions' }, button(t('Sign out'), signOut, { kind: 'quiet' })));
    dialog.addEventListener('cancel', (event) => event.preventDefault());
    document.body.append(dialog);
    dialog.showModal();
  });
}

function signOut() {
  setToken('');
  setRole('');
  stopLive();
  forgetUndos();
  document.querySelectorAll('dialog').forEach((one) => one.remove());
  showSignIn();
}

// --- the frame ---

function mark() {
  return h('span', { class: 'mark', 'aria-hidden': 'true' }, h('span', null, 'e'), h('span', { class: 'mark-stroke' }));
}

function navigation() {
  return h('nav', { class: 'nav', 'aria-label': t('Views'), id: 'nav' }, h('ul', null, VIEWS.map((view) =>
    h('li', null, h('a', { href: href(view.id), 'data-view': view.id }, icon(view.id), h('span', null, view.name()))))));
}

function roleText() {
  return currentRole() ? t('{role}, key {key}', { role: currentRole().toLowerCase(), key: keyId() }) : t('key {key}', { key: keyId() });
}

function buildFrame() {
  const main = h('main', { class: 'main', id: 'main' });
  const status = h('span', { class: 'live' });
  const banner = h('div', { class: 'banner', role: 'alert', hidden: true });
  const menu = h('button', { class: 'icon-button menu', type: 'button', 'aria-label': t('Menu'), 'aria-expanded': 'false', 'aria-controls': 'side' }, icon('menu'));
  const side = h('div', { class: 'side', id: 'side' }, navigation(),
    h('div', { class: 'side-foot' }, status, h('span', { class: 'who', title: t('The token of this tab') }, roleText()),
      h('div', { class: 'side-tools' }, themeSwitch(), button(t('Keys'), showKeys, { kind: 'quiet small', key: '?' }), button(t('Sign out'), signOut, { kind: 'quiet small', symbol: 'out' }))));
  const top = h('div', { class: 'top' }, h('a', { class: 'brand', href: href('overview') }, mark(), h('span', null, 'Errata')), menu);
  const open = (on) => { side.classList.toggle('open', on); menu.setAttribute('aria-expanded', String(on)); };
  menu.addEventListener('click', () => open(!side.classList.contains('open')));
  const skip = h('a', { class: 'skip', href: '#main', on: { click: (event) => { event.preventDefault(); focusHeading(); } } }, t('Skip to the view'));
  show(app, skip, h('div', { class: 'shell' }, h('header', { class: 'bar' }, top, side), h('div', { class: 'content' }, banner, main)), notesRegion());
  return { main, banner, status, side, open };
}

function focusHeading() {
  const title = frame.main.querySelector('h1');
  if (title) title.focus({ preventScroll: true });
}

function showFrame() {
  frame = buildFrame();
  showViews();
  startLive();
  showRoute(parseRoute());
}

// --- views ---

function closeView() {
  if (shown) {
    shown.abort.abort();
    if (shown.view && shown.view.close) shown.view.close();
  }
  shown = null;
}

async function showRoute(route) {
  if (!frame) return;
  const entry = VIEWS.find((view) => view.id === route.view) || VIEWS[0];
  frame.open(false);
  const id = `${entry.id}/${route.part}`;
  if (shown && shown.id === id && shown.view && shown.view.update) {
    shown.view.update(route);
    return;
  }
  closeView();
  const abort = new AbortController();
  const mine = { id, abort, view: null };
  shown = mine;
  document.title = `${entry.name()} – Errata`;
  frame.side.querySelectorAll('[data-view]').forEach((link) => {
    if (link.dataset.view === entry.id) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  });
  const root = h('div', { class: `view view-${entry.id}` }, loading());
  show(frame.main, root);
  try {
    const module = await entry.load();
    if (shown !== mine) return;
    mine.view = (await module.open(root, route, abort.signal)) || {};
    if (shown !== mine && mine.view.close) mine.view.close();
  } catch (error) {
    if (abort.signal.aborted) return;
    show(root, h('h1', { tabindex: '-1' }, entry.name()), errorBox(error, () => { shown = null; showRoute(parseRoute()); }));
  }
  if (shown === mine) {
    window.scrollTo(0, 0);
    focusHeading();
  }
}

// --- keys ---

function showKeys() {
  if (document.querySelector('dialog[open]')) return false;
  const dialog = h('dialog', { class: 'dialog keys', 'aria-label': t('Keys') });
  const remove = addKeys(t('Dialog'), [{ key: 'Escape', run: () => dialog.close() }, { key: '?', run: () => dialog.close() }]);
  dialog.append(h('h2', null, t('Keys')), h('div', { class: 'key-groups' }, allKeys().map((layer) => h('section', null, h('h3', null, layer.title),
    h('dl', null, layer.keys.map((one) => h('div', null, h('dt', null, one.key.split(' ').map((part) => h('kbd', null, part === 'Enter' ? 'enter' : part))), h('dd', null, one.label))))))),
  h('div', { class: 'actions' }, button(t('Close'), () => dialog.close())));
  dialog.addEventListener('close', () => { remove(); dialog.remove(); });
  document.body.append(dialog);
  dialog.showModal();
  return true;
}

function pageKeys() {
  return [
    { key: '?', label: t('show all keys'), run: showKeys },
    { key: 'u', label: t('undo the last action'), run: undoLast },
    ...VIEWS.map((view) => ({ key: `g ${view.letter}`, label: t('go to {view}', { view: view.name().toLowerCase() }), run: () => go(href(view.id)) })),
  ];
}

// --- start ---

function start() {
  chooseLanguage(navigator.languages || ['en']);
  setTheme(THEMES.includes(stored('errata.theme')) ? stored('errata.theme') : 'auto');
  window.addEventListener('beforeprint', () => { document.documentElement.dataset.theme = 'light'; });
  window.addEventListener('afterprint', () => setTheme(stored('errata.theme') || 'auto'));
  addKeys(t('Everywhere'), pageKeys());
  listenToKeys();
  onExpired(askAgain);
  onRoute(showRoute);
  onReachable((reachable) => {
    if (!frame) return;
    frame.banner.hidden = reachable;
    show(frame.banner, !reachable && t('The server can’t be reached. Trying again; nothing that you typed is lost.'));
  });
  onLiveState((state) => {
    if (!frame) return;
    frame.status.dataset.state = state;
    show(frame.status, { on: t('Live'), waiting: t('Reconnecting'), off: t('Not live') }[state]);
  });
  if (currentToken()) {
    showFrame();
    learnRole().then(() => { const who = document.querySelector('.who'); if (who) show(who, roleText()); showViews(); }, () => {});
  } else {
    showSignIn();
  }
}

start();
