/** Messages of a stream, as they come. */

import { explained } from "./errors.js";
import { arrayOver, type TypedArray } from "./internal/arrays.js";
import type { CborValue } from "./internal/cbor.js";
import type { Descriptor, Metadata } from "./archive.js";
import { host } from "./load.js";

/** Options of `stream`. */
export interface StreamOptions {
  /** Bytes of the longest message: 2 GiB by default. */
  maxMessageBytes?: number;
  /** Whether digests are checked. */
  verify?: boolean;
  signal?: AbortSignal;
}

/** An object of a stream. */
export interface StreamObject {
  descriptor: Descriptor;
  metadata: { [key: string]: CborValue };
  data: TypedArray;
}

/** A message of a stream. */
export interface StreamMessage {
  /** Where it begins in the stream. */
  offset: number;
  metadata: Metadata;
  objects: StreamObject[];
}

interface Part {
  offset: number;
  bytes?: number;
}

/** Decodes the messages of a stream of bytes. The work is linear in the bytes, however they are cut. Other bytes are passed over. */
export async function* stream(source: AsyncIterable<Uint8Array>, options: StreamOptions = {}): AsyncGenerator<StreamMessage> {
  const reader = await host("reader");
  const max = options.maxMessageBytes ?? 2 ** 31 - 1;
  const owner = {};
  const held = reader.hold(owner, "tgm_stream_free", Number(reader.call("tgm_stream_new", { max })));
  const push = (bytes: Uint8Array, end: boolean): Part[] =>
    reader.call("tgm_stream_push", { stream: reader.number(held), end, bytes: reader.buffer(bytes) }) as unknown as Part[];
  const decode = ({ offset, bytes }: Part): StreamMessage => {
    const found = reader.call("tgm_decode", { bytes, verifyHash: options.verify }) as unknown as {
      metadata: Metadata; objects: [Descriptor, number][];
    };
    const objects = found.objects.map(([descriptor, buffer], index) => ({
      descriptor, metadata: found.metadata.base[index] ?? {}, data: arrayOver(descriptor.dtype, reader.take(buffer)),
    }));
    return { offset, metadata: found.metadata, objects };
  };
  let parts: Part[] = [];
  function* decoded(): Generator<StreamMessage> {
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) if (part.bytes !== undefined) yield decode(part);
  }
  try {
    for await (const bytes of source) {
      options.signal?.throwIfAborted();
      parts = push(bytes, false);
      yield* decoded();
    }
    parts = push(new Uint8Array(0), true);
    yield* decoded();
  } catch (error) {
    throw explained(error);
  } finally {
    // Messages that nobody asked for any more.
    for (const { bytes } of parts) if (bytes !== undefined) reader.plain("tgm_buffer_free", bytes);
    reader.free("tgm_stream_free", held);
  }
}
