// What the cases expect, with the reason if it is not so.
export function equal(found, wanted, what) {
  if (JSON.stringify(found) !== JSON.stringify(wanted)) throw new Error(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`);
}

export function isTrue(value, what) {
  if (!value) throw new Error(what);
}
