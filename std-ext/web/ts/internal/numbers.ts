/** Conversions between numbers and bits. */

const float = new Float32Array(1);
const word = new Uint32Array(float.buffer);

/** The bits of the nearest bfloat16, ties to even. */
export function toBfloat16(value: number): number {
  float[0] = value;
  const bits = word[0]!;
  if ((bits & 0x7fffffff) > 0x7f800000) return (bits >>> 16) | 0x40;
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}

/** The value of the bits of a bfloat16. */
export function fromBfloat16(bits: number): number {
  word[0] = bits << 16;
  return float[0]!;
}

/** The bits of the nearest float16, ties to even. */
export function toFloat16(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (Number.isNaN(value)) return 0x7e00;
  if (size >= 65520) return sign | 0x7c00;
  // A number of 2^-14 and more has an exponent; less than that counts units of 2^-24.
  if (size < 2 ** -14) return sign | even(size * 2 ** 24);
  let exponent = Math.floor(Math.log2(size));
  if (2 ** exponent > size) exponent -= 1;
  if (2 ** (exponent + 1) <= size) exponent += 1;
  // A fraction that is rounded up to 1024 carries into the exponent.
  return sign | (((exponent + 15) << 10) + even((size / 2 ** exponent - 1) * 1024));
}

/** Rounds to an integer, ties to even. */
function even(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}
