// What every object inherits, as it was before anything else was loaded: import this first.
const WATCHED = { "Object.prototype": Object.prototype, "Array.prototype": Array.prototype, "Function.prototype": Function.prototype };
const snapshot = () => Object.fromEntries(Object.entries(WATCHED).map(([name, prototype]) => [name, Object.getOwnPropertyDescriptors(prototype)]));
const before = snapshot();

const same = (one, two) => one !== undefined && two !== undefined && ["value", "get", "set", "writable", "enumerable", "configurable"].every((part) => Object.is(one[part], two[part]));

/** Every property that was added, changed or taken since; a prototype that got another prototype. */
export function changedPrototypes() {
  const changed = [];
  const now = snapshot();
  for (const [name, old] of Object.entries(before)) {
    const keys = new Set([...Reflect.ownKeys(old), ...Reflect.ownKeys(now[name])]);
    for (const key of keys) if (!same(Object.getOwnPropertyDescriptor(old, key)?.value, Object.getOwnPropertyDescriptor(now[name], key)?.value)) changed.push(`${name}[${String(key)}]`);
    const parent = Object.getPrototypeOf(WATCHED[name]);
    if (parent !== (name === "Object.prototype" ? null : Object.prototype)) changed.push(`${name} inherits from something else`);
  }
  return changed;
}
