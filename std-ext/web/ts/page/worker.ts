/** The worker of the page: reads archives, decodes values and draws, so that the page itself never waits. */

import { Host } from "../internal/host.js";
import type { CborValue } from "../internal/cbor.js";
import type { Want } from "../internal/steps.js";
import { BlobSource, UrlSource, type Source } from "../source.js";
import { draw, type Drawn, type Scene } from "./draw.js";

type Answer = { [key: string]: CborValue | Uint8Array };
type Request = { id: number; op: string; [key: string]: unknown };

const BUFFERS = ["pixels", "coasts", "net", "bar", "values", "shares"];

/** An archive that is open. */
interface Opened {
  source: Source;
  host: Host;
  page: number;
  /** The request that opened it. */
  by: number;
}

let loading: Promise<Host> | undefined;
/** The last request that opens a file. What an earlier one still reads ends. */
let newest = 0;
let opened: Opened | undefined;
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

/** Asks, and fetches what is missing until there is an answer. */
async function ask(question: Record<string, unknown>): Promise<CborValue> {
  const from = opened;
  if (from === undefined) throw new Error("no file is open");
  for (;;) {
    if (from.by < newest) throw new Error("another file was opened");
    const step = from.host.call("tgm_page_ask", { ...question, page: from.page }) as { [key: string]: CborValue };
    if ("done" in step) return step["done"] as CborValue;
    await Promise.all((step["wants"] as Want[]).map(async (want, index) => {
      const { bytes, ...rest } = await from.source.read(want, undefined);
      from.host.call("tgm_page_give", { ...rest, page: from.page, want: index, bytes: from.host.buffer(bytes) });
    }));
  }
}

/** Takes the buffers that an answer names. */
function taken(answer: CborValue): Answer {
  const found = { ...(answer as Answer) };
  for (const name of BUFFERS) if (name in found) found[name] = opened!.host.take(Number(found[name]));
  return found;
}

async function open(request: Request): Promise<CborValue> {
  if (opened !== undefined) opened.host.plain("tgm_page_free", opened.page);
  opened = undefined;
  const source = request["blob"] instanceof Blob ? new BlobSource(request["blob"]) : new UrlSource(String(request["address"]), {});
  const module = await host();
  opened = { source, host: module, page: Number(module.call("tgm_page_new", { name: source.name, kind: source.kind })), by: request.id };
  return ask({ ask: "count" });
}

async function view(request: Request): Promise<unknown> {
  const scene = request["scene"] as Scene;
  const answer = taken(await ask({ ask: "view", ...scene.ask }));
  drawn = draw(answer as never, scene);
  if (request["png"] === true) return { blob: await drawn.canvas.convertToBlob({ type: "image/png" }) };
  return { bitmap: drawn.canvas.transferToImageBitmap(), area: drawn.area, about: drawn.about };
}

async function answer(request: Request): Promise<unknown> {
  const { id: _, op, ...question } = request;
  if (op === "open") return open(request);
  if (op === "view") return view(request);
  const found = await ask({ ...question, ask: op });
  if (op === "csv") return new Blob([opened!.host.take(Number(found))], { type: "text/csv" });
  return op === "series" && found !== null ? taken(found) : found;
}

/** Requests are answered one after the other. */
let last: Promise<unknown> = Promise.resolve();

self.onmessage = (event: MessageEvent<Request>) => {
  const { id, op } = event.data;
  if (op === "open") newest = id;
  last = last.then(() => answer(event.data)).then(
    (done) => {
      const bitmap = (done as { bitmap?: ImageBitmap } | null)?.bitmap;
      self.postMessage({ id, done }, { transfer: bitmap === undefined ? [] : [bitmap] });
    },
    (error: unknown) => self.postMessage({ id, failed: error instanceof Error ? error.message : String(error) }),
  );
};

// The module comes while the page is read.
void host().catch(() => undefined);
