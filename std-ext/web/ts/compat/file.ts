/** Files of messages. */

import "../internal/dispose.js";
import { Limiter } from "../internal/limiter.js";
import { appendFile, isNode } from "../internal/node.js";
import { Steps, type Want } from "../internal/steps.js";
import { BufferBacking, ioError, LocalBacking, type Backing } from "./backing.js";
import { bytesOf, indexOf, refused } from "./check.js";
import { decode, decoding, messageOf, ranged, rangesOf, scan, versioned } from "./decode.js";
import { encode } from "./encode.js";
import { HashMismatchError, ObjectError, typed } from "./errors.js";
import { host } from "./init.js";
import { concurrencyOf, openUrl } from "./remote.js";
import type {
  AppendOptions, DataObjectDescriptor, DecodedMessage, DecodeOptions, DecodeRangeOptions, DecodeRangeResult, EncodeInput,
  FileSource, FromUrlOptions, GlobalMetadata, MessagePosition, OpenFileOptions, RangePair,
} from "./types.js";

/** Metadata and descriptors of a message. */
interface Described {
  metadata: GlobalMetadata;
  descriptors: DataObjectDescriptor[];
}

/** Whole messages that are kept. The first that came goes first. */
const KEPT_MESSAGES = 32;

/** A file of messages: of the host, of a server, or in memory. */
export class TensogramFile implements AsyncIterable<DecodedMessage> {
  readonly #backing: Backing;
  #isClosed = false;
  readonly #messages = new Map<number, Promise<Uint8Array>>();
  #steps: Steps | undefined;
  readonly #metadata = new Map<number, Promise<GlobalMetadata>>();
  readonly #descriptors = new Map<number, Promise<Described>>();

  private constructor(backing: Backing) {
    this.#backing = backing;
  }

  /** Opens a file of the host. Only what is asked for is read. */
  static async open(path: string | URL, options: OpenFileOptions = {}): Promise<TensogramFile> {
    if (typeof path !== "string" && !(path instanceof URL)) throw refused("path must be a string or a file URL");
    if (!isNode()) throw refused("TensogramFile.open needs a file system: take fromUrl or fromBytes");
    host();
    const isAborted = (): boolean => options.signal?.aborted === true;
    if (isAborted()) throw ioError(`opening ${String(path)}`, options.signal?.reason);
    const backing = new LocalBacking(path);
    const size = await backing.measure();
    const fetcher = async (want: Want): Promise<{ offset: number; bytes: Uint8Array; size: number }> => {
      const [start, end] = within(want, size);
      return { offset: start, bytes: await backing.read(start, end), size };
    };
    const steps = new Steps(host(), String(path), "local", fetcher);
    try {
      const found = await steps.ask({ ask: "layouts" }, (answer) => answer as [number, number][], options.signal);
      backing.layouts = found.map(([offset, length]) => ({ offset, length }));
    } catch (error) {
      throw isAborted() ? ioError(`opening ${String(path)}`, error) : typed(error);
    } finally {
      steps.close();
    }
    return new TensogramFile(backing);
  }

  /** Opens a file on a server, in parts where the server offers that. */
  static async fromUrl(url: string | URL, options: FromUrlOptions = {}): Promise<TensogramFile> {
    if (typeof url !== "string" && !(url instanceof URL)) throw refused("url must be a string or a URL");
    host();
    return new TensogramFile(await openUrl(String(url), options));
  }

  /** Opens a copy of these bytes. */
  static fromBytes(bytes: Uint8Array): TensogramFile {
    const copy = new Uint8Array(bytesOf(bytes, "bytes"));
    return new TensogramFile(new BufferBacking(copy, scan(copy), "buffer"));
  }

  get messageCount(): number {
    return this.#backing.layouts.length;
  }

  get messageLayouts(): MessagePosition[] {
    return this.#backing.layouts.map((layout) => ({ ...layout }));
  }

  get byteLength(): number {
    return this.#backing.byteLength;
  }

  get source(): FileSource {
    return this.#backing.source;
  }

  #layout(index: number): MessagePosition {
    if (this.#isClosed) throw refused("the file is closed");
    const layout = typeof index === "number" ? this.#backing.layouts[index] : undefined;
    if (layout === undefined) {
      const text = `message index ${String(index)} is not one of ${this.messageCount} messages`;
      throw new ObjectError(text, `object error: ${text}`);
    }
    return layout;
  }

  /** All bytes of a message. */
  async rawMessage(index: number): Promise<Uint8Array> {
    return (await this.#message(index)).slice();
  }

  async #message(index: number): Promise<Uint8Array> {
    const { offset, length } = this.#layout(index);
    if (this.#backing.whole !== undefined) return this.#backing.read(offset, offset + length);
    return kept(this.#messages, index, () => this.#backing.read(offset, offset + length), KEPT_MESSAGES);
  }

  /** Decodes a message. */
  async message(index: number, options?: DecodeOptions): Promise<DecodedMessage> {
    return decode(await this.#message(index), options);
  }

  /** The parts of the file that were read, and questions about its messages. */
  #parts(): Steps {
    if (this.#steps !== undefined) return this.#steps;
    const { layouts, byteLength: size, source, whole } = this.#backing;
    const fetcher = async (want: Want): Promise<{ offset: number; bytes: Uint8Array; size: number }> => {
      const [start, end] = within(want, size);
      return { offset: start, bytes: await this.#backing.read(start, end), size };
    };
    const kind = whole !== undefined ? "memory" : source === "remote" ? "remote" : "local";
    const messages = layouts.map(({ offset, length }): [number, number] => [offset, length]);
    this.#steps = new Steps(host(), "the file", kind, fetcher, { size, messages });
    return this.#steps;
  }

  #forget(): void {
    this.#steps?.close();
    this.#steps = undefined;
  }

  async #ask<T>(index: number, question: Record<string, unknown>, take: (answer: never) => T): Promise<T> {
    this.#layout(index);
    try {
      return await this.#parts().ask({ ...question, message: index }, take as (answer: unknown) => T);
    } catch (error) {
      throw typed(error);
    }
  }

  /** The metadata of a message. */
  async messageMetadata(index: number): Promise<GlobalMetadata> {
    this.#layout(index);
    const ask = (): Promise<GlobalMetadata> => this.#ask(index, { ask: "metadata" }, versioned);
    return structuredClone(await kept(this.#metadata, index, ask));
  }

  /** The metadata of a message, and what its objects are. No payload is read. */
  async messageDescriptors(index: number): Promise<Described> {
    this.#layout(index);
    const ask = (): Promise<Described> => this.#ask(index, { ask: "descriptors" }, (answer: Described) => ({
      metadata: versioned(answer.metadata), descriptors: answer.descriptors,
    }));
    return structuredClone(await kept(this.#descriptors, index, ask));
  }

  async #descriptor(index: number, object: number): Promise<DataObjectDescriptor> {
    this.#layout(index);
    indexOf(object, "objectIndex");
    const number = Math.min(object, 0xffffffff);
    return this.#ask(index, { ask: "descriptor", object: number }, (found: DataObjectDescriptor) => found);
  }

  /** Decodes one object of a message. Other payloads are not read. */
  async messageObject(index: number, object: number, options?: DecodeOptions): Promise<DecodedMessage> {
    this.#layout(index);
    indexOf(object, "objectIndex");
    const metadata = await this.messageMetadata(index);
    const descriptor = await this.#descriptor(index, object);
    try {
      const take = (buffer: number): Uint8Array => host().take(buffer);
      const values = await this.#ask(index, { ask: "read", object, ...decoding(options) }, take);
      return messageOf(metadata, [[descriptor, values]]);
    } catch (error) {
      throw ofObject(error, object);
    }
  }

  /** Decodes ranges of an object. Where its payload can be cut, only the parts with the ranges are read. */
  async messageObjectRange(
    index: number, object: number, ranges: readonly RangePair[], options?: DecodeRangeOptions,
  ): Promise<DecodeRangeResult> {
    this.#layout(index);
    indexOf(object, "objectIndex");
    const pairs = rangesOf(ranges);
    const descriptor = await this.#descriptor(index, object);
    const question = { ask: "read", object, ranges: pairs, refuse: true };
    const values = await this.#ask(index, question, (buffer: number) => host().take(buffer));
    return ranged(descriptor, cut(values, pairs), options);
  }

  /** The object of each of these messages, in their order. */
  async messageObjectBatch(
    indices: readonly number[], object: number, options: DecodeOptions & { concurrency?: number } = {},
  ): Promise<DecodedMessage[]> {
    return this.#batch(indices, options.concurrency, (index) => this.messageObject(index, object, options));
  }

  /** The ranges of the object of each of these messages, in their order. */
  async messageObjectRangeBatch(
    indices: readonly number[], object: number, ranges: readonly RangePair[],
    options: DecodeRangeOptions & { concurrency?: number } = {},
  ): Promise<DecodeRangeResult[]> {
    return this.#batch(indices, options.concurrency, (index) => this.messageObjectRange(index, object, ranges, options));
  }

  /** Reads metadata and index of these messages ahead. */
  async prefetchLayouts(indices: readonly number[], options: { concurrency?: number } = {}): Promise<void> {
    await this.#batch(indices, options.concurrency, async (index) => {
      this.#layout(index);
      if (this.#backing.whole === undefined) await this.messageMetadata(index);
    });
  }

  async #batch<T>(indices: readonly number[], concurrency: number | undefined, work: (index: number) => Promise<T>): Promise<T[]> {
    if (!Array.isArray(indices)) throw refused("indices must be an array");
    if (this.#isClosed) throw refused("the file is closed");
    const limiter = new Limiter(concurrencyOf(concurrency));
    return Promise.all(indices.map((index: number) => limiter.run(() => work(index))));
  }

  /** Decodes each message. The caller closes them. */
  async *[Symbol.asyncIterator](): AsyncGenerator<DecodedMessage> {
    for (let index = 0; index < this.messageCount; index += 1) yield await this.message(index);
  }

  /** Encodes a message and appends it to the file. */
  async append(metadata: GlobalMetadata, objects: readonly EncodeInput[], options?: AppendOptions): Promise<void> {
    const backing = this.#backing;
    if (this.#isClosed) throw refused("the file is closed");
    if (!(backing instanceof LocalBacking)) throw refused("append needs a file that TensogramFile.open has opened");
    const message = encode(metadata, objects, options);
    const offset = await backing.measure();
    try {
      await appendFile(backing.path, message);
    } catch (cause) {
      throw ioError(`cannot append to ${String(backing.path)}`, cause);
    }
    backing.layouts.push({ offset, length: message.length });
    backing.byteLength = offset + message.length;
    this.#forget();
  }

  /** Ends requests that are under way, and frees what was kept. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#backing.close();
    this.#forget();
    for (const cache of [this.#messages, this.#metadata, this.#descriptors]) cache.clear();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** The start and the end of what is wanted of so many bytes. */
function within(want: Want, size: number): [number, number] {
  return typeof want === "number" ? [Math.max(size - want, 0), size] : [Math.min(want[0], size), Math.min(want[1], size)];
}

/** A value that is made once. Of more than `most` the first goes; what failed is not kept. */
function kept<T>(cache: Map<number, Promise<T>>, index: number, make: () => Promise<T>, most = Infinity): Promise<T> {
  const known = cache.get(index);
  if (known !== undefined) return known;
  const made = make();
  cache.set(index, made);
  made.catch(() => cache.delete(index));
  const [oldest] = cache.keys();
  if (cache.size > most && oldest !== undefined) cache.delete(oldest);
  return made;
}

/** Values that come one range after the other, a range each. */
function cut(values: Uint8Array, ranges: [bigint, bigint][]): Uint8Array[] {
  const all = ranges.reduce((sum, [, count]) => sum + Number(count), 0);
  const width = all === 0 ? 0 : values.length / all;
  let at = 0;
  return ranges.map(([, count]) => {
    const part = values.slice(at, at + Number(count) * width);
    at += part.length;
    return part;
  });
}

/** An error about a digest, with the number of the object in its message. */
function ofObject(error: unknown, object: number): unknown {
  if (!(error instanceof HashMismatchError) || error.objectIndex !== undefined) return error;
  return new HashMismatchError(error.message, error.rawMessage, error.expected, error.actual, object);
}
