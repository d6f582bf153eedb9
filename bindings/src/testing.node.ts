/**
 * `turnkeep/testing` where there are sockets: the same scripts behind a real HTTP server on loopback (types/testing.d.ts), so that a test
 * sees real chunks, real resets and real connections that nobody closes.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { JsonObject, JsonValue, Protocol } from "../types/index.js";
import type { Scenario, ScriptedServer, ScriptedServerOptions } from "../types/testing.js";
import { checkScenario } from "./testing/check.js";
import { type Answer, Script } from "./testing/script.js";

export { createScriptedProvider } from "./testing.js";

const PROTOCOLS = new Map<string, Protocol>([["/v1/chat/completions", "chat"], ["/v1/messages", "messages"]]);

/** Starts a scripted server (types/testing.d.ts). */
export async function startScriptedServer(scenario: Scenario, options: ScriptedServerOptions = {}): Promise<ScriptedServer> {
  checkScenario(scenario);
  const script = new Script(scenario.turns);
  const requests: { readonly path: string; readonly body: JsonValue }[] = [];
  const sockets = new Set<Socket>();
  const failures: unknown[] = [];
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      failures.push(error);
      response.destroy();
    });
  });
  server.on("connection", (socket) => {
    socket.setNoDelay(true);
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "").split("?")[0] ?? "";
    const protocol = PROTOCOLS.get(path);
    const body = await bodyOf(request);
    requests.push({ path, body });
    if (protocol === undefined || request.method !== "POST") { refuse(response, 404, `no ${String(request.method)} ${path} here`); return; }
    if (options.api_key !== undefined && keyOf(request, protocol) !== options.api_key) { refuse(response, 401, "the key is not the scripted one"); return; }
    const answer = script.take(protocol, body as JsonObject);
    if (typeof answer === "string") { refuse(response, 400, answer); return; }
    await send(response, answer);
  }

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}/v1`,
    port,
    requests,
    get left() {
      return script.left;
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
      if (failures.length > 0) throw new Error(`scripted server "${scenario.name}" failed`, { cause: failures[0] });
      if (script.overrun > 0) throw new Error(`scripted server "${scenario.name}": ${String(script.overrun)} more ${script.overrun === 1 ? "turn was" : "turns were"} asked for than scripted`);
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<JsonValue> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  return text === "" ? null : (JSON.parse(text) as JsonValue);
}

function keyOf(request: IncomingMessage, protocol: Protocol): string | undefined {
  if (protocol === "messages") return request.headers["x-api-key"]?.toString();
  return /^Bearer (.*)$/.exec(request.headers.authorization ?? "")?.[1];
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ type: "error", error: { type: "scripted_server", message } }));
}

async function send(response: ServerResponse, { status, headers, travel }: Answer): Promise<void> {
  response.writeHead(status, { ...headers, "cache-control": "no-store" });
  response.flushHeaders();
  for (const write of travel.writes) {
    if (response.destroyed) return;
    // Written and flushed before the next one: otherwise small writes would travel as one.
    await new Promise((resolve) => response.write(write, resolve));
    await new Promise((resolve) => { if (travel.pause_ms > 0) setTimeout(resolve, travel.pause_ms); else setImmediate(resolve); });
  }
  if (travel.end === "close") response.end();
  else if (travel.end === "reset") response.destroy();
}
