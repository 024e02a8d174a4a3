// The caller's token: in memory, and in the session storage of this tab, so that a reload keeps it. It is
// never in an address, a cookie, or the local storage.

const NAME = 'errata.token';
const SHAPE = /^errata_([0-9a-f]{8})_[A-Za-z0-9_-]{43}$/;

let token = '';
let role = '';
let renewing = null;
let ask = null;

try {
  token = sessionStorage.getItem(NAME) || '';
} catch { /* a browser without storage keeps it in memory only */ }

export function isToken(text) {
  return SHAPE.test(text);
}

export function currentToken() {
  return token;
}

export function keyId() {
  const match = SHAPE.exec(token);
  return match ? match[1] : '';
}

export function setToken(text) {
  token = text;
  try {
    if (text) sessionStorage.setItem(NAME, text);
    else sessionStorage.removeItem(NAME);
  } catch { /* see above */ }
}

export function setRole(name) {
  role = name;
}

// ROLE_ADMIN and the like; empty while it is not known.
export function currentRole() {
  return role;
}

export function hasRole(...roles) {
  return role === '' || roles.includes(role);
}

// The function that requests a new token when the server refuses the current one; it returns a promise.
export function onExpired(asker) {
  ask = asker;
}

// All refused calls wait for the same new token.
export function renewToken() {
  if (!renewing) renewing = ask().finally(() => { renewing = null; });
  return renewing;
}
