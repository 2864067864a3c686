/** Archives, their messages, and the objects in them. */

import "./internal/dispose.js";
import { explained, TgmError } from "./errors.js";
import { arrayOver, type Dtype, type TypedArray } from "./internal/arrays.js";
import type { CborValue } from "./internal/cbor.js";
import type { Host } from "./internal/host.js";
import { Steps } from "./internal/steps.js";
import type { Source } from "./source.js";

/** What an object is. Parameters of its stages stand beside these keys. */
export interface Descriptor {
  type: string;
  ndim: number;
  shape: number[];
  strides: number[];
  dtype: Dtype;
  byte_order: "little" | "big";
  encoding: string;
  filter: string;
  compression: string;
  [key: string]: CborValue;
}

/** Metadata of a message. */
export interface Metadata {
  /** An entry for each object. */
  base: { [key: string]: CborValue }[];
  /** What the writer said of the message. */
  _extra_: { [key: string]: CborValue };
  /** What the library wrote: encoder, time, uuid. */
  _reserved_: { [key: string]: CborValue };
}

/** What is picked of a dimension: an index, whose dimension goes; a start and an end; null for all. */
export type Pick = number | readonly [start: number, end: number] | null;

/** Which values are read, and how. */
export interface ReadRequest {
  /** A box: a pick for each dimension. Dimensions after the last pick are whole. */
  region?: readonly Pick[];
  /** Ranges of the flattened tensor: pairs of a first element and a count. Their values come one after the other. */
  ranges?: readonly (readonly [first: number | bigint, count: number | bigint])[];
  /** The type of the values: by default that of the object. */
  type?: "float32" | "float64";
  /** Whether the object's digest is checked first. */
  verify?: boolean;
  /** Whether zeros stay in the place of NaN and infinities. */
  keepZeros?: boolean;
  signal?: AbortSignal;
}

/** Values that were read. */
export interface Values {
  readonly data: TypedArray;
  /** Their dimensions. */
  readonly shape: number[];
}

/** Messages of a source. */
export class Archive implements AsyncIterable<Message> {
  readonly #steps: Steps;
  #count: number | undefined;

  constructor(readonly host: Host, readonly source: Source) {
    this.#steps = new Steps(host, source.name, source.kind, (want, signal) => source.read(want, signal));
  }

  /** The number of messages. */
  get length(): number {
    return this.#count ?? 0;
  }

  /** Looks for the messages. `open` has done it. */
  async count(signal?: AbortSignal): Promise<number> {
    this.#count = await this.ask({ ask: "count" }, Number, signal);
    return this.#count;
  }

  /** Message `index`. Nothing is read. */
  message(index: number): Message {
    if (!Number.isInteger(index) || index < 0 || index >= this.length) {
      throw new TgmError("framing", `message ${index} is not one of ${this.length}`, { message: index });
    }
    return new Message(this, index);
  }

  /** All messages in order. */
  *messages(): Generator<Message> {
    for (let index = 0; index < this.length; index += 1) yield this.message(index);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Message> {
    yield* this.messages();
  }

  /** The objects for which a query holds, in order: `mars.param = 2t and mars.step >= 6`. */
  async query(query: string, options: { signal?: AbortSignal } = {}): Promise<TgmObject[]> {
    const found: TgmObject[] = [];
    for (const message of this.messages()) {
      const take = (numbers: CborValue): number[] => numbers as number[];
      const numbers = await this.ask({ ask: "query", message: message.index, query }, take, options.signal, message.index);
      if (numbers.length === 0) continue;
      const objects = await message.objects(options);
      for (const number of numbers) found.push(objects[number]!);
    }
    return found;
  }

  /** Asks a question of the source. For the classes of this module. */
  async ask<T>(question: Record<string, unknown>, take: (answer: CborValue) => T, signal?: AbortSignal, message?: number, object?: number): Promise<T> {
    try {
      return await this.#steps.ask({ ...question, message, object }, take, signal);
    } catch (error) {
      throw explained(error, message, object);
    }
  }

  /** Frees what is kept of the source. */
  close(): void {
    this.#steps.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** One message of an archive. */
export class Message {
  #described: Promise<{ metadata: Metadata; descriptors: Descriptor[] }> | undefined;

  constructor(readonly archive: Archive, readonly index: number) {}

  async #about(signal: AbortSignal | undefined): Promise<{ metadata: Metadata; descriptors: Descriptor[] }> {
    const known = this.#described ?? this.archive.ask({ ask: "descriptors" }, (answer) =>
      answer as unknown as { metadata: Metadata; descriptors: Descriptor[] }, signal, this.index);
    this.#described = known;
    known.catch(() => {
      this.#described = undefined;
    });
    return known;
  }

  /** The metadata. No payload is read. */
  async metadata(options: { signal?: AbortSignal } = {}): Promise<Metadata> {
    return this.archive.ask({ ask: "metadata" }, (answer) => answer as unknown as Metadata, options.signal, this.index);
  }

  /** The objects. No payload is read. */
  async objects(options: { signal?: AbortSignal } = {}): Promise<TgmObject[]> {
    const { metadata, descriptors } = await this.#about(options.signal);
    return descriptors.map((descriptor, number) => new TgmObject(this, number, descriptor, metadata.base[number] ?? {}));
  }

  /** Object `number`. */
  async object(number: number, options: { signal?: AbortSignal } = {}): Promise<TgmObject> {
    const found = (await this.objects(options))[number];
    if (found !== undefined) return found;
    throw new TgmError("object", `there is no object ${number}`, { message: this.index, object: number });
  }

  /** All bytes of the message. */
  async bytes(options: { signal?: AbortSignal } = {}): Promise<Uint8Array> {
    const take = (buffer: CborValue): Uint8Array => this.archive.host.take(Number(buffer));
    return this.archive.ask({ ask: "bytes" }, take, options.signal, this.index);
  }
}

/** One tensor, not yet read. */
export class TgmObject {
  constructor(
    readonly message: Message, readonly index: number, readonly descriptor: Descriptor,
    /** The object's entry of the metadata. */
    readonly metadata: { [key: string]: CborValue },
  ) {}

  get shape(): number[] {
    return [...this.descriptor.shape];
  }

  get dtype(): Dtype {
    return this.descriptor.dtype;
  }

  /** Reads values. Where the payload can be cut, only the parts that hold them are read. */
  async read(request: ReadRequest = {}): Promise<Values> {
    const { archive, index } = this.message;
    const { ranges, region, type, verify, keepZeros, signal } = request;
    if (ranges !== undefined && region !== undefined) throw new TgmError("call", "a request has a region or ranges");
    const box = region === undefined ? undefined : boxOf(region, this.descriptor.shape);
    const question = {
      ask: "read", ranges, region: box?.text, shape: this.descriptor.shape, type: type === this.dtype ? undefined : type,
      verifyHash: verify, keepZeros,
    };
    const bytes = await archive.ask(question, (buffer) => archive.host.take(Number(buffer)), signal, index, this.index);
    const all = ranges?.reduce((sum, [, count]) => sum + Number(count), 0);
    return { data: arrayOver(type ?? this.dtype, bytes), shape: box?.shape ?? (all === undefined ? this.shape : [all]) };
  }
}

/** A region as the library reads it, and the dimensions that remain. */
function boxOf(region: readonly Pick[], dims: readonly number[]): { text: string; shape: number[] } {
  if (region.length > dims.length) throw new TgmError("call", `${region.length} picks for ${dims.length} dimensions`);
  const shape: number[] = [];
  const texts = dims.map((dim, at) => {
    const pick = region[at] ?? null;
    if (typeof pick === "number") return String(pick < 0 ? pick + dim : pick);
    const [start, end] = pick ?? [0, dim];
    shape.push(end - start);
    return `${start}:${end}`;
  });
  return { text: texts.join(","), shape };
}
