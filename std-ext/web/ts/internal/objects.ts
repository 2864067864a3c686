/** What is written: metadata, descriptors and values, checked and completed. */

import { Bfloat16Array, DTYPE_BYTE_WIDTH, Float16Polyfill, isDtype, type Dtype } from "./arrays.js";
import { isPlain } from "./cbor.js";

/** Makes the error for an argument that is wrong. */
export type Refuse = (text: string) => Error;

/** The time and the uuid of a new message. */
export function provenance(): { time: string; uuid: string } {
  return { time: new Date().toISOString().replace(/\.\d+Z$/, "Z"), uuid: newUuid() };
}

/** A new uuid. Pages without https have no `randomUUID`. */
function newUuid(): string {
  if (typeof crypto.randomUUID === "function") return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Checks metadata, and sorts their keys to where the format has them. */
export function metadataOf(metadata: unknown, refuse: Refuse): Record<string, unknown> {
  if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata)) {
    throw refuse("metadata must be a plain object");
  }
  const { base, _extra_, _reserved_, ...others } = metadata as Record<string, unknown>;
  if (_reserved_ !== undefined || "_reserved_" in metadata) throw refuse("metadata must not have _reserved_: the library writes it");
  if (base !== undefined && !Array.isArray(base)) throw refuse("metadata.base must be an array");
  const entries = ((base ?? []) as unknown[]).map((entry, index) => entryOf(entry, `metadata.base[${index}]`, refuse));
  if (_extra_ !== undefined && !isPlain(_extra_)) throw refuse("metadata._extra_ must be a plain object");
  return { base: entries, _extra_: { ...others, ..._extra_ } };
}

/** Checks the metadata of one object. */
export function entryOf(entry: unknown, name: string, refuse: Refuse): Record<string, unknown> {
  if (!isPlain(entry) && !(entry instanceof Map)) throw refuse(`${name} must be a plain object`);
  const has = entry instanceof Map ? entry.has("_reserved_") : "_reserved_" in entry;
  if (has) throw refuse(`${name} must not have _reserved_: the library writes it`);
  return entry as Record<string, unknown>;
}

/** Checks a descriptor, and fills in what follows from its shape. */
export function descriptorOf(descriptor: unknown, name: string, refuse: Refuse): Record<string, unknown> {
  if (!isPlain(descriptor)) throw refuse(`${name} must be a plain object`);
  const { type, shape, dtype, byte_order = "little" } = descriptor;
  if (typeof type !== "string") throw refuse(`${name}.type must be a string`);
  if (!Array.isArray(shape)) throw refuse(`${name}.shape must be an array`);
  if (!isDtype(dtype)) throw refuse(`${name}.dtype ${String(dtype)} is unknown`);
  if (byte_order !== "big" && byte_order !== "little") throw refuse(`${name}.byte_order must be big or little, got ${String(byte_order)}`);
  let stride = 1;
  const strides = shape.map(() => 0);
  for (let dim = shape.length - 1; dim >= 0; dim -= 1) {
    strides[dim] = stride;
    stride *= Number(shape[dim]);
  }
  const filled = { encoding: "none", filter: "none", compression: "none", strides, ndim: shape.length };
  const given = Object.fromEntries(Object.entries(descriptor).filter(([, value]) => value !== undefined));
  return { ...filled, ...given, byte_order };
}

/** The bytes of an array, in the byte order that the descriptor declares. */
export function valuesOf(data: unknown, descriptor: Record<string, unknown>, name: string, refuse: Refuse): Uint8Array {
  const bytes = viewOf(data, name, refuse);
  // A typed array is in this machine's order; bytes are in the declared one already.
  const isBytes = ArrayBuffer.isView(data) && (data instanceof DataView || data instanceof Uint8Array);
  const unit = swapUnit(descriptor["dtype"] as Dtype);
  return !isBytes && descriptor["byte_order"] === "big" && unit > 1 ? swapped(bytes, unit) : bytes;
}

function viewOf(data: unknown, name: string, refuse: Refuse): Uint8Array {
  if (data instanceof Bfloat16Array || data instanceof Float16Polyfill) return viewOf(data.bits, name, refuse);
  if (!ArrayBuffer.isView(data)) throw refuse(`${name} must be an ArrayBufferView`);
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

/** Bytes that are swapped together: a complex number has two parts. */
function swapUnit(dtype: Dtype): number {
  const width = DTYPE_BYTE_WIDTH[dtype];
  return dtype.startsWith("complex") ? width / 2 : width;
}

function swapped(bytes: Uint8Array, unit: number): Uint8Array {
  const out = new Uint8Array(bytes.length);
  for (let at = 0; at < bytes.length; at += 1) {
    const first = at - (at % unit);
    out[first + unit - 1 - (at % unit)] = bytes[at]!;
  }
  return out;
}
