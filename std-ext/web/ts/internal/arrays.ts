/** Arrays of the dtypes of the format. */

import { float16 } from "./cbor.js";
import { fromBfloat16, toBfloat16, toFloat16 } from "./numbers.js";

/** Bytes of an element. Bits of a bitmask are packed: it has 0. */
export const DTYPE_BYTE_WIDTH = Object.freeze({
  float16: 2, bfloat16: 2, float32: 4, float64: 8, complex64: 8, complex128: 16,
  int8: 1, int16: 2, int32: 4, int64: 8, uint8: 1, uint16: 2, uint32: 4, uint64: 8, bitmask: 0,
} as const);

/** The name of an element type. */
export type Dtype = keyof typeof DTYPE_BYTE_WIDTH;

/** All names of element types. */
export const SUPPORTED_DTYPES = Object.freeze(Object.keys(DTYPE_BYTE_WIDTH)) as readonly Dtype[];

/** Whether this is the name of an element type. */
export function isDtype(value: unknown): value is Dtype {
  return typeof value === "string" && Object.prototype.hasOwnProperty.call(DTYPE_BYTE_WIDTH, value);
}

/** An array of numbers that are kept as 16 bits. */
abstract class Narrow implements Iterable<number> {
  static readonly BYTES_PER_ELEMENT: number = 2;
  readonly BYTES_PER_ELEMENT: number = 2;
  /** The bits. They are shared with this array. */
  readonly bits: Uint16Array;

  constructor(source: number | Iterable<number> | ArrayLike<number> | ArrayBufferLike, byteOffset?: number, length?: number) {
    if (typeof source === "number") this.bits = new Uint16Array(source);
    else if (isBuffer(source)) this.bits = new Uint16Array(source, byteOffset, length);
    else this.bits = Uint16Array.from(source as ArrayLike<number>, (value) => this.narrow(value));
  }

  protected abstract narrow(value: number): number;
  protected abstract widen(bits: number): number;
  protected abstract make(bits: Uint16Array): this;

  get length(): number {
    return this.bits.length;
  }

  get byteLength(): number {
    return this.bits.byteLength;
  }

  get byteOffset(): number {
    return this.bits.byteOffset;
  }

  get buffer(): ArrayBufferLike {
    return this.bits.buffer;
  }

  /** An element, counted from the end if the index is negative. Undefined outside. */
  at(index: number): number | undefined {
    const bits = this.bits.at(index);
    return bits === undefined ? undefined : this.widen(bits);
  }

  /** An element. NaN outside. */
  get(index: number): number {
    const bits = this.bits[index];
    return bits === undefined ? NaN : this.widen(bits);
  }

  /** Copies numbers into this array, from `offset` on. */
  set(source: ArrayLike<number> | Iterable<number>, offset = 0): void {
    this.bits.set(source instanceof Narrow && source.constructor === this.constructor
      ? source.bits
      : Array.from(source as ArrayLike<number>, (value) => this.narrow(value)), offset);
  }

  fill(value: number, start?: number, end?: number): this {
    this.bits.fill(this.narrow(value), start, end);
    return this;
  }

  /** A copy of a part. */
  slice(start?: number, end?: number): this {
    return this.make(this.bits.slice(start, end));
  }

  /** A part that shares its memory. */
  subarray(start?: number, end?: number): this {
    return this.make(this.bits.subarray(start, end));
  }

  toArray(): number[] {
    return Array.from(this.bits, (bits) => this.widen(bits));
  }

  toFloat32Array(): Float32Array {
    return Float32Array.from(this.bits, (bits) => this.widen(bits));
  }

  *[Symbol.iterator](): IterableIterator<number> {
    for (const bits of this.bits) yield this.widen(bits);
  }
}

function isBuffer(value: unknown): value is ArrayBufferLike {
  return value instanceof ArrayBuffer || (typeof SharedArrayBuffer !== "undefined" && value instanceof SharedArrayBuffer);
}

/** float16, where the host has no `Float16Array`. */
export class Float16Polyfill extends Narrow {
  static from(source: Iterable<number> | ArrayLike<number>): Float16Polyfill {
    return new Float16Polyfill(source);
  }

  static of(...values: number[]): Float16Polyfill {
    return new Float16Polyfill(values);
  }

  get [Symbol.toStringTag](): string {
    return "Float16Polyfill";
  }

  protected narrow(value: number): number {
    return toFloat16(Number(value));
  }

  protected widen(bits: number): number {
    return float16(bits);
  }

  protected make(bits: Uint16Array): this {
    return new Float16Polyfill(bits.buffer, bits.byteOffset, bits.length) as this;
  }
}

/** bfloat16. */
export class Bfloat16Array extends Narrow {
  static from(source: Iterable<number> | ArrayLike<number>): Bfloat16Array {
    return new Bfloat16Array(source);
  }

  static of(...values: number[]): Bfloat16Array {
    return new Bfloat16Array(values);
  }

  get [Symbol.toStringTag](): string {
    return "Bfloat16Array";
  }

  protected narrow(value: number): number {
    return toBfloat16(Number(value));
  }

  protected widen(bits: number): number {
    return fromBfloat16(bits);
  }

  protected make(bits: Uint16Array): this {
    return new Bfloat16Array(bits.buffer, bits.byteOffset, bits.length) as this;
  }
}

/** The parts of a complex number. */
export interface ComplexPair {
  re: number;
  im: number;
}

/** The dtypes of complex numbers. */
export type ComplexDtype = "complex64" | "complex128";

/** What holds complex numbers: real and imaginary parts in turn. */
export type ComplexStorage = Float32Array | Float64Array;

/** Complex numbers. */
export class ComplexArray implements Iterable<ComplexPair> {
  constructor(readonly dtype: ComplexDtype, readonly data: ComplexStorage) {
    const [Storage, name] = dtype === "complex64" ? [Float32Array, "Float32Array"] : [Float64Array, "Float64Array"];
    if (dtype !== "complex64" && dtype !== "complex128") throw new TypeError(`not a complex dtype: ${String(dtype)}`);
    if (!(data instanceof Storage)) throw new TypeError(`${dtype} requires a ${name}`);
    if (data.length % 2 !== 0) throw new RangeError(`the storage's length ${data.length} must be even`);
  }

  get length(): number {
    return this.data.length / 2;
  }

  real(index: number): number {
    return this.data[2 * index] ?? NaN;
  }

  imag(index: number): number {
    return this.data[2 * index + 1] ?? NaN;
  }

  get(index: number): ComplexPair {
    return { re: this.real(index), im: this.imag(index) };
  }

  set(index: number, re: number, im: number): void {
    if (!Number.isInteger(index) || index < 0 || index >= this.length) {
      throw new RangeError(`index ${index} is not one of ${this.length} elements`);
    }
    this.data[2 * index] = re;
    this.data[2 * index + 1] = im;
  }

  *[Symbol.iterator](): IterableIterator<ComplexPair> {
    for (let index = 0; index < this.length; index += 1) yield this.get(index);
  }

  toArray(): [number, number][] {
    return Array.from(this, ({ re, im }) => [re, im]);
  }
}

/** What an array of float16 is: the host's class or the polyfill. */
export interface Float16ArrayLike extends Iterable<number> {
  readonly length: number;
  readonly byteLength: number;
  readonly byteOffset: number;
  readonly buffer: ArrayBufferLike;
  readonly BYTES_PER_ELEMENT: number;
  at(index: number): number | undefined;
  set(source: ArrayLike<number>, offset?: number): void;
  slice(start?: number, end?: number): Float16ArrayLike;
  subarray(start?: number, end?: number): Float16ArrayLike;
}

/** The class of such arrays. */
export interface Float16Ctor {
  readonly BYTES_PER_ELEMENT: number;
  new (length: number): Float16ArrayLike;
  new (values: Iterable<number> | ArrayLike<number>): Float16ArrayLike;
  new (buffer: ArrayBufferLike, byteOffset?: number, length?: number): Float16ArrayLike;
}

function native(): Float16Ctor | undefined {
  const found = (globalThis as { Float16Array?: unknown }).Float16Array;
  return typeof found === "function" ? (found as Float16Ctor) : undefined;
}

/** Whether the host has `Float16Array`. */
export function hasNativeFloat16Array(): boolean {
  return native() !== undefined;
}

/** The host's `Float16Array`, else the polyfill. */
export function getFloat16ArrayCtor(): Float16Ctor {
  return native() ?? Float16Polyfill;
}

/** An array over bytes. It shares their memory if they are aligned. */
type Over<T> = (new (buffer: ArrayBufferLike, byteOffset: number, length: number) => T) & { readonly BYTES_PER_ELEMENT: number };

function over<T>(Class: Over<T>, bytes: Uint8Array): T {
  const width = Class.BYTES_PER_ELEMENT;
  const aligned = bytes.byteOffset % width === 0 ? bytes : bytes.slice();
  return new Class(aligned.buffer, aligned.byteOffset, Math.floor(aligned.byteLength / width));
}

function whole(bytes: Uint8Array, width: number, name: string): Uint8Array {
  if (bytes.byteLength % width !== 0) throw new RangeError(`${bytes.byteLength} bytes are no multiple of ${width}: ${name}`);
  return bytes;
}

/** float16 over bytes, without a copy if they are aligned. */
export function float16FromBytes(bytes: Uint8Array): Float16ArrayLike {
  return over(getFloat16ArrayCtor() as Over<Float16ArrayLike>, whole(bytes, 2, "float16"));
}

/** bfloat16 over bytes, without a copy if they are aligned. */
export function bfloat16FromBytes(bytes: Uint8Array): Bfloat16Array {
  return over(Bfloat16Array, whole(bytes, 2, "bfloat16"));
}

/** Complex numbers over bytes, without a copy if they are aligned. */
export function complexFromBytes(dtype: ComplexDtype, bytes: Uint8Array): ComplexArray {
  if (dtype === "complex64") return new ComplexArray(dtype, over(Float32Array, whole(bytes, 8, dtype)));
  return new ComplexArray(dtype, over(Float64Array, whole(bytes, 16, dtype)));
}

/** An array of any dtype. */
export type TypedArray =
  | Float32Array | Float64Array | Int8Array | Int16Array | Int32Array | Uint8Array | Uint16Array | Uint32Array
  | BigInt64Array | BigUint64Array | Float16ArrayLike | Bfloat16Array | ComplexArray;

const CLASSES = {
  float32: Float32Array, float64: Float64Array, int8: Int8Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array,
  uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, uint64: BigUint64Array, bitmask: Uint8Array,
} as const;

/** An array of that dtype over bytes, without a copy if they are aligned. What remains beyond whole elements is left out. */
export function arrayOver(dtype: Dtype, bytes: Uint8Array): TypedArray {
  const width = DTYPE_BYTE_WIDTH[dtype];
  const some = width > 1 ? bytes.subarray(0, bytes.byteLength - (bytes.byteLength % width)) : bytes;
  switch (dtype) {
    case "float16": return float16FromBytes(some);
    case "bfloat16": return bfloat16FromBytes(some);
    case "complex64":
    case "complex128": return complexFromBytes(dtype, some);
    default: return over(CLASSES[dtype] as Over<TypedArray>, some);
  }
}
