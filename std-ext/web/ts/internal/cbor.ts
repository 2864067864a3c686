/** CBOR: the form in which arguments, metadata and descriptors cross into WebAssembly and back. */

/** A value as it comes out. Integers beyond ±2^53 are bigints. */
export type CborValue = null | boolean | number | bigint | string | Uint8Array | CborValue[] | { [key: string]: CborValue };

/** A value that has no form in CBOR. */
export class NotCbor extends Error {}

const DEEPEST = 120;
const utf8 = new TextEncoder();
const text = new TextDecoder("utf-8", { ignoreBOM: true });

class Writer {
  bytes = new Uint8Array(256);
  view = new DataView(this.bytes.buffer);
  length = 0;

  /** Makes room for `count` bytes. Returns where they begin. */
  room(count: number): number {
    const start = this.length;
    this.length += count;
    if (this.length > this.bytes.length) {
      const grown = new Uint8Array(Math.max(this.length, 2 * this.bytes.length));
      grown.set(this.bytes);
      this.bytes = grown;
      this.view = new DataView(grown.buffer);
    }
    return start;
  }

  head(major: number, count: number | bigint): void {
    const top = major << 5;
    const number = Number(count);
    if (number < 24) this.view.setUint8(this.room(1), top | number);
    else if (number <= 0xff) this.view.setUint16(this.room(2), ((top | 24) << 8) | number);
    else if (number <= 0xffff) {
      const at = this.room(3);
      this.view.setUint8(at, top | 25);
      this.view.setUint16(at + 1, number);
    } else if (number <= 0xffffffff) {
      const at = this.room(5);
      this.view.setUint8(at, top | 26);
      this.view.setUint32(at + 1, number);
    } else {
      const at = this.room(9);
      this.view.setUint8(at, top | 27);
      this.view.setBigUint64(at + 1, BigInt(count));
    }
  }

  /** A head and bytes after it. */
  string(major: number, bytes: Uint8Array): void {
    this.head(major, bytes.length);
    const at = this.room(bytes.length);
    this.bytes.set(bytes, at);
  }

  integer(value: bigint): void {
    const [major, count] = value < 0n ? [1, -1n - value] : [0, value];
    if (count >= 1n << 64n) throw new NotCbor(`the integer ${value} is beyond 64 bits`);
    this.head(major, count);
  }

  number(value: number): void {
    // As integers of 64 bits where they are; -0 too.
    if (Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 64) {
      if (Number.isSafeInteger(value)) this.head(value < 0 ? 1 : 0, value < 0 ? -1 - value : Math.abs(value));
      else this.integer(BigInt(value));
      return;
    }
    const at = this.room(9);
    this.view.setUint8(at, 0xfb);
    this.view.setFloat64(at + 1, value);
  }

  value(value: unknown, depth: number): void {
    if (depth > DEEPEST) throw new NotCbor(`nested deeper than ${DEEPEST}`);
    if (value === null || value === undefined) this.view.setUint8(this.room(1), 0xf6);
    else if (typeof value === "boolean") this.view.setUint8(this.room(1), value ? 0xf5 : 0xf4);
    else if (typeof value === "number") this.number(value);
    else if (typeof value === "bigint") this.integer(value);
    else if (typeof value === "string") this.string(3, utf8.encode(value));
    else if (value instanceof Uint8Array) this.string(2, value);
    else if (Array.isArray(value)) {
      this.head(4, value.length);
      for (const item of value) this.value(item, depth + 1);
    } else if (value instanceof Map) this.entries([...value], depth);
    else if (isPlain(value)) this.entries(Object.entries(value), depth);
    else throw new NotCbor(`expected a valid CBOR item, got ${Object.prototype.toString.call(value)}`);
  }

  entries(entries: [unknown, unknown][], depth: number): void {
    this.head(5, entries.length);
    for (const [key, value] of entries) {
      if (typeof key !== "string") throw new NotCbor("expected a valid CBOR item, got a key that is not a string");
      this.string(3, utf8.encode(key));
      this.value(value, depth + 1);
    }
  }
}

/** Whether a value is an object of no class but `Object`. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.prototype.toString.call(value) === "[object Object]" && !ArrayBuffer.isView(value);
}

/** A value as CBOR. Throws `NotCbor` for values without a form. */
export function encodeCbor(value: unknown): Uint8Array {
  const writer = new Writer();
  writer.value(value, 0);
  return writer.bytes.subarray(0, writer.length);
}

class Reader {
  at = 0;
  readonly view: DataView;

  constructor(readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  take(count: number): number {
    const start = this.at;
    if (count > this.bytes.length - start) throw new NotCbor("CBOR ends early");
    this.at += count;
    return start;
  }

  count(info: number): number | bigint {
    if (info < 24) return info;
    if (info === 24) return this.view.getUint8(this.take(1));
    if (info === 25) return this.view.getUint16(this.take(2));
    if (info === 26) return this.view.getUint32(this.take(4));
    if (info === 27) return smallest(this.view.getBigUint64(this.take(8)));
    throw new NotCbor("a head of CBOR that this reader does not know");
  }

  value(): CborValue {
    const head = this.view.getUint8(this.take(1));
    const [major, info] = [head >> 5, head & 31];
    if (major === 7) return this.simple(info);
    if (info === 31) return this.indefinite(major);
    const count = this.count(info);
    switch (major) {
      case 0: return count;
      case 1: return smallest(-1n - BigInt(count));
      case 2: return this.string(Number(count)).slice();
      case 3: return text.decode(this.string(Number(count)));
      case 4: return Array.from({ length: this.items(count) }, () => this.value());
      case 5: return this.map(this.items(count));
      default: return this.tagged(Number(count));
    }
  }

  /** A number of items. Each takes a byte at least. */
  items(count: number | bigint): number {
    if (count > this.bytes.length - this.at) throw new NotCbor("CBOR ends early");
    return Number(count);
  }

  string(length: number): Uint8Array {
    const start = this.take(length);
    return this.bytes.subarray(start, start + length);
  }

  map(count: number): CborValue {
    const found = {};
    for (let index = 0; index < count; index += 1) this.entry(found);
    return found;
  }

  entry(found: object): void {
    const key = String(this.value());
    // Not by assignment, which `__proto__` would not survive.
    Object.defineProperty(found, key, { value: this.value(), enumerable: true, writable: true, configurable: true });
  }

  simple(info: number): CborValue {
    switch (info) {
      case 20: return false;
      case 21: return true;
      case 25: return float16(this.view.getUint16(this.take(2)));
      case 26: return this.view.getFloat32(this.take(4));
      case 27: return this.view.getFloat64(this.take(8));
      case 24: this.take(1); return null;
      default: return null;
    }
  }

  tagged(tag: number): CborValue {
    const value = this.value();
    if ((tag === 2 || tag === 3) && value instanceof Uint8Array) {
      let number = 0n;
      for (const byte of value) number = (number << 8n) | BigInt(byte);
      return smallest(tag === 2 ? number : -1n - number);
    }
    return value;
  }

  indefinite(major: number): CborValue {
    const ends = (): boolean => this.bytes[this.at] === 0xff && ((this.at += 1), true);
    if (major === 4) {
      const items: CborValue[] = [];
      while (!ends()) items.push(this.value());
      return items;
    }
    if (major === 5) {
      const found = {};
      while (!ends()) this.entry(found);
      return found;
    }
    const parts: CborValue[] = [];
    while (!ends()) parts.push(this.value());
    if (major === 3) return parts.join("");
    return new Uint8Array(parts.flatMap((part) => (part instanceof Uint8Array ? [...part] : [])));
  }
}

/** The number, where a double holds it exactly; else the bigint. */
function smallest(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** The value of the bits of a float16. */
export function float16(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

/** The value that CBOR holds. */
export function decodeCbor(bytes: Uint8Array): CborValue {
  return new Reader(bytes).value();
}
