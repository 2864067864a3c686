/** Checks of arguments. */

import { isPlain } from "../internal/cbor.js";
import { InvalidArgumentError } from "./errors.js";

export { isPlain };

/** The error for an argument that is wrong. */
export function refused(text: string): InvalidArgumentError {
  return new InvalidArgumentError(text, `invalid argument: ${text}`);
}

/** Checks that this is a Uint8Array, of whichever realm. */
export function bytesOf(value: unknown, name: string): Uint8Array {
  const isBytes = ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === "[object Uint8Array]";
  if (!isBytes) throw refused(`${name} must be a Uint8Array`);
  return value as Uint8Array;
}

/** Checks that this is an index that can be passed on. */
export function indexOf(value: unknown, name: string): number {
  const isIndex = typeof value === "number" && Number.isInteger(value) && value >= 0;
  if (!isIndex) throw refused(`${name} must be a non-negative integer, got ${String(value)}`);
  return value;
}

/** Checks that this is one of the texts. */
export function oneOf<T extends string>(value: unknown, name: string, texts: readonly T[]): T {
  if (!texts.includes(value as T)) throw refused(`${name} must be one of ${texts.join(", ")}, got ${String(value)}`);
  return value as T;
}
