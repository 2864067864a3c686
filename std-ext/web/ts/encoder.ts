/** Messages that are written object by object. */

import "./internal/dispose.js";
import { explained, TgmError } from "./errors.js";
import type { Dtype } from "./internal/arrays.js";
import type { Held, Host } from "./internal/host.js";
import { joined } from "./internal/joined.js";
import { descriptorOf, entryOf, metadataOf, provenance, valuesOf } from "./internal/objects.js";
import { host } from "./load.js";

const refuse = (text: string): TgmError => new TgmError("call", text);

/** Options of an encoder. */
export interface EncoderOptions {
  /** Where bytes go as they are written. Without it they are kept, and `finish` returns them. */
  sink?: WritableStream<Uint8Array>;
  /** What is said of the message. */
  extra?: Record<string, unknown>;
  /** Whether NaN and infinities are kept, by masks. */
  allowNonFinite?: boolean;
  /** Whether there are no digests. */
  noHash?: boolean;
}

/** An object to be written. */
export interface ObjectInput {
  shape: readonly number[];
  dtype: Dtype;
  data: ArrayBufferView;
  /** The object's entry of the metadata. */
  metadata?: Record<string, unknown>;
  /** What it has to keep: every value within an error, so many bits of each, or all. Otherwise values are stored as they are. */
  within?: number;
  bits?: number;
  lossless?: boolean;
  /** Stages and their parameters, in the place of these. */
  stages?: Record<string, unknown>;
}

interface Written {
  encoder: number;
  count: number;
  bytes: number;
}

/** Encodes a message object by object. */
export class Encoder {
  readonly #host: Host;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array> | undefined;
  readonly #chunks: Uint8Array[] = [];
  #held: Held | undefined;

  private constructor(host: Host, options: EncoderOptions) {
    this.#host = host;
    this.#writer = options.sink?.getWriter();
    const { extra = {}, allowNonFinite = false, noHash = false } = options;
    const flags = { allowNan: allowNonFinite, allowInf: allowNonFinite, noHash, ...provenance() };
    const answer = this.#call("tgm_encoder_new", { metadata: metadataOf({ _extra_: extra }, refuse), ...flags });
    this.#held = host.hold(this, "tgm_encoder_free", answer.encoder);
    this.#chunks.push(host.take(answer.bytes));
  }

  /** Begins a message. */
  static async create(options: EncoderOptions = {}): Promise<Encoder> {
    const encoder = new Encoder(await host("writer"), options);
    await encoder.#hand();
    return encoder;
  }

  #call(name: string, args: Record<string, unknown>): Written {
    try {
      return this.#host.call(name, args) as unknown as Written;
    } catch (error) {
      throw explained(error);
    }
  }

  #number(): number {
    if (this.#held === undefined) throw new TgmError("call", "the encoder is finished");
    return this.#host.number(this.#held);
  }

  /** Hands chunks to the sink, and waits as long as it asks for that. */
  async #hand(): Promise<void> {
    if (this.#writer === undefined) return;
    for (const chunk of this.#chunks.splice(0)) {
      await this.#writer.ready;
      await this.#writer.write(chunk);
    }
  }

  /** Encodes and writes an object. */
  async object(input: ObjectInput): Promise<void> {
    const encoder = this.#number();
    const { shape, dtype, data, metadata, within, bits, lossless, stages = {} } = input;
    const descriptor = descriptorOf({ type: "ntensor", shape: [...shape], dtype, ...stages }, "descriptor", refuse);
    const bytes = valuesOf(data, descriptor, "data", refuse);
    if (metadata !== undefined && Object.keys(metadata).length > 0) {
      this.#chunks.push(this.#host.take(this.#call("tgm_encoder_preceder", { encoder, entry: entryOf(metadata, "metadata", refuse) }).bytes));
    }
    const args = { encoder, descriptor, within, bits, lossless };
    this.#chunks.push(this.#host.take(this.#call("tgm_encoder_object", { ...args, data: this.#host.buffer(bytes) }).bytes));
    await this.#hand();
  }

  /** Ends the message. Returns its bytes, or none with a sink, which is closed. */
  async finish(): Promise<Uint8Array<ArrayBuffer>> {
    const encoder = this.#number();
    this.#host.release(this.#held!);
    this.#held = undefined;
    this.#chunks.push(this.#host.take(this.#call("tgm_encoder_finish", { encoder }).bytes));
    await this.#hand();
    await this.#writer?.close();
    return joined(this.#chunks.splice(0));
  }

  /** Gives up what was not finished. */
  close(): void {
    if (this.#held !== undefined) this.#host.free("tgm_encoder_free", this.#held);
    this.#held = undefined;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
