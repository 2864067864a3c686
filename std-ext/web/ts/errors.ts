/** Errors of the package. */

import { NotCbor } from "./internal/cbor.js";
import { Failure } from "./internal/host.js";

/** Facts of an error, where they are known. */
export interface ErrorFacts extends ErrorOptions {
  offset?: number | undefined;
  message?: number | undefined;
  object?: number | undefined;
  expected?: string | undefined;
  actual?: string | undefined;
  isPassing?: boolean;
}

/** An error of messages, their values and their sources. */
export class TgmError extends Error {
  override readonly name = "TgmError";
  /** The byte of the message where it was found. */
  readonly offset: number | undefined;
  /** The number of the message. */
  readonly messageIndex: number | undefined;
  /** The number of the object. */
  readonly objectIndex: number | undefined;
  /** The digests of a "hash_mismatch". */
  readonly expected: string | undefined;
  readonly actual: string | undefined;
  /** Whether the same call may succeed later. */
  readonly isPassing: boolean;

  /** `kind` is "framing", "metadata", "encoding", "compression", "object", "io", "remote", "hash_mismatch", "missing_hash",
   *  "message_too_large", or "call" for wrong arguments. */
  constructor(readonly kind: string, text: string, facts: ErrorFacts = {}) {
    super(text, facts);
    this.offset = facts.offset;
    this.messageIndex = facts.message;
    this.objectIndex = facts.object;
    this.expected = facts.expected;
    this.actual = facts.actual;
    this.isPassing = facts.isPassing ?? false;
  }
}

/** An error of the package for one inside it, with where it was. */
export function explained(error: unknown, message?: number, object?: number): unknown {
  if (error instanceof NotCbor) return new TgmError("metadata", error.message, { message, object });
  if (!(error instanceof Failure)) return error;
  const { kind, raw, offset, objectIndex, expected, actual, cause } = error;
  return new TgmError(kind, raw, { offset, message, object: objectIndex ?? object, expected, actual, cause });
}
