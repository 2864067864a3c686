/** Messages of a stream, as they come. */

import type { CborValue } from "../internal/cbor.js";
import { Failure } from "../internal/host.js";
import { bytesOf, refused } from "./check.js";
import { decoding, frames } from "./decode.js";
import { StreamingLimitError, TensogramError, typed, typing } from "./errors.js";
import { host } from "./init.js";
import type { DecodedFrame, DecodeStreamOptions } from "./types.js";

const MOST_BUFFERED = 256 * 1024 * 1024;

/** A part of a stream: a message with its bytes in a buffer, or other bytes. */
interface Part {
  offset: number;
  bytes?: number;
  length?: number;
  wasMessage?: boolean;
}

/** Decodes the objects of a stream of messages. The work is linear in the bytes, however they are cut. */
export async function* decodeStream(
  stream: ReadableStream<Uint8Array>, options: DecodeStreamOptions = {},
): AsyncGenerator<DecodedFrame, void, undefined> {
  if (typeof (stream as { getReader?: unknown } | null)?.getReader !== "function") {
    throw refused("decodeStream needs a ReadableStream of Uint8Array");
  }
  const most = options.maxBufferBytes ?? MOST_BUFFERED;
  if (typeof most !== "number" || !(most > 0)) throw refused(`maxBufferBytes must be a positive number, got ${String(most)}`);
  options.signal?.throwIfAborted();
  const reader = stream.getReader();
  const messages = new Messages(most, options);
  try {
    for (;;) {
      const { done, value } = await abortable(reader.read(), options.signal);
      yield* messages.push(done ? new Uint8Array(0) : bytesOf(value, "a chunk of the stream"), done);
      if (done) return;
    }
  } finally {
    messages.close();
    reader.releaseLock();
  }
}

/** Rejects with the signal's reason as soon as it is aborted. */
async function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  signal.throwIfAborted();
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", stop);
  });
  // What the read does later is nobody's concern then.
  promise.catch(() => {});
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** The messages of a stream, and what is known of damaged ones. */
class Messages {
  #skipped = 0;
  /** Bytes that came, and bytes of complete parts. */
  #came = 0;
  #done = 0;
  readonly #held;

  constructor(readonly most: number, readonly options: DecodeStreamOptions) {
    const number = Number(typing(() => host().call("tgm_stream_new", { max: Math.min(most, 2 ** 31) })));
    this.#held = host().hold(this, "tgm_stream_free", number);
  }

  *push(bytes: Uint8Array, end: boolean): Generator<DecodedFrame> {
    this.#came += bytes.length;
    const args = { stream: host().number(this.#held), end };
    const found = this.#parts({ ...args, bytes: host().buffer(bytes) });
    try {
      for (let part = found.shift(); part !== undefined; part = found.shift()) yield* this.#frames(part);
    } finally {
      // Messages that nobody asked for any more.
      for (const { bytes } of found) if (bytes !== undefined) host().plain("tgm_buffer_free", bytes);
    }
    if (!end && this.#came - this.#done > this.most) throw this.#beyond();
  }

  #parts(args: Record<string, unknown>): Part[] {
    try {
      return host().call("tgm_stream_push", args) as unknown as Part[];
    } catch (error) {
      throw error instanceof Failure && error.kind === "message_too_large" ? this.#beyond() : typed(error);
    }
  }

  #beyond(): StreamingLimitError {
    return new StreamingLimitError(`the stream holds back more than maxBufferBytes (${this.most} bytes) for one message`);
  }

  *#frames(part: Part): Generator<DecodedFrame> {
    if (part.bytes === undefined) {
      this.#done = part.offset + (part.length ?? 0);
      if (part.wasMessage === true) this.#report(new Error(`the message at byte ${part.offset} is damaged`));
      return;
    }
    this.#done = this.#came;
    let answer: CborValue;
    try {
      answer = host().call("tgm_decode", { bytes: part.bytes, ...decoding(undefined) });
    } catch (error) {
      this.#report(typed(error));
      return;
    }
    yield* frames(answer);
  }

  #report(error: unknown): void {
    this.#skipped += 1;
    const message = error instanceof Error ? error.message : String(error);
    const cause = error instanceof TensogramError || error instanceof Error ? { error } : {};
    this.options.onError?.({ message, skippedCount: this.#skipped, ...cause });
  }

  close(): void {
    host().free("tgm_stream_free", this.#held);
  }
}
