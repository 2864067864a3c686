/** The error classes of the package `@ecmwf.int/tensogram`. */

import { NotCbor } from "../internal/cbor.js";
import { Failure } from "../internal/host.js";

/** The root of all errors. */
export abstract class TensogramError extends Error {
  /** The message with its kind in front. */
  readonly rawMessage: string;
  /** The byte of the input where it was found, if it is known. */
  offset?: number;
  /** The message that it is about, if it is known. */
  messageIndex?: number;

  constructor(message: string, rawMessage: string = message, options?: ErrorOptions) {
    super(message, options);
    this.rawMessage = rawMessage;
  }
}

/** The structure of a message is wrong. */
export class FramingError extends TensogramError {
  override readonly name: string = "FramingError";
}
/** CBOR, a descriptor or an option is wrong. */
export class MetadataError extends TensogramError {
  override readonly name: string = "MetadataError";
}
/** A stage of the pipeline failed. */
export class EncodingError extends TensogramError {
  override readonly name: string = "EncodingError";
}
/** Data for a partial read is missing. */
export class CompressionError extends TensogramError {
  override readonly name: string = "CompressionError";
}
/** There is no such object. */
export class ObjectError extends TensogramError {
  override readonly name: string = "ObjectError";
}
/** A file, a request or a sink failed. */
export class IoError extends TensogramError {
  override readonly name: string = "IoError";
}
/** A source of bytes failed. */
export class RemoteError extends TensogramError {
  override readonly name: string = "RemoteError";
}
/** A digest is wrong or missing. */
export abstract class IntegrityError extends TensogramError {
  readonly objectIndex: number | undefined;

  constructor(message: string, rawMessage?: string, objectIndex?: number) {
    super(message, rawMessage);
    this.objectIndex = objectIndex;
  }
}
/** The bytes are not those that the digest was made of. */
export class HashMismatchError extends IntegrityError {
  override readonly name: string = "HashMismatchError";
  readonly expected: string | undefined;
  readonly actual: string | undefined;

  constructor(message: string, rawMessage?: string, expected?: string, actual?: string, objectIndex?: number) {
    super(message, rawMessage, objectIndex);
    this.expected = expected;
    this.actual = actual;
  }
}
/** The object has no digest. */
export class MissingHashError extends IntegrityError {
  override readonly name: string = "MissingHashError";
}
/** An argument is wrong. */
export class InvalidArgumentError extends TensogramError {
  override readonly name: string = "InvalidArgumentError";
}
/** A stream holds more than is allowed. */
export class StreamingLimitError extends TensogramError {
  override readonly name: string = "StreamingLimitError";
}

const CLASSES: Record<string, new (message: string, raw: string, options?: ErrorOptions) => TensogramError> = {
  framing: FramingError,
  metadata: MetadataError,
  encoding: EncodingError,
  compression: CompressionError,
  object: ObjectError,
  io: IoError,
  remote: RemoteError,
  message_too_large: StreamingLimitError,
  internal: EncodingError,
  call: InvalidArgumentError,
};

/** The error of these classes for any other one. */
export function typed(error: unknown): unknown {
  if (error instanceof NotCbor) return new FramingError(error.message, `framing error: ${error.message}`);
  if (!(error instanceof Failure)) return error;
  const { kind, message, raw, objectIndex, expected, actual, offset } = error;
  let made: TensogramError;
  if (kind === "hash_mismatch") made = new HashMismatchError(message, raw, expected, actual, objectIndex);
  else if (kind === "missing_hash") made = new MissingHashError(message, raw, objectIndex);
  else made = new (CLASSES[kind] ?? FramingError)(message, raw, { cause: error.cause });
  if (offset !== undefined) made.offset = offset;
  return made;
}

/** Runs something, with errors of these classes. */
export function typing<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw typed(error);
  }
}
