// Every text of the page passes through t(): the English text is the key. A table of another language maps
// it to a text with the same {names}; texts that a table lacks are shown in English.

const tables = {};
let language = 'en';

export function addLanguage(name, table) {
  tables[name] = table;
}

// Chooses the best known language of a list such as navigator.languages.
export function chooseLanguage(wanted) {
  language = wanted.map((one) => one.slice(0, 2).toLowerCase()).find((one) => one === 'en' || tables[one]) || 'en';
  document.documentElement.lang = language;
  return language;
}

export function currentLanguage() {
  return language;
}

export function t(text, values) {
  const found = (tables[language] && tables[language][text]) || text;
  if (!values) return found;
  return found.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

// Chooses between the texts for one and for many.
export function tn(number, one, many, values) {
  return t(number === 1 ? one : many, { n: number.toLocaleString(language), ...values });
}
