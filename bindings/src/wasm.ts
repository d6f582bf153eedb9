/**
 * The one instance of the core, and what happens when it traps (design law 2).
 *
 * A thrown anything out of a wasm call is a trap: the border itself never throws. All live objects are then neutralised at once, each
 * answers WASM_TRAP for ever, and the next call gets a new instance of the same module. No object outlives its instance: wasm-bindgen's
 * finalizers would otherwise free an old pointer in new memory.
 *
 * Knows nothing of what is called.
 */
import type { Border, RawObject } from "./border.js";
import { localError } from "./errors.js";
import * as glue from "./generated/glue.js";

const border = glue as unknown as Border;

interface Exports {
  readonly memory: WebAssembly.Memory;
  readonly __wbindgen_start?: () => void;
}

/**
 * Objects of the present generation: those in the memory of the current instance. Being in here is what makes a handle usable. Strong on
 * purpose: their pointers must be forgotten before memory changes.
 */
const live = new Set<RawObject>();
let source: (() => WebAssembly.Module) | undefined;
let compiled: WebAssembly.Module | undefined;
let instance: Exports | undefined;

/** Frees what a program dropped without disposing of it, unless a trap was there first. Some runtimes have no finalizers. */
const dropped =
  typeof FinalizationRegistry === "undefined"
    ? undefined
    : new FinalizationRegistry<RawObject>((raw) => {
        if (live.delete(raw)) guarded(() => { raw.free(); });
      });

/** Says where the module comes from. It is compiled at first use and kept. The first source stays: entries of one package share one core. */
export function provide(module: () => WebAssembly.Module): void {
  source ??= module;
}

/** Hands over a compiled module (the slim entry). */
export function init(module: object): void {
  const given = module as WebAssembly.Module;
  if (compiled === given) return;
  if (compiled !== undefined || source !== undefined) throw localError("INVALID_STATE", "init(module) was called before with another module");
  compiled = given;
}

function current(): Exports {
  if (instance !== undefined) return instance;
  if (compiled === undefined) {
    if (source === undefined) throw localError("NOT_INITIALIZED", "call init(module) before anything else");
    try {
      compiled = source();
    } catch (error) {
      throw localError("NOT_INITIALIZED", "the core's module could not be read or compiled; see cause", error);
    }
  }
  // No instanceof anywhere: the module may come from another realm.
  const { exports } = new WebAssembly.Instance(compiled, { "./turnkeep_bg.js": glue as unknown as WebAssembly.ModuleImports });
  const made = exports as unknown as Exports;
  border.__wbg_set_wasm(made);
  made.__wbindgen_start?.();
  instance = made;
  return made;
}

/** After a trap: no object may reach memory again, and the glue's cached views must not survive. */
function retire(trapped: Exports): void {
  for (const raw of live) raw.__destroy_into_raw();
  live.clear();
  // Detaches the buffer, which is how the glue learns that its views are stale.
  trapped.memory.grow(0);
  instance = undefined;
}

function guarded<R>(call: (exports: Exports) => R): R {
  const here = current();
  try {
    return call(here);
  } catch (error) {
    retire(here);
    throw localError("WASM_TRAP", "the core trapped; this object is lost, new ones work", error);
  }
}

/** Calls one function of the border. @throws WASM_TRAP, NOT_INITIALIZED */
export function callCore<R>(call: (border: Border) => R): R {
  return guarded(() => call(border));
}

/** An object in wasm memory, usable until it is freed or its instance traps. */
export class CoreObject<T extends RawObject> {
  readonly #raw: T;
  readonly #what: string;
  #freed = false;

  /** @throws WASM_TRAP, NOT_INITIALIZED */
  constructor(what: string, make: (border: Border) => T) {
    this.#what = what;
    this.#raw = guarded(() => make(border));
    live.add(this.#raw);
    dropped?.register(this, this.#raw, this);
  }

  /** @throws WASM_TRAP when its instance has trapped, INVALID_STATE when it was freed */
  use<R>(call: (raw: T, memory: WebAssembly.Memory) => R): R {
    if (this.#freed) throw localError("INVALID_STATE", `this ${this.#what} was freed`);
    if (!live.has(this.#raw)) throw localError("WASM_TRAP", `the core trapped while this ${this.#what} was open`);
    return guarded((exports) => call(this.#raw, exports.memory));
  }

  /** Idempotent. What a trap took stays taken: it goes on answering WASM_TRAP. */
  free(): void {
    if (!live.delete(this.#raw)) return;
    this.#freed = true;
    dropped?.unregister(this);
    guarded(() => { this.#raw.free(); });
  }
}

/** Objects in wasm memory now: for tests of leaks and traps. */
export function liveObjects(): readonly RawObject[] {
  return [...live];
}
