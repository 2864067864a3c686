/** Files on servers: where their messages are, and their bytes. The shapes of requests are those of the reference. */

import { Limiter } from "../internal/limiter.js";
import { scanBothEnds, scanForward, NotLazy, type Scanned } from "./remote_scan.js";
import { BufferBacking, ioError, type Backing } from "./backing.js";
import { refused } from "./check.js";
import { scan } from "./decode.js";
import { IoError, typed } from "./errors.js";
import type { FromUrlOptions, MessagePosition } from "./types.js";

const CONCURRENCY = 6;

/** A number of requests at once. */
export function concurrencyOf(value: unknown): number {
  if (value === undefined) return CONCURRENCY;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 1) {
    throw refused(`concurrency must be a positive integer, got ${String(value)}`);
  }
  return value;
}

/** Requests to one address, so many at once. */
export class Requests {
  readonly #limiter: Limiter;
  readonly #closed = new AbortController();
  readonly #signal: AbortSignal;

  constructor(readonly url: string, readonly options: FromUrlOptions, readonly fetcher: typeof globalThis.fetch, concurrency: number) {
    this.#limiter = new Limiter(concurrency);
    const forward = (): void => this.#closed.abort(options.signal?.reason);
    if (options.signal?.aborted === true) forward();
    else options.signal?.addEventListener("abort", forward, { once: true });
    this.#signal = this.#closed.signal;
  }

  async send(method: string, range: string | undefined): Promise<Response> {
    return this.#limited(method, range, async (response) => response);
  }

  /** Sends a request and takes its body, which counts as under way until it is read. */
  async #limited<T>(method: string, range: string | undefined, take: (response: Response) => Promise<T>): Promise<T> {
    return this.#limiter.run(async () => {
      const headers = new Headers(this.options.headers);
      if (range !== undefined) headers.set("Range", range);
      try {
        return await take(await this.fetcher(this.url, { method, headers, signal: this.#signal }));
      } catch (cause) {
        throw cause instanceof IoError ? cause : ioError(`${method} ${this.url}`, this.#signal.aborted ? this.#reason() : cause);
      }
    });
  }

  /** Why requests were aborted: an AbortError, whatever the program gave. */
  #reason(): unknown {
    const reason: unknown = this.#signal.reason;
    return reason instanceof Error ? reason : new DOMException(String(reason ?? "aborted"), "AbortError");
  }

  /** All of the file. */
  async all(): Promise<Uint8Array> {
    return this.#limited("GET", undefined, async (response) => {
      if (!response.ok) throw new IoError(`HTTP ${response.status} for ${this.url}`);
      return new Uint8Array(await response.arrayBuffer());
    });
  }

  /** Bytes from a start to an end. While scanning, a server that ignores ranges is an error. */
  async range(start: number, end: number, isScan = false): Promise<Uint8Array> {
    if (end <= start) return new Uint8Array(0);
    return this.#limited("GET", `bytes=${start}-${end - 1}`, async (response) => {
      if (response.status !== 206 && (isScan || response.status !== 200)) {
        void response.body?.cancel().catch(() => {});
        throw new IoError(`HTTP ${response.status} for bytes ${start}-${end - 1} of ${this.url}`);
      }
      const bytes = new Uint8Array(await response.arrayBuffer());
      if (response.status === 200) return bytes.subarray(start, end);
      const stated = /^bytes (\d+)-/.exec(response.headers?.get("content-range") ?? "");
      if (bytes.length !== end - start || (stated !== null && Number(stated[1]) !== start)) {
        throw new IoError(`${this.url} answered bytes ${start}-${end - 1} with ${bytes.length} bytes from ${stated?.[1] ?? "?"}`);
      }
      return bytes;
    });
  }

  close(): void {
    this.#closed.abort(new DOMException("the file was closed", "AbortError"));
  }
}

/** A file of which only parts are fetched. */
class RemoteBacking implements Backing {
  readonly source = "remote";
  readonly whole = undefined;

  constructor(
    readonly requests: Requests, readonly layouts: MessagePosition[], readonly byteLength: number,
    /** Ends of messages that the scan has fetched, by where they begin. */
    readonly footers: Map<number, Uint8Array>,
  ) {}

  async read(start: number, end: number): Promise<Uint8Array> {
    for (const [offset, bytes] of this.footers) {
      if (offset <= start && end <= offset + bytes.length) return bytes.subarray(start - offset, end - offset);
    }
    return this.requests.range(start, end);
  }

  close(): void {
    this.requests.close();
  }
}

/** The length of a file that can be read in parts. */
async function lazyLength(requests: Requests): Promise<number> {
  const head = await requests.send("HEAD", undefined);
  const length = Number(head.headers.get("content-length") ?? "0");
  const isLazy = head.ok && /\bbytes\b/i.test(head.headers.get("accept-ranges") ?? "") && Number.isSafeInteger(length);
  if (!isLazy || length <= 0) throw new NotLazy("the server does not offer ranges");
  return length;
}

/** Opens a file: in parts where the server offers that, else as a whole. */
export async function openUrl(url: string, options: FromUrlOptions): Promise<Backing> {
  const fetcher = options.fetch ?? globalThis.fetch;
  if (typeof fetcher !== "function") throw refused("fetch is not available: pass a fetch function");
  const concurrency = concurrencyOf(options.concurrency);
  const isBoth = options.bidirectional ?? true;
  if (isBoth && concurrency === 1) throw refused("bidirectional: true needs a concurrency of 2 or more");
  const requests = new Requests(url, options, fetcher, concurrency);
  const tell = (tag: string, ...more: unknown[]): void => {
    if (options.debug === true) console.debug(`tensogram:scan:${tag}`, ...more);
  };
  try {
    const length = await lazyLength(requests);
    tell("mode", isBoth ? "bidirectional" : "forward-only", { length });
    const read = (start: number, end: number): Promise<Uint8Array> => requests.range(start, end, true);
    const found: Scanned = await (isBoth ? scanBothEnds : scanForward)(read, length, tell);
    return new RemoteBacking(requests, found.layouts, length, found.footers);
  } catch (error) {
    if (options.signal?.aborted === true) throw typed(error);
    tell("fallback", error instanceof Error ? error.message : String(error));
  }
  const bytes = await requests.all();
  return new BufferBacking(bytes, scan(bytes), "remote");
}
