// Elements of the page. All text is inserted as text nodes: no file of the page parses markup, so
// that text of documents, people and models is never interpreted.

const SVG = 'http://www.w3.org/2000/svg';

function fill(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === '') continue;
    node.append(child instanceof Node ? child : String(child));
  }
  return node;
}

// Makes an element. `on` of the properties has listeners by event; true and false set and leave out an
// attribute.
export function h(name, properties, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(properties || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key === 'on') {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (key === 'value' || key === 'checked') {
      const usual = key === 'value' ? 'defaultValue' : 'defaultChecked';
      if (usual in node) node[usual] = value; // the value to which a reset of the form returns
      node[key] = value;
    } else {
      node.setAttribute(key, value === true ? '' : String(value));
    }
  }
  return fill(node, children);
}

export function svg(name, properties, ...children) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(properties || {})) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(key, String(value));
  }
  return fill(node, children);
}

// Replaces all children.
export function show(node, ...children) {
  node.replaceChildren();
  return fill(node, children);
}

let last = 0;

// A new id, for labels and descriptions.
export function newId(prefix = 'e') {
  last += 1;
  return `${prefix}${last}`;
}

// Lets the browser draw and take input before the next piece of a long loop.
export function breathe() {
  return new Promise((resolve) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => { channel.port1.close(); resolve(); };
    channel.port2.postMessage(0);
  });
}

const ICONS = {
  overview: 'M2.5 9.5 8 4l5.5 5.5M4 8.5V13h8V8.5',
  corrections: 'M3 4.5h10M3 8h5M9 13l2.5-3 2.5 3M3 11.5h3',
  learning: 'M2.5 13h11M4 10.5 7 7l2.5 2L13 4',
  mappings: 'M3 5h6.5M7.5 3l2 2-2 2M13 11H6.5M8.5 9l-2 2 2 2',
  verdicts: 'M8 2.5v11M4 4.5h8M2.5 9 4 4.5 5.5 9a1.6 1.6 0 0 1-3 0M10.5 9 12 4.5 13.5 9a1.6 1.6 0 0 1-3 0',
  reviews: 'M4 2.5h8v11H4zM6 6l1 1 2-2M6 10h4',
  proposals: 'M3 3h10v7H8l-3 3v-3H3z',
  sessions: 'M2.5 3h8v5.5h-5l-3 2.5zM12.5 6h1v7l-2.5-2H7',
  explain: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9M10.5 10.5 13.5 13.5M7 5v.1M7 7v2',
  administration: 'M8 5.700a2.3 2.3 0 1 0 0 4.6 2.3 2.3 0 0 0 0-4.600M8 2v2M8 12v2M2 8h2M12 8h2M3.8 3.800l1.4 1.400M10.8 10.800l1.4 1.400M3.8 12.200l1.4-1.400M10.8 5.200l1.4-1.4',
  close: 'M4 4l8 8M12 4l-8 8',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  check: 'M3 8.5l3.2 3.200L13 5',
  undo: 'M5 3 2.5 5.5 5 8M2.5 5.5H9.5a3.5 3.5 0 0 1 0 7H5',
  download: 'M8 2.5v7M5 7l3 3 3-3M3 13h10',
  table: 'M2.5 3.5h11v9h-11zM2.5 6.5h11M6.5 6.5v6',
  up: 'M8 13V3.5M4 7l4-4 4 4',
  down: 'M8 3v9.5M4 9l4 4 4-4',
  link: 'M6.5 9.5l3-3M7 5l1.5-1.5a2.5 2.5 0 0 1 4 4L11 9M9 11l-1.5 1.5a2.5 2.5 0 0 1-4-4L5 7',
  copy: 'M5.5 5.5h7v7h-7zM3.5 10.5v-7h7',
  moon: 'M12.5 9.5A5 5 0 0 1 6.5 3.5a5 5 0 1 0 6 6',
  out: 'M9.5 3h-6v10h6M6.5 8h7M11 5.5 13.5 8 11 10.5',
};

export function icon(name) {
  return svg('svg', { viewBox: '0 0 16 16', width: 16, height: 16, class: 'icon', 'aria-hidden': 'true' },
    svg('path', { d: ICONS[name] }));
}
