/** Messages that are written object by object. */

import "../internal/dispose.js";
import { joined } from "../internal/joined.js";
import { descriptorOf, entryOf, metadataOf, valuesOf } from "../internal/objects.js";
import { bytesOf, isPlain, refused } from "./check.js";
import { encoding } from "./encode.js";
import { IoError, typing } from "./errors.js";
import { host } from "./init.js";
import type { Held } from "../internal/host.js";
import type { BaseEntry, DataObjectDescriptor, GlobalMetadata, StreamingEncoderOptions } from "./types.js";

/** Encodes one message object by object. With `onBytes` no byte is kept. */
export class StreamingEncoder {
  #held: Held | undefined;
  #count = 0;
  #written = 0;
  readonly #chunks: Uint8Array[] = [];
  readonly #onBytes: ((chunk: Uint8Array) => void) | undefined;

  constructor(metadata: GlobalMetadata, options: StreamingEncoderOptions = {}) {
    const { onBytes, ...rest } = options;
    if (onBytes !== undefined && typeof onBytes !== "function") throw refused("onBytes must be a function");
    this.#onBytes = onBytes;
    const args = { metadata: metadataOf(metadata, refused), ...encoding(rest) };
    const answer = typing(() => host().call("tgm_encoder_new", args)) as unknown as Written;
    this.#held = host().hold(this, "tgm_encoder_free", answer.encoder);
    this.#hand(answer);
  }

  #open(): Held {
    if (this.#held === undefined) throw refused("the StreamingEncoder is finished or closed");
    return this.#held;
  }

  #call(name: string, args: () => Record<string, unknown>): void {
    const encoder = host().number(this.#open());
    this.#hand(typing(() => host().call(name, { encoder, ...args() })) as unknown as Written);
  }

  /** Hands over what was written. */
  #hand({ bytes, count }: Written): void {
    const chunk = host().take(bytes);
    this.#count = count;
    if (chunk.length === 0) return;
    this.#written += chunk.length;
    if (this.#onBytes === undefined) {
      this.#chunks.push(chunk);
      return;
    }
    try {
      this.#onBytes(chunk);
    } catch (cause) {
      // The message is not complete, and can't be.
      this.close();
      throw new IoError(`onBytes failed: ${cause instanceof Error ? cause.message : String(cause)}`, undefined, { cause });
    }
  }

  /** Writes metadata of the next object before it. */
  writePreceder(entry: BaseEntry): void {
    this.#open();
    if (!isPlain(entry)) throw refused("the entry must be a plain object");
    this.#call("tgm_encoder_preceder", () => ({ entry: entryOf(entry, "the entry", refused) }));
  }

  /** Encodes and writes an object. */
  writeObject(descriptor: DataObjectDescriptor, data: ArrayBufferView): void {
    this.#open();
    const checked = descriptorOf(descriptor, "descriptor", refused);
    const bytes = valuesOf(data, checked, "data", refused);
    this.#call("tgm_encoder_object", () => ({ descriptor: checked, data: host().buffer(bytes) }));
  }

  /** Writes an object whose bytes went through its pipeline before. */
  writeObjectPreEncoded(descriptor: DataObjectDescriptor, data: Uint8Array): void {
    this.#open();
    const checked = descriptorOf(descriptor, "descriptor", refused);
    bytesOf(data, "data");
    this.#call("tgm_encoder_object", () => ({ descriptor: checked, data: host().buffer(data), stored: true }));
  }

  get objectCount(): number {
    this.#open();
    return this.#count;
  }

  get bytesWritten(): number {
    this.#open();
    return this.#written;
  }

  /** Whether bytes go to `onBytes`. */
  get streaming(): boolean {
    this.#open();
    return this.#onBytes !== undefined;
  }

  /** Ends the message. Returns its bytes, or none with `onBytes`. */
  finish(): Uint8Array<ArrayBuffer> {
    const held = this.#open();
    const number = host().number(held);
    host().release(held);
    this.#held = undefined;
    this.#hand(typing(() => host().call("tgm_encoder_finish", { encoder: number })) as unknown as Written);
    return joined(this.#chunks.splice(0));
  }

  /** Gives up what was not finished. */
  close(): void {
    if (this.#held !== undefined) host().free("tgm_encoder_free", this.#held);
    this.#held = undefined;
    this.#chunks.length = 0;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** What WebAssembly answers. */
interface Written {
  encoder: number;
  count: number;
  bytes: number;
}
