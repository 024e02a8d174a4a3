// Addresses of the page: `#/view/part?name=value`. Every state that a person would like to return to, or to
// send to a colleague, is in it.

const listeners = new Set();

export function parseRoute(hash = location.hash) {
  const [path, query] = hash.replace(/^#\/?/, '').split('?');
  const parts = path.split('/').filter(Boolean).map(decode);
  return { view: parts[0] || 'overview', part: parts[1] || '', parameters: new URLSearchParams(query || '') };
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// The address of a view with parameters; those without a value are left out.
export function href(path, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== null && value !== '' && value !== false) query.set(name, value);
  }
  const text = query.toString();
  return `#/${path}${text ? `?${text}` : ''}`;
}

// The present address with some parameters changed.
export function changed(changes) {
  const route = parseRoute();
  const all = { ...Object.fromEntries(route.parameters), ...changes };
  return href(route.part ? `${route.view}/${encodeURIComponent(route.part)}` : route.view, all);
}

export function go(address, { replace = false } = {}) {
  if (address === location.hash) return;
  if (replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  listeners.forEach((listener) => listener(parseRoute()));
}

export function onRoute(listener) {
  if (listeners.size === 0) {
    for (const event of ['popstate', 'hashchange']) {
      window.addEventListener(event, () => listeners.forEach((one) => one(parseRoute())));
    }
  }
  listeners.add(listener);
}
