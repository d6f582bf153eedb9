/** `turnkeep/testing` where there is no server to start: a provider as a `fetch` (types/testing.d.ts). Imports nothing of the core. */
import type { JsonObject, Protocol } from "../types/index.js";
import type { createScriptedProvider as PublicProvider, ScriptedProvider, ScriptedTurn } from "../types/testing.js";
import { checkSplit } from "./testing/check.js";
import { Script } from "./testing/script.js";
import type { Travel } from "./testing/transport.js";

/** A provider without a network (types/testing.d.ts). */
export const createScriptedProvider: typeof PublicProvider = (turns: readonly ScriptedTurn[], options = {}): ScriptedProvider => {
  const script = new Script(turns);
  checkSplit(options.split);
  const requests: JsonObject[] = [];
  const answer = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const request = JSON.parse(await new Response(init.body ?? null).text()) as JsonObject;
    requests.push(request);
    const taken = script.take(protocolOf(url, options.protocol), request, options.split);
    if (typeof taken === "string") throw new Error(taken);
    return new Response(streamOf(taken.travel, init.signal ?? undefined), { status: taken.status, headers: taken.headers });
  };
  return {
    fetch: ((url: string | URL, init?: RequestInit) => answer(String(url), init)) as ScriptedProvider["fetch"],
    requests,
    get left() {
      return script.left;
    },
  };
};

function protocolOf(url: string, given: Protocol | undefined): Protocol {
  return given ?? (/\/messages(\?|$)/.test(url) ? "messages" : "chat");
}

function streamOf(travel: Travel, signal: AbortSignal | undefined): ReadableStream<Uint8Array> {
  let next = 0;
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => { signal?.addEventListener("abort", () => { controller.error(signal.reason); }, { once: true }); },
      pull: async (controller) => {
        const write = travel.writes[next++];
        if (write !== undefined) {
          if (travel.pause_ms > 0) await new Promise((resolve) => setTimeout(resolve, travel.pause_ms));
          controller.enqueue(write);
        } else if (travel.end === "close") controller.close();
        else if (travel.end === "reset") controller.error(new TypeError("scripted reset"));
        else await new Promise(() => undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
