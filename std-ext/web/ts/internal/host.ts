/** Instances of the WebAssembly modules, and calls into them. */

import { decodeCbor, encodeCbor, type CborValue } from "./cbor.js";
import { isNode, readFile } from "./node.js";

/** The modules: the small reader, the reader with every decoder, that with the encoder, and datasets. */
export type ModuleName = "core" | "dataset" | "reader" | "writer";

/** What a module can be made of. */
export type WasmInput = URL | Response | WebAssembly.Module | BufferSource;

/** An error inside WebAssembly. */
export class Failure extends Error {
  /** Which of the library's kinds it is: "framing", "metadata", "encoding" … */
  readonly kind: string;
  /** The message with the kind in front. */
  readonly raw: string;
  /** The byte of the input where it was found. */
  readonly offset: number | undefined;
  readonly objectIndex: number | undefined;
  readonly expected: string | undefined;
  readonly actual: string | undefined;

  constructor(found: { [key: string]: CborValue | undefined }, options?: ErrorOptions) {
    super(String(found["message"]), options);
    this.kind = String(found["kind"]);
    this.raw = String(found["raw"]);
    this.offset = (found["offset"] ?? undefined) as number | undefined;
    this.objectIndex = (found["objectIndex"] ?? undefined) as number | undefined;
    this.expected = (found["expected"] ?? undefined) as string | undefined;
    this.actual = (found["actual"] ?? undefined) as string | undefined;
  }
}

/** A value of WebAssembly by its number. It is gone with the instance that made it. */
export interface Held {
  readonly number: number;
  readonly age: number;
}

/** Memory of an instance never shrinks. Above this many bytes an instance is replaced as soon as nothing lives in it. */
const HIGH_WATER = 512 * 1024 * 1024;

type Exports = Record<string, (...args: number[]) => number> & { memory: WebAssembly.Memory };

/** One of the modules, ready to be called. */
export class Host {
  #exports: Exports;
  /** Grows when the instance is replaced. */
  #age = 0;
  #held = 0;
  readonly #lost = new FinalizationRegistry<{ free: string; held: Held }>(({ free, held }) => this.free(free, held));

  constructor(readonly module: WebAssembly.Module) {
    this.#exports = instantiate(module);
  }

  /** Loads a module: from the input, or from the file beside this one. */
  static async load(name: ModuleName, input?: WasmInput): Promise<Host> {
    return new Host(await compile(input ?? new URL(`../${name}.wasm`, import.meta.url)));
  }

  get memoryBytes(): number {
    return this.#exports.memory.buffer.byteLength;
  }

  /** A buffer with a copy of these bytes. */
  buffer(bytes: ArrayBufferView): number {
    const source = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const number = this.#guarded(() => this.#exports["tgm_buffer_new"]!(source.length));
    if (number === 0) throw noMemory(source.length);
    this.#view(number).set(source);
    return number;
  }

  #view(buffer: number): Uint8Array {
    const at = this.#exports["tgm_buffer_at"]!(buffer) >>> 0;
    const length = this.#exports["tgm_buffer_len"]!(buffer) >>> 0;
    return new Uint8Array(this.#exports.memory.buffer, at, length);
  }

  /** The bytes of a buffer, copied to memory of JavaScript. The buffer is gone after this. */
  take(buffer: number): Uint8Array<ArrayBuffer> {
    const bytes = this.#view(buffer).slice();
    this.#exports["tgm_buffer_free"]!(buffer);
    return bytes as Uint8Array<ArrayBuffer>;
  }

  /** Calls a function. Throws `Failure`. */
  call(name: string, args: Record<string, unknown>): CborValue {
    const given = this.buffer(encodeCbor(args));
    const number = this.#guarded(() => this.#exports[name]!(given));
    if (number === 0) throw noMemory(0);
    const [isGood, answer] = decodeCbor(this.#view(number)) as [boolean, CborValue];
    this.#exports["tgm_buffer_free"]!(number);
    if (isGood) return answer;
    this.settle();
    throw new Failure(answer as Record<string, CborValue>);
  }

  /** Replaces an instance whose memory has grown large, if nothing lives in it. To be called when all buffers were taken. */
  settle(): void {
    if (this.#held === 0 && this.memoryBytes > HIGH_WATER) this.#renew();
  }

  #renew(): void {
    this.#age += 1;
    this.#held = 0;
    this.#exports = instantiate(this.module);
  }

  /** Runs what may end the instance: a lack of memory, or a defect. */
  #guarded(work: () => number): number {
    try {
      return work() >>> 0;
    } catch (cause) {
      this.#renew();
      const message = "the WebAssembly module stopped: it has no memory for this, or a defect";
      throw new Failure({ kind: "internal", message, raw: message }, { cause });
    }
  }

  /** Keeps a value of WebAssembly for `owner`. It is freed by the function `free`, at the latest when its owner is gone. */
  hold(owner: object, free: string, number: number): Held {
    const held = { number, age: this.#age };
    this.#held += 1;
    this.#lost.register(owner, { free, held }, held);
    return held;
  }

  /** The number of a value that is still there. */
  number(held: Held): number {
    if (held.age === this.#age) return held.number;
    const message = "the WebAssembly instance that held this was replaced after a failure: open it again";
    throw new Failure({ kind: "internal", message, raw: message });
  }

  /** Whether the instance that has a value is still there. */
  lives(held: Held): boolean {
    return held.age === this.#age;
  }

  /** Frees a value. */
  free(free: string, held: Held): void {
    this.#lost.unregister(held);
    if (held.age !== this.#age) return;
    this.#held -= 1;
    this.#exports[free]!(held.number);
    this.settle();
  }

  /** Gives up a value that its last call has freed. */
  release(held: Held): void {
    this.#lost.unregister(held);
    if (held.age === this.#age) this.#held -= 1;
  }

  /** Calls a function of plain numbers. */
  plain(name: string, ...args: number[]): number {
    return this.#guarded(() => this.#exports[name]!(...args));
  }
}

function noMemory(length: number): Failure {
  const message = `no memory for ${length} bytes`;
  return new Failure({ kind: "encoding", message, raw: message });
}

function instantiate(module: WebAssembly.Module): Exports {
  return new WebAssembly.Instance(module, {}).exports as unknown as Exports;
}

async function compile(input: WasmInput): Promise<WebAssembly.Module> {
  if (input instanceof WebAssembly.Module) return input;
  if (input instanceof URL) {
    if (input.protocol === "file:" && isNode()) return WebAssembly.compile(await readFile(input));
    return compile(await fetch(input));
  }
  if (typeof Response !== "undefined" && input instanceof Response) {
    if (!input.ok) throw new Error(`HTTP ${input.status} for ${input.url}`);
    return WebAssembly.compile(await input.arrayBuffer());
  }
  return WebAssembly.compile(input as BufferSource);
}
