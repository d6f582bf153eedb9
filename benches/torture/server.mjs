// A real server on loopback. A conversation is a path of its own: its first request gets the stream, every later one a goodbye.
import { createServer } from "node:http";
import { GOODBYE } from "./streams.mjs";

const PATH = /^\/(\d+)\/(\d+)\//;

/** Serves `streams` by their place in the list. */
export async function serve(streams) {
  const asked = new Map();
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => { void answer(request, response); });
  });

  async function answer(request, response) {
    const [, conversation, place] = PATH.exec(request.url) ?? [];
    const stream = streams[Number(place)];
    if (stream === undefined) return response.writeHead(404).end();
    const turn = asked.get(conversation) ?? 0;
    asked.set(conversation, turn + 1);
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const part of turn === 0 ? stream.parts : GOODBYE[stream.protocol]) {
      if (typeof part === "number") await new Promise((resolve) => { setTimeout(resolve, part); });
      else response.write(part);
      // So that the parts are reads of their own where the reader is quick.
      await new Promise((resolve) => { setImmediate(resolve); });
    }
    return turn === 0 && stream.hold === true ? undefined : response.end();
  }

  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => { server.once("listening", resolve); });
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
