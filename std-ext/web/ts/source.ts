/** Sources of bytes: buffers, blobs, files of the host, addresses. */

import { fileSize, readAt } from "./internal/node.js";
import type { Chunk, Kind, Want } from "./internal/steps.js";
import { TgmError } from "./errors.js";

/** Options of sources. */
export interface SourceOptions {
  /** For addresses: takes the place of the host's `fetch`. */
  fetch?: typeof globalThis.fetch;
  /** For addresses: headers of each request. */
  headers?: HeadersInit;
  /** For addresses: how often a request is repeated that failed for the time being. 3 by default. */
  retries?: number;
  /** Ends opening. */
  signal?: AbortSignal;
}

/** A source of bytes. */
export interface Source {
  readonly name: string;
  readonly kind: Kind;
  read(want: Want, signal: AbortSignal | undefined): Promise<Chunk>;
}

/** The bytes of a source of known length. */
function within(want: Want, size: number): [number, number] {
  return typeof want === "number" ? [Math.max(size - want, 0), size] : [Math.min(want[0], size), Math.min(want[1], size)];
}

export class BytesSource implements Source {
  readonly name = "bytes";
  readonly kind = "memory";

  constructor(readonly bytes: Uint8Array) {}

  async read(want: Want): Promise<Chunk> {
    const [start, end] = within(want, this.bytes.length);
    return { offset: start, bytes: this.bytes.subarray(start, end), size: this.bytes.length };
  }
}

export class BlobSource implements Source {
  readonly kind = "local";
  readonly name: string;

  constructor(readonly blob: Blob) {
    this.name = (blob as { name?: string }).name ?? "blob";
  }

  async read(want: Want): Promise<Chunk> {
    const [start, end] = within(want, this.blob.size);
    const bytes = new Uint8Array(await this.blob.slice(start, end).arrayBuffer());
    return { offset: start, bytes, size: this.blob.size };
  }
}

export class PathSource implements Source {
  readonly kind = "local";
  readonly name: string;

  private constructor(readonly path: string | URL, readonly size: number) {
    this.name = String(path);
  }

  static async open(path: string | URL): Promise<PathSource> {
    try {
      return new PathSource(path, await fileSize(path));
    } catch (cause) {
      throw new TgmError("io", `cannot open ${String(path)}: ${(cause as Error).message}`, { cause });
    }
  }

  async read(want: Want): Promise<Chunk> {
    const [start, end] = within(want, this.size);
    return { offset: start, bytes: await readAt(this.path, start, end), size: this.size };
  }
}

/** A body of this many bytes is read if a server sends all of a file in the place of a range. */
const LONGEST_WHOLE = 256 * 1024 * 1024;
/** Answers after which a request is repeated. */
const BUSY = new Set([408, 425, 429, 500, 502, 503, 504]);

/** A file on a server, by ranges. No HEAD is sent: the first answer tells the length. */
export class UrlSource implements Source {
  readonly kind = "remote";
  /** All of the file, where the server does not know ranges. */
  #whole: Chunk | undefined;

  constructor(readonly name: string, readonly options: SourceOptions) {}

  async read(want: Want, signal: AbortSignal | undefined): Promise<Chunk> {
    if (this.#whole !== undefined) return this.#part(this.#whole, want);
    const range = typeof want === "number" ? `bytes=-${want}` : `bytes=${want[0]}-${want[1] - 1}`;
    for (let left = this.options.retries ?? 3, pause = 100; ; left -= 1, pause *= 2) {
      try {
        return await this.#once(want, range, signal);
      } catch (error) {
        const isPassing = error instanceof TgmError ? error.isPassing : true;
        if (signal?.aborted === true) throw signal.reason;
        if (!isPassing || left <= 0) throw error instanceof TgmError ? error : this.#failed(String((error as Error).message), error);
        await new Promise((go) => setTimeout(go, pause));
      }
    }
  }

  #failed(why: string, cause?: unknown, isPassing = false): TgmError {
    return new TgmError("remote", `${this.name}: ${why}`, { cause, isPassing });
  }

  async #once(want: Want, range: string, signal: AbortSignal | undefined): Promise<Chunk> {
    const headers = new Headers(this.options.headers);
    headers.set("Range", range);
    const response = await (this.options.fetch ?? fetch)(this.name, { headers, ...(signal ? { signal } : {}) });
    const tag = tagOf(response);
    if (response.status === 206) return this.#partial(want, response, tag);
    if (response.status === 200) return this.#complete(want, response, tag);
    const size = /^bytes \*\/(\d+)$/.exec(response.headers.get("content-range") ?? "")?.[1];
    await response.body?.cancel();
    if (response.status === 416 && size !== undefined) {
      return { offset: Number(size), bytes: new Uint8Array(0), size: Number(size), ...tag };
    }
    throw this.#failed(`HTTP ${response.status}`, undefined, BUSY.has(response.status));
  }

  /** A server that knows ranges. */
  async #partial(want: Want, response: Response, tag: Tag): Promise<Chunk> {
    const coding = response.headers.get("content-encoding");
    if (coding !== null && coding !== "identity") throw this.#failed(`a range with Content-Encoding ${coding} is of encoded bytes`);
    const stated = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(response.headers.get("content-range") ?? "");
    if (stated === null) {
      throw this.#failed("the header Content-Range is missing or cannot be read: a server of another origin has to send " +
        "Access-Control-Expose-Headers: Content-Range, ETag");
    }
    const [start, end] = [Number(stated[1]), Number(stated[2]) + 1];
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (bytes.length !== end - start || (typeof want !== "number" && start !== want[0])) {
      throw this.#failed(`the answer to ${JSON.stringify(want)} has ${bytes.length} bytes and states ${stated[0]}`, undefined, true);
    }
    return { offset: start, bytes, size: stated[3] === "*" ? undefined : Number(stated[3]), ...tag };
  }

  /** A server that sends all. It is kept. */
  async #complete(want: Want, response: Response, tag: Tag): Promise<Chunk> {
    const length = Number(response.headers.get("content-length") ?? "0");
    if (length > LONGEST_WHOLE) {
      await response.body?.cancel();
      throw this.#failed(`the server does not know ranges, and the file has ${length} bytes`);
    }
    const bytes = new Uint8Array(await response.arrayBuffer());
    this.#whole = { offset: 0, bytes, size: bytes.length, ...tag };
    return this.#part(this.#whole, want);
  }

  #part(whole: Chunk, want: Want): Chunk {
    const [start, end] = within(want, whole.bytes.length);
    return { ...whole, offset: start, bytes: whole.bytes.subarray(start, end) };
  }
}

interface Tag {
  tag?: string;
  weak?: boolean;
}

/** What names the version of the content. */
function tagOf(response: Response): Tag {
  const etag = response.headers.get("etag");
  if (etag !== null) return { tag: etag.replace(/^W\//, ""), weak: etag.startsWith("W/") };
  const modified = response.headers.get("last-modified");
  return modified === null ? {} : { tag: modified, weak: true };
}
