/** Values in metadata. */

import { isPlain } from "./check.js";
import type { GlobalMetadata } from "./types.js";

/** The value at a path below `root`. Only keys of the metadata's own count. */
function walk(root: unknown, parts: string[]): unknown {
  let value = root;
  for (const part of parts) {
    if (!isPlain(value) || !Object.prototype.hasOwnProperty.call(value, part)) return undefined;
    value = value[part];
  }
  return value;
}

/** The value at a dotted path: the first one among the objects, then among the annotations of the message. */
export function getMetaKey(metadata: GlobalMetadata, path: string): unknown {
  if (path === "") return undefined;
  const parts = path.split(".");
  const [first, ...rest] = parts;
  if (first === "_reserved_" || first === "reserved") return undefined;
  if (rest.length > 0 && (first === "_extra_" || first === "extra")) return walk(metadata._extra_, rest);
  for (const entry of metadata.base ?? []) {
    const value = walk(entry, parts);
    if (value !== undefined) return value;
  }
  return walk(metadata._extra_, parts);
}

/** The value at a dotted path in the metadata of one object. */
export function getMetaKeyAt(metadata: GlobalMetadata, index: number, path: string): unknown {
  if (path === "") return undefined;
  const parts = path.split(".");
  if (parts[0] === "_reserved_" || parts[0] === "reserved") return undefined;
  return walk(metadata.base?.[index], parts);
}

const asString = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
const asBool = (value: unknown): boolean | undefined => (typeof value === "boolean" ? value : undefined);
const asInt = (value: unknown): number | bigint | undefined =>
  typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value)) ? value : undefined;
const asFloat = (value: unknown): number | undefined =>
  typeof value === "number" ? value : typeof value === "bigint" ? Number(value) : undefined;

export const hasMetaKey = (metadata: GlobalMetadata, path: string): boolean => getMetaKey(metadata, path) !== undefined;
export const getMetaString = (metadata: GlobalMetadata, path: string): string | undefined => asString(getMetaKey(metadata, path));
export const getMetaInt = (metadata: GlobalMetadata, path: string): number | bigint | undefined => asInt(getMetaKey(metadata, path));
export const getMetaFloat = (metadata: GlobalMetadata, path: string): number | undefined => asFloat(getMetaKey(metadata, path));
export const getMetaBool = (metadata: GlobalMetadata, path: string): boolean | undefined => asBool(getMetaKey(metadata, path));

export const hasMetaKeyAt = (metadata: GlobalMetadata, index: number, path: string): boolean =>
  getMetaKeyAt(metadata, index, path) !== undefined;
export const getMetaStringAt = (metadata: GlobalMetadata, index: number, path: string): string | undefined =>
  asString(getMetaKeyAt(metadata, index, path));
export const getMetaIntAt = (metadata: GlobalMetadata, index: number, path: string): number | bigint | undefined =>
  asInt(getMetaKeyAt(metadata, index, path));
export const getMetaFloatAt = (metadata: GlobalMetadata, index: number, path: string): number | undefined =>
  asFloat(getMetaKeyAt(metadata, index, path));
export const getMetaBoolAt = (metadata: GlobalMetadata, index: number, path: string): boolean | undefined =>
  asBool(getMetaKeyAt(metadata, index, path));

/** The keys that are equal in the metadata of all objects. */
export function computeCommon(metadata: GlobalMetadata): Record<string, unknown> {
  const [first, ...others] = metadata.base ?? [];
  if (first === undefined) return {};
  const isCommon = ([key, value]: [string, unknown]): boolean =>
    key !== "_reserved_" &&
    others.every((entry) => Object.prototype.hasOwnProperty.call(entry, key) && cborValuesEqual(entry[key], value));
  return Object.fromEntries(Object.entries(first).filter(isCommon));
}

/** Whether two values are equal. The order of keys does not count, and NaN equals NaN. */
export function cborValuesEqual(left: unknown, right: unknown): boolean {
  if (left === right || (Number.isNaN(left) && Number.isNaN(right))) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) {
    // The same integer, whichever type it has.
    const [a, b] = [typeof left, typeof right];
    return ((a === "bigint" && b === "number") || (a === "number" && b === "bigint")) && left == right;
  }
  if (ArrayBuffer.isView(left) || ArrayBuffer.isView(right)) {
    return left instanceof Uint8Array && right instanceof Uint8Array && listsEqual([...left], [...right]);
  }
  if (Array.isArray(left) || Array.isArray(right)) {
    return Array.isArray(left) && Array.isArray(right) && listsEqual(left, right);
  }
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) =>
    Object.prototype.hasOwnProperty.call(right, key) &&
    cborValuesEqual((left as Record<string, unknown>)[key], (right as Record<string, unknown>)[key]));
}

function listsEqual(left: unknown[], right: unknown[]): boolean {
  return left.length === right.length && left.every((value, index) => cborValuesEqual(value, right[index]));
}
