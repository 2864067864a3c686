/** Messages in memory. */

import "../internal/dispose.js";
import { arrayOver, type Dtype, type TypedArray } from "../internal/arrays.js";
import type { CborValue } from "../internal/cbor.js";
import { joined } from "../internal/joined.js";
import { bytesOf, indexOf, refused } from "./check.js";
import { typing } from "./errors.js";
import { host } from "./init.js";
import type {
  BaseEntry, DataObjectDescriptor, DecodedFrame, DecodedMessage, DecodedObject, DecodeOptions, DecodeRangeOptions,
  DecodeRangeResult, GlobalMetadata, MessagePosition, RangePair,
} from "./types.js";

/** The version of the format. */
export const WIRE_VERSION = 3;

/** What WebAssembly answers for decoded messages. Objects are pairs of descriptor and buffer. */
export interface Answer {
  metadata: GlobalMetadata;
  objects: [DataObjectDescriptor, number][];
}

/** Values in memory of JavaScript, for as long as they are not closed. */
class Values implements DecodedObject {
  #bytes: Uint8Array | undefined;
  readonly byteLength: number;

  constructor(readonly descriptor: DataObjectDescriptor, bytes: Uint8Array) {
    this.#bytes = bytes;
    this.byteLength = bytes.byteLength;
  }

  #open(): Uint8Array {
    if (this.#bytes === undefined) throw refused("the decoded message is closed");
    return this.#bytes;
  }

  data(): TypedArray {
    return arrayOver(this.descriptor.dtype as Dtype, this.#open().slice());
  }

  dataView(): TypedArray {
    return arrayOver(this.descriptor.dtype as Dtype, this.#open());
  }

  close(): void {
    this.#bytes = undefined;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** An object of a stream. */
class Frame extends Values implements DecodedFrame {
  constructor(descriptor: DataObjectDescriptor, bytes: Uint8Array, readonly baseEntry: BaseEntry | null) {
    super(descriptor, bytes);
  }
}

class Message implements DecodedMessage {
  constructor(readonly metadata: GlobalMetadata, readonly objects: Values[]) {}

  close(): void {
    for (const object of this.objects) object.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** Metadata with the version of the format in front. */
export function versioned(metadata: CborValue | GlobalMetadata): GlobalMetadata {
  return { version: WIRE_VERSION, ...(metadata as GlobalMetadata) };
}

/** A message of values. */
export function messageOf(metadata: GlobalMetadata, objects: [DataObjectDescriptor, Uint8Array][]): DecodedMessage {
  return new Message(metadata, objects.map(([descriptor, bytes]) => new Values(descriptor, bytes)));
}

/** The message that was answered. Takes all its buffers. */
export function taken(answer: CborValue): DecodedMessage {
  const { metadata, objects } = answer as unknown as Answer;
  return messageOf(versioned(metadata), objects.map(([descriptor, buffer]) => [descriptor, host().take(buffer)]));
}

/** The objects that were answered, each by itself. */
export function frames(answer: CborValue): DecodedFrame[] {
  const { metadata, objects } = answer as unknown as Answer;
  return objects.map(([descriptor, buffer], index) =>
    new Frame(descriptor, host().take(buffer), metadata.base?.[index] ?? null));
}

/** Options of decoding as WebAssembly has them. */
export function decoding(options: DecodeOptions | undefined): Record<string, unknown> {
  // As programs for the reference know it, only a frame's own flag says whether it has a digest.
  return { keepZeros: options?.restoreNonFinite === false, verifyHash: options?.verifyHash === true, strict: true };
}

/** Decodes the first message of the bytes. */
export function decode(bytes: Uint8Array, options?: DecodeOptions): DecodedMessage {
  bytesOf(bytes, "buf");
  return typing(() => taken(host().call("tgm_decode", { bytes: host().buffer(bytes), ...decoding(options) })));
}

/** The metadata of the first message. Payloads are not read. */
export function decodeMetadata(bytes: Uint8Array): GlobalMetadata {
  bytesOf(bytes, "buf");
  return typing(() => versioned(host().call("tgm_metadata", { bytes: host().buffer(bytes) })));
}

/** Decodes one object of the first message. */
export function decodeObject(bytes: Uint8Array, index: number, options?: DecodeOptions): DecodedMessage {
  bytesOf(bytes, "buf");
  indexOf(index, "index");
  return typing(() =>
    taken(host().call("tgm_decode_object", { bytes: host().buffer(bytes), index: within32(index), ...decoding(options) })));
}

/** An index that WebAssembly can tell from others. No message has as many objects. */
function within32(index: number): number {
  return Math.min(index, 0xffffffff);
}

/** Decodes ranges of elements of one object. Each is an offset and a count. */
export function decodeRange(
  bytes: Uint8Array, objectIndex: number, ranges: readonly RangePair[], options?: DecodeRangeOptions,
): DecodeRangeResult {
  bytesOf(bytes, "buf");
  if (indexOf(objectIndex, "objectIndex") >= 2 ** 32) throw refused(`objectIndex ${objectIndex} is beyond 32 bits`);
  const pairs = rangesOf(ranges);
  return typing(() => {
    const args = { bytes: host().buffer(bytes), index: objectIndex, ranges: pairs, refuse: true };
    const { descriptor, parts } = host().call("tgm_decode_range", args) as unknown as Ranges;
    return ranged(descriptor, parts.map((buffer) => host().take(buffer)), options);
  });
}

interface Ranges {
  descriptor: DataObjectDescriptor;
  parts: number[];
}

/** Checks ranges. */
export function rangesOf(ranges: unknown): [bigint, bigint][] {
  if (!Array.isArray(ranges)) throw refused("ranges must be an array of [offset, count] pairs");
  return ranges.map((pair: unknown, index) => {
    if (!Array.isArray(pair) || pair.length !== 2) throw refused(`ranges[${index}] must be an [offset, count] pair`);
    const [offset, count] = pair.map((part: unknown) => {
      const isWhole = typeof part === "bigint" || (typeof part === "number" && Number.isInteger(part));
      const number = isWhole ? BigInt(part as number) : -1n;
      if (number < 0n || number >= 1n << 64n) {
        throw refused(`ranges[${index}] must be two non-negative integers below 2^64, got ${String(part)}`);
      }
      return number;
    });
    return [offset!, count!];
  });
}

/** Parts as arrays, or as one with `join`. */
export function ranged(
  descriptor: DataObjectDescriptor, parts: Uint8Array[], options: DecodeRangeOptions | undefined,
): DecodeRangeResult {
  const bytes = options?.join === true ? [joined(parts)] : parts;
  return { descriptor, parts: bytes.map((part) => arrayOver(descriptor.dtype as Dtype, part)) };
}

/** Where messages are. Other bytes are passed over. */
export function scan(bytes: Uint8Array): MessagePosition[] {
  bytesOf(bytes, "buf");
  const found = typing(() => host().call("tgm_scan", { bytes: host().buffer(bytes) })) as [number, number][];
  return found.map(([offset, length]) => ({ offset, length }));
}
