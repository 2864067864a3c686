/** Element types and their arrays. */

import { DTYPE_BYTE_WIDTH, arrayOver, isDtype, type Dtype, type TypedArray } from "../internal/arrays.js";
import { refused } from "./check.js";

/** Bytes of so many elements. Bits of a bitmask are rounded up to bytes. */
export function payloadByteSize(dtype: Dtype, elementCount: number): number {
  if (!isDtype(dtype)) throw refused(`unknown dtype ${String(dtype)}`);
  if (!Number.isFinite(elementCount) || elementCount < 0) throw refused(`element count ${String(elementCount)} is not a count`);
  return dtype === "bitmask" ? Math.ceil(elementCount / 8) : elementCount * DTYPE_BYTE_WIDTH[dtype];
}

/** The product of the dimensions: 1 for a scalar. */
export function shapeElementCount(shape: readonly number[]): number {
  return shape.reduce((product, dim) => product * Number(dim), 1);
}

/** An array of that dtype with these bytes. Without `copy` it shares their memory if they are aligned. */
export function typedArrayFor(dtype: Dtype, bytes: Uint8Array, copy = true): TypedArray {
  if (!isDtype(dtype)) throw refused(`unknown dtype ${String(dtype)}`);
  // Not `slice`, which of Node's Buffer is a view.
  return arrayOver(dtype, copy ? new Uint8Array(bytes) : bytes);
}
