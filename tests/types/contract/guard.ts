// The guard keeps the type of the `fetch` it is given, so that an SDK's own option takes it.
import { guardFetch, guardStream, type GuardReport, type Turn } from "turnkeep";

export const strict: typeof fetch = guardFetch(fetch);
export const narrow: (url: string, init?: RequestInit) => Promise<Response> = guardFetch(async (url: string, init?: RequestInit) => fetch(url, init), { protocol: "chat" });

export async function forward(response: Response, reports: GuardReport[]): Promise<Turn> {
  if (response.body === null) throw new Error("no body");
  const { readable, turn } = guardStream(response.body, { protocol: "messages", signal: AbortSignal.timeout(1_000), onReport: (report) => void reports.push(report) });
  await readable.pipeTo(new WritableStream());
  return turn;
}
// @ts-expect-error a stream does not say which protocol it speaks
guardStream(new ReadableStream(), {});
// @ts-expect-error no such word
guardFetch(fetch, { hold: "text" });
