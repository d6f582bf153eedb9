/** Time and randomness of the platform, as ports. The core has neither (design law 1). */
import type { HostAbortSignal, HostPorts } from "../../types/index.js";
import { platformEntropy } from "./entropy.js";

/** A port with its optional member filled in. */
export interface Clock {
  now(): number;
  monotonic(): number;
  entropy(bytes: number): Uint8Array;
  sleep(ms: number, signal: HostAbortSignal): Promise<void>;
}

/** Timers take at most a signed 32-bit count of milliseconds; a longer one would fire at once. */
const MAX_TIMER_MS = 2_147_483_647;

function sleep(ms: number, signal: HostAbortSignal): Promise<void> {
  const abort = signal;
  return new Promise((resolve) => {
    if (abort.aborted) {
      resolve();
      return;
    }
    const done = (): void => {
      clearTimeout(timer);
      abort.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, Math.min(Math.max(ms, 0), MAX_TIMER_MS));
    abort.addEventListener("abort", done, { once: true });
  });
}

const PLATFORM: Clock = { now: () => Date.now(), monotonic: () => performance.now(), entropy: platformEntropy, sleep };

/** The host's ports, or the platform's. */
export function clockOf(host: HostPorts | undefined): Clock {
  if (host === undefined) return PLATFORM;
  return {
    now: () => host.now(),
    monotonic: () => (host.monotonic === undefined ? host.now() : host.monotonic()),
    entropy: (bytes) => host.entropy(bytes),
    sleep: (ms, signal) => host.sleep(ms, signal),
  };
}
