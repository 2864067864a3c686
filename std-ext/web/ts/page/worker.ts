/** The worker of the page: reads archives, decodes values and draws, so that the page itself never waits. */

import { Asking } from "../internal/asking.js";
import { Failure, Host } from "../internal/host.js";
import type { CborValue } from "../internal/cbor.js";
import { BlobSource, UrlSource } from "../source.js";
import { draw, type Drawn, type Scene } from "./draw.js";

type Answer = { [key: string]: CborValue | Uint8Array };
type Request = { id: number; op: string; [key: string]: unknown };

const BUFFERS = ["pixels", "coasts", "net", "bar", "values", "shares", "text"];

let loading: Promise<Host> | undefined;
/** Ends what is read of a file when the next one is opened. */
let reading = new AbortController();
let opened: Asking | undefined;
/** The file of what is compared, while it is read. */
let other: Asking | undefined;
let drawn: Drawn | undefined;

/** The module. If it does not come, the next call tries again. */
function host(): Promise<Host> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function load(): Promise<Host> {
  const response = await fetch(new URL("page.wasm.gz", self.location.href));
  if (!response.ok) throw new Error(`the module of this page: HTTP ${response.status}`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (bytes[0] !== 0x1f) return new Host(await WebAssembly.compile(bytes));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Host(await WebAssembly.compile(await new Response(plain).arrayBuffer()));
}

/** Asks about the file that is open, or the other one. Buffers that the answer names become bytes. */
async function ask(question: Record<string, unknown>): Promise<CborValue | Answer> {
  const asked = question["other"] === true ? other : opened;
  if (asked === undefined) throw new Error("no file is open");
  const { host } = asked;
  return asked.ask(question, (answer) => taken(host, answer), reading.signal);
}

/** Takes the buffers that an answer names. */
function taken(host: Host, answer: CborValue): CborValue | Answer {
  if (answer === null || typeof answer !== "object" || Array.isArray(answer)) return answer;
  const found = { ...(answer as Answer) };
  for (const name of BUFFERS) if (name in found) found[name] = host.take(Number(found[name]));
  return found;
}

async function open(request: Request): Promise<unknown> {
  const source = request["blob"] instanceof Blob ? new BlobSource(request["blob"]) : new UrlSource(String(request["address"]), {});
  if (request["other"] === true) other = new Asking(await host(), [source]);
  else {
    opened?.close();
    opened = undefined;
    opened = new Asking(await host(), [source]);
  }
  return ask({ ask: "count", other: request["other"] });
}

function close(): void {
  other?.close();
  other = undefined;
}

async function view(request: Request): Promise<unknown> {
  const scene = request["scene"] as Scene;
  drawn = draw((await ask({ ask: "view", ...scene.ask })) as never, scene);
  if (request["png"] === true) return { blob: await drawn.canvas.convertToBlob({ type: "image/png" }) };
  return { bitmap: drawn.canvas.transferToImageBitmap(), area: drawn.area, about: drawn.about };
}

async function answer(request: Request): Promise<unknown> {
  const { id: _, op, ...question } = request;
  if (op === "open") return open(request);
  if (op === "close") return close();
  if (op === "view") return view(request);
  const found = await ask({ ...question, ask: op });
  return op === "csv" ? new Blob([(found as { text: Uint8Array<ArrayBuffer> }).text], { type: "text/csv" }) : found;
}

/** Requests are answered one after the other. */
let last: Promise<unknown> = Promise.resolve();

self.onmessage = (event: MessageEvent<Request>) => {
  const { id, op } = event.data;
  if (op === "open" && event.data["other"] !== true) {
    reading.abort(new Error("another file was opened"));
    reading = new AbortController();
  }
  const { signal } = reading;
  const turn = (): Promise<unknown> => (signal.aborted ? Promise.reject(signal.reason) : answer(event.data));
  last = last.then(turn).then(
    (done) => {
      const bitmap = (done as { bitmap?: ImageBitmap } | null)?.bitmap;
      self.postMessage({ id, done }, { transfer: bitmap === undefined ? [] : [bitmap] });
    },
    (error: unknown) => {
      const failed = error instanceof Error ? error.message : String(error);
      // The module stopped: what it knew of the file is gone.
      self.postMessage({ id, failed, hasStopped: error instanceof Failure && error.kind === "internal" });
    },
  );
};

// The module comes while the page is read.
void host().catch(() => undefined);
