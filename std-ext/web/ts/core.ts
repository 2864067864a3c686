/**
 * The small reader: messages in memory, in 60 KB. It knows raw, packed, szip and shuffled values, masks and digests. Other
 * compressions need the reader of the package's root.
 */

import type { Descriptor, Metadata } from "./archive.js";
import { arrayOver, type Dtype, type TypedArray } from "./internal/arrays.js";
import { decodeCbor, type CborValue } from "./internal/cbor.js";
import { Host, type WasmInput } from "./internal/host.js";

export type { CborValue, Descriptor, Dtype, Metadata, TypedArray, WasmInput };

/** Loads the small reader: `core.wasm` beside the package, or what is given. */
export async function load(input?: WasmInput): Promise<Core> {
  return new Core(await Host.load("core", input));
}

/** The small reader. All calls take bytes with one message; `scan` takes any. */
export class Core {
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  #call(name: string, bytes: Uint8Array, ...more: number[]): Uint8Array<ArrayBuffer> {
    const given = this.#host.buffer(bytes);
    const found = this.#host.plain(name, given, ...more);
    this.#host.plain("tgm_buffer_free", given);
    if (found === 0) throw new Error(new TextDecoder().decode(this.#host.take(this.#host.plain("tgm_small_error"))));
    return this.#host.take(found);
  }

  /** Where messages are. */
  scan(bytes: Uint8Array): { offset: number; length: number }[] {
    const found = this.#call("tgm_small_scan", bytes);
    const view = new DataView(found.buffer);
    return Array.from({ length: found.length / 16 }, (_, at) => ({
      offset: Number(view.getBigUint64(16 * at, true)), length: Number(view.getBigUint64(16 * at + 8, true)),
    }));
  }

  /** The metadata that count: of a streamed message, those of its end. */
  metadata(message: Uint8Array): Partial<Metadata> {
    const found = this.#call("tgm_small_metadata", message);
    return found.length === 0 ? {} : (decodeCbor(found) as Partial<Metadata>);
  }

  /** What the objects of a message are. */
  descriptors(message: Uint8Array): Descriptor[] {
    const found = this.#call("tgm_small_descriptors", message);
    const view = new DataView(found.buffer);
    const list: Descriptor[] = [];
    for (let at = 0; at < found.length;) {
      const end = at + 4 + view.getUint32(at, true);
      list.push(decodeCbor(found.subarray(at + 4, end)) as Descriptor);
      at = end;
    }
    return list;
  }

  /** The values of an object. */
  values(message: Uint8Array, object: number): TypedArray {
    const descriptor = this.descriptors(message)[object];
    if (descriptor === undefined) throw new Error(`there is no object ${object}`);
    return arrayOver(descriptor.dtype, this.#call("tgm_small_values", message, object));
  }

  /** Checks all digests. Throws if one is wrong. */
  verify(message: Uint8Array): void {
    this.#call("tgm_small_verify", message);
  }
}
