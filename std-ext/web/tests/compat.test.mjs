// What the test-suite of `@ecmwf.int/tensogram` asserts of its names, and where ours does better.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { after, test } from "node:test";
import * as tgm from "../dist/compat/index.js";

const folder = mkdtempSync(join(tmpdir(), "tgm-web-"));
after(() => rmSync(folder, { recursive: true }));

test("before init everything says so", () => {
  const expected = { name: "InvalidArgumentError", message: /init\(\) must be awaited/ };
  assert.throws(() => tgm.encode({}, []), expected);
  assert.throws(() => tgm.decode(new Uint8Array(1)), expected);
});

test("a failed init is tried again, concurrent ones share one load", async () => {
  await assert.rejects(tgm.init({ wasmInput: new Uint8Array([1, 2, 3]) }));
  await Promise.all([tgm.init(), tgm.init({ wasmInput: new Uint8Array([1, 2, 3]) })]);
  assert.equal(await tgm.init(), undefined);
});

const float32 = (shape, values) => ({ descriptor: { type: "ntensor", shape, dtype: "float32" }, data: new Float32Array(values) });
const message = (metadata = {}, values = [1, 2, 3]) => tgm.encode(metadata, [float32([values.length], values)]);
const IAE = (pattern) => ({ name: "InvalidArgumentError", message: pattern });
const bytes = (array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

test("the package has 61 names", () => {
  assert.equal(Object.keys(tgm).length, 61);
  assert.equal(tgm.WIRE_VERSION, 3);
});

test("errors form a tree and carry both texts", () => {
  const error = new tgm.FramingError("short", "framing error: short");
  assert.ok(error instanceof tgm.TensogramError && error instanceof Error);
  assert.deepEqual([error.name, error.message, error.rawMessage], ["FramingError", "short", "framing error: short"]);
  const digest = new tgm.HashMismatchError("m", "r", "a", "b", 3);
  assert.deepEqual([digest.expected, digest.actual, digest.objectIndex, digest instanceof tgm.IntegrityError], ["a", "b", 3, true]);
  assert.equal(new tgm.IoError("x").rawMessage, "x");
});

test("messages return what was encoded, as plain objects", () => {
  const found = tgm.decode(message({ base: [{ mars: { param: "2t" } }], run: 7, _extra_: { run: 8 } }));
  assert.deepEqual([...found.objects[0].data()], [1, 2, 3]);
  assert.equal(found.metadata.version, 3);
  assert.equal(found.metadata.base[0].mars.param, "2t");
  assert.deepEqual(found.metadata._extra_, { run: 8 }, "explicit entries win");
  assert.ok(found.metadata._reserved_.uuid.length === 36 && !("hash" in found.objects[0].descriptor));
  assert.deepEqual(found.objects[0].descriptor.shape, [3]);
  found.close();
  found.close();
  assert.throws(() => found.objects[0].data(), /closed/);
  assert.throws(() => found.objects[0].dataView(), /closed/);
});

test("data is a copy that survives close, a view is none", () => {
  const found = tgm.decode(message());
  const [copy, view] = [found.objects[0].data(), found.objects[0].dataView()];
  copy[0] = 9;
  assert.equal(view[0], 1);
  assert.equal(found.objects[0].byteLength, 12);
  found.close();
  assert.equal(copy[0], 9);
});

test("arguments of encode are checked before anything else", () => {
  const good = { type: "ntensor", shape: [1], dtype: "float32" };
  const data = new Float32Array(1);
  const cases = [
    [null, [], /metadata/],
    [7, [], /metadata/],
    [{ _reserved_: {} }, [], /_reserved_/],
    [{ base: [{ _reserved_: {} }] }, [], /_reserved_/],
    [{ base: 1 }, [], /base must be an array/],
    [{ base: [1] }, [], /base\[0\] must be a plain object/],
    [{}, null, /objects must be an array/],
    [{}, [1], /objects\[0\] must be a/],
    [{}, [{ descriptor: good, data: [1] }], /must be an ArrayBufferView/],
    [{}, [{ descriptor: 1, data }], /descriptor must be a plain object/],
    [{}, [{ descriptor: { ...good, type: 1 }, data }], /descriptor\.type must be a string/],
    [{}, [{ descriptor: { ...good, shape: 1 }, data }], /descriptor\.shape must be an array/],
    [{}, [{ descriptor: { ...good, dtype: "float31" }, data }], /dtype/],
    [{}, [{ descriptor: { ...good, byte_order: "middle" }, data }], /byte_order/],
  ];
  for (const [metadata, objects, pattern] of cases) assert.throws(() => tgm.encode(metadata, objects), IAE(pattern));
  for (const bad of [new ArrayBuffer(8), new Float32Array(2), [1], "x", null]) assert.throws(() => tgm.decode(bad), IAE(/Uint8Array/));
  assert.throws(() => tgm.encodePreEncoded({}, [{ descriptor: good, data }]), IAE(/Uint8Array/));
  assert.throws(() => tgm.encode({ base: [{}] }, []), { name: "MetadataError" });
  assert.throws(() => tgm.encode({}, [{ descriptor: { ...good, shape: [2] }, data }]), { name: "MetadataError" });
});

test("no objects, a DataView and Node's Buffer are fine", () => {
  assert.equal(tgm.decode(tgm.encode({}, [])).objects.length, 0);
  const view = new DataView(new Float32Array([5]).buffer);
  const made = tgm.encode({}, [{ descriptor: { type: "ntensor", shape: [1], dtype: "float32" }, data: view }]);
  assert.equal(tgm.decode(Buffer.from(made)).objects[0].data()[0], 5);
});

test("values keep their meaning in either byte order", () => {
  for (const byte_order of ["little", "big"]) {
    const descriptor = { type: "ntensor", shape: [2], dtype: "float32", byte_order };
    const found = tgm.decode(tgm.encode({}, [{ descriptor, data: new Float32Array([1, -2.5]) }]));
    assert.deepEqual([...found.objects[0].data()], [1, -2.5], byte_order);
  }
  const data = new Uint8Array([0x3f, 0x80, 0, 0]);
  const big = { type: "ntensor", shape: [1], dtype: "float32", byte_order: "big" };
  assert.equal(tgm.decode(tgm.encode({}, [{ descriptor: big, data }])).objects[0].data()[0], 1);
});

test("every dtype comes back in its array", () => {
  const classes = {
    float32: Float32Array, float64: Float64Array, int8: Int8Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array,
    uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, uint64: BigUint64Array, bitmask: Uint8Array,
    bfloat16: tgm.Bfloat16Array, float16: tgm.getFloat16ArrayCtor(), complex64: tgm.ComplexArray, complex128: tgm.ComplexArray,
  };
  assert.deepEqual([...tgm.SUPPORTED_DTYPES].sort(), Object.keys(classes).sort());
  for (const dtype of tgm.SUPPORTED_DTYPES) {
    const data = new Uint8Array(tgm.payloadByteSize(dtype, 4));
    const found = tgm.decode(tgm.encode({}, [{ descriptor: { type: "ntensor", shape: [4], dtype }, data }]));
    assert.ok(found.objects[0].data() instanceof classes[dtype], dtype);
  }
});

test("NaN and infinities need permission, and masks bring them back", () => {
  const values = new Float64Array(4096).map((_, at) => (at % 7 === 0 ? NaN : at % 5 === 0 ? Infinity : at % 3 === 0 ? -Infinity : at));
  const object = [{ descriptor: { type: "ntensor", shape: [4096], dtype: "float64" }, data: values }];
  assert.throws(() => tgm.encode({}, [float32([1], [NaN])]), { name: "EncodingError", message: /NaN/ });
  assert.throws(() => tgm.encode({}, [float32([1], [-Infinity])]), /Inf/);
  for (const method of ["none", "rle", "roaring", "lz4"]) {
    const options = { allowNan: true, allowInf: true, nanMaskMethod: method, posInfMaskMethod: method, negInfMaskMethod: method };
    const made = tgm.encode({}, object, options);
    assert.deepEqual(tgm.decode(made).objects[0].data(), values, method);
    assert.equal(tgm.decode(made, { restoreNonFinite: false }).objects[0].data()[0], 0);
  }
  assert.throws(() => tgm.encode({}, object, { allowNan: true, allowInf: true, nanMaskMethod: "zstd" }), /zstd/i);
  assert.throws(() => tgm.encode({}, object, { nanMaskMethod: "zip" }), /unknown mask method/);
});

test("digests are checked on demand, by the frame's own flag", () => {
  const plain = tgm.encode({}, [float32([1], [1])], { hash: false });
  assert.throws(() => tgm.decode(plain, { verifyHash: true }), { name: "MissingHashError", objectIndex: 0 });
  const damaged = tgm.encode({}, [float32([1], [1]), float32([1000], new Float32Array(1000).fill(7))]);
  damaged[damaged.indexOf(0xe0, damaged.length - 2000)] ^= 1;
  tgm.decode(damaged);
  assert.throws(() => tgm.decode(damaged, { verifyHash: true }), (error) =>
    error instanceof tgm.HashMismatchError && error.objectIndex === 1 && /^[0-9a-f]{16}$/.test(error.expected) && error.expected !== error.actual);
});

test("objects and ranges by their numbers", () => {
  const made = tgm.encode({}, [float32([3], [1, 2, 3]), float32([4], [4, 5, 6, 7])]);
  assert.deepEqual([...tgm.decodeObject(made, 1).objects[0].data()], [4, 5, 6, 7]);
  assert.throws(() => tgm.decodeObject(made, 2), { name: "ObjectError" });
  assert.throws(() => tgm.decodeObject(made, 2 ** 32), { name: "ObjectError" });
  for (const bad of [-1, 0.5]) assert.throws(() => tgm.decodeObject(made, bad), IAE(/index/));
  const { parts, descriptor } = tgm.decodeRange(made, 1, [[1, 2], [0n, 1n]]);
  assert.deepEqual([parts.map((part) => [...part]), descriptor.dtype], [[[5, 6], [4]], "float32"]);
  assert.deepEqual(tgm.decodeRange(made, 1, []).parts, []);
  assert.deepEqual([...tgm.decodeRange(made, 1, [[1, 2], [0, 1]], { join: true }).parts[0]], [5, 6, 4]);
  for (const bad of [[1], [[1]], [[-1, 1]], [[0.5, 1]], [["0", 1]], [[0, 2n ** 64n]]]) {
    assert.throws(() => tgm.decodeRange(made, 1, bad), { name: "InvalidArgumentError" });
  }
  assert.throws(() => tgm.decodeRange(made, 2 ** 32, [[0, 1]]), { name: "InvalidArgumentError" });
  assert.throws(() => tgm.decodeRange(made, 1, [[3, 2]]), { name: "EncodingError" });
  const shuffled = { type: "ntensor", shape: [4], dtype: "float32", filter: "shuffle", shuffle_element_size: 4 };
  const filtered = tgm.encode({}, [{ descriptor: shuffled, data: new Float32Array(4) }]);
  assert.throws(() => tgm.decodeRange(filtered, 0, [[0, 1]]), { name: "EncodingError" });
  const bits = tgm.encode({}, [{ descriptor: { type: "ntensor", shape: [9], dtype: "bitmask" }, data: new Uint8Array(2) }]);
  assert.throws(() => tgm.decodeRange(bits, 0, [[0, 1]]), { name: "EncodingError" });
});

test("scan passes over junk", () => {
  const made = message();
  const buffer = Buffer.concat([Buffer.from("junk"), made, made]);
  assert.deepEqual(tgm.scan(buffer), [{ offset: 4, length: made.length }, { offset: 4 + made.length, length: made.length }]);
});

test("bytes at random give errors of the package", () => {
  let seed = 1;
  const next = () => (seed = (seed * 48271) % 0x7fffffff);
  for (let round = 0; round < 300; round += 1) {
    const made = round % 2 ? Uint8Array.from({ length: next() % 400 }, () => next() & 255) : message();
    for (let change = 0; change < 4 && round % 2 === 0; change += 1) made[next() % made.length] = next() & 255;
    try {
      tgm.decode(made);
    } catch (error) {
      assert.ok(error instanceof tgm.TensogramError, error?.stack);
    }
  }
});

test("metadata cross exactly, bigints and bytes too", () => {
  const values = {
    text: "ü", yes: true, none: null, gone: undefined, whole: 3.0, part: 2.5, nan: NaN, far: Infinity, big: 2n ** 63n, low: -(2n ** 63n),
    small: 5n, bytes: new Uint8Array([1, 2]), list: [1, [2]], map: new Map([["k", 1]]), deep: { a: { b: 1 } },
  };
  const { _extra_ } = tgm.decodeMetadata(tgm.encode(values, []));
  const { map, gone, small, ...same } = values;
  assert.deepEqual(_extra_, { ...same, gone: null, small: 5, map: { k: 1 } });
  assert.throws(() => tgm.encode({ bad: new Set() }, []), { name: "FramingError", message: /CBOR/ });
  assert.throws(() => tgm.encode({ bad: () => 1 }, []), { name: "FramingError" });
});

test("paths lead to values of the first object that has them, then of the message", () => {
  const meta = { version: 3, base: [{ a: { b: 1 } }, { a: { c: "x" }, f: 2.5 }], _extra_: { run: 7, empty: "", yes: false, big: 5n } };
  const get = (path) => tgm.getMetaKey(meta, path);
  assert.deepEqual(["a.b", "a.c", "run", "extra.run", "_extra_.run", "", "_reserved_.x", "reserved.x", "no", "toString"].map(get),
    [1, "x", 7, 7, 7, undefined, undefined, undefined, undefined, undefined]);
  assert.deepEqual([tgm.getMetaKeyAt(meta, 1, "a.b"), tgm.getMetaKeyAt(meta, 9, "a")], [undefined, undefined]);
  assert.deepEqual([tgm.hasMetaKey(meta, "empty"), tgm.hasMetaKey(meta, "yes"), tgm.hasMetaKeyAt(meta, 0, "f")], [true, true, false]);
  assert.deepEqual([tgm.getMetaString(meta, "a.c"), tgm.getMetaString(meta, "run"), tgm.getMetaStringAt(meta, 1, "a.c")], ["x", undefined, "x"]);
  assert.deepEqual([tgm.getMetaInt(meta, "run"), tgm.getMetaInt(meta, "f"), tgm.getMetaInt(meta, "big"), tgm.getMetaIntAt(meta, 0, "a.b")], [7, undefined, 5n, 1]);
  assert.deepEqual([tgm.getMetaFloat(meta, "f"), tgm.getMetaFloat(meta, "big"), tgm.getMetaFloatAt(meta, 1, "f")], [2.5, 5, 2.5]);
  assert.deepEqual([tgm.getMetaBool(meta, "yes"), tgm.getMetaBool(meta, "run"), tgm.getMetaBoolAt(meta, 0, "yes")], [false, undefined, undefined]);
  assert.deepEqual(tgm.computeCommon({ base: [{ a: 1, b: [NaN], _reserved_: 1 }, { a: 1, b: [NaN], _reserved_: 1 }, { b: [NaN], a: 2 }] }), { b: [NaN] });
  assert.deepEqual([tgm.computeCommon({}), tgm.computeCommon({ base: [{ a: 1 }] })], [{}, { a: 1 }]);
  assert.ok(tgm.cborValuesEqual({ a: 1, b: NaN }, { b: NaN, a: 1 }) && !tgm.cborValuesEqual([1], [1, 2]) && !tgm.cborValuesEqual({}, []));
});

test("sizes of dtypes and shapes", () => {
  assert.deepEqual([tgm.payloadByteSize("bitmask", 9), tgm.payloadByteSize("complex128", 2), tgm.DTYPE_BYTE_WIDTH.bitmask], [2, 32, 0]);
  for (const bad of [-1, NaN]) assert.throws(() => tgm.payloadByteSize("int8", bad), IAE(/element count/));
  assert.deepEqual([tgm.shapeElementCount([]), tgm.shapeElementCount([2, 3])], [1, 6]);
  assert.ok(tgm.isDtype("float16") && !tgm.isDtype("toString") && !tgm.isDtype(3));
  const odd = new Uint8Array(9).subarray(1);
  assert.equal(tgm.typedArrayFor("float64", odd, false).length, 1);
  assert.throws(() => tgm.typedArrayFor("x", odd), { name: "InvalidArgumentError" });
  const shared = new Uint8Array(8);
  assert.equal(tgm.typedArrayFor("float64", shared, false).buffer, shared.buffer);
  assert.notEqual(tgm.typedArrayFor("float64", shared).buffer, shared.buffer);
});

test("arrays of 16-bit floats round to even and share their bits", () => {
  for (const [Class, one, huge] of [[tgm.Float16Polyfill, 0x3c00, 70000], [tgm.Bfloat16Array, 0x3f80, 3.4e38]]) {
    const array = new Class([1, -0, huge, NaN, 1e-50]);
    assert.deepEqual([array.BYTES_PER_ELEMENT, Class.BYTES_PER_ELEMENT, array.length, array.byteLength, array.bits[0]], [2, 2, 5, 10, one]);
    assert.ok(Object.is(array.get(1), -0) && array.at(2) === Infinity && Number.isNaN(array.get(3)) && array.at(-1) === 0);
    assert.deepEqual([array.at(9), array.get(9)], [undefined, NaN]);
    const part = array.subarray(0, 1);
    part.set([2]);
    assert.deepEqual([array.get(0), array.slice(0, 1).fill(7).get(0), array.get(0), [...array.subarray(0, 2)]], [2, 7, 2, [2, -0]]);
    assert.deepEqual([new Class(array.buffer, 2, 1).length, new Class(3).toArray(), array.toFloat32Array().length], [1, [0, 0, 0], 5]);
  }
  // Each float16 is its own nearest one, and the middle between two goes to the even one.
  const bits = Uint16Array.from({ length: 0x7c00 }, (_, at) => at);
  const all = new tgm.Float16Polyfill(bits.buffer);
  assert.deepEqual(new tgm.Float16Polyfill(all.toArray()).bits, bits);
  for (let at = 0; at < 0x7bff; at += 1) {
    const middle = (all.get(at) + all.get(at + 1)) / 2;
    assert.equal(new tgm.Float16Polyfill([middle]).bits[0], at % 2 ? at + 1 : at);
  }
  assert.throws(() => tgm.float16FromBytes(new Uint8Array(3)), RangeError);
  assert.throws(() => tgm.bfloat16FromBytes(new Uint8Array(3)), RangeError);
});

test("complex numbers are pairs over one storage", () => {
  assert.throws(() => new tgm.ComplexArray("complex64", new Float64Array(2)), { name: "TypeError", message: /complex64 requires a Float32Array/ });
  assert.throws(() => new tgm.ComplexArray("complex64", new Float32Array(3)), { name: "RangeError", message: /length 3 must be even/ });
  const array = tgm.complexFromBytes("complex128", bytes(new Float64Array([1, 2, 3, 4])));
  array.set(1, 5, 6);
  assert.deepEqual([array.length, array.dtype, array.toArray(), [...array][0], array.get(9)],
    [2, "complex128", [[1, 2], [5, 6]], { re: 1, im: 2 }, { re: NaN, im: NaN }]);
  assert.throws(() => array.set(2, 0, 0), RangeError);
  assert.throws(() => tgm.complexFromBytes("complex64", new Uint8Array(9)), RangeError);
});

test("validation reports and does not throw", () => {
  const made = message();
  assert.deepEqual(tgm.validate(made), { issues: [], object_count: 1, hash_verified: true });
  assert.equal(tgm.validate(made, { mode: "quick" }).hash_verified, false);
  assert.ok(tgm.validate(new Uint8Array(3)).issues[0].severity === "error");
  assert.throws(() => tgm.validate(made, { mode: "slow" }), IAE(/mode/));
  const nan = tgm.encodePreEncoded({}, [{ descriptor: { type: "ntensor", shape: [1], dtype: "float32" }, data: bytes(new Float32Array([NaN])) }]);
  assert.ok(tgm.validate(nan, { mode: "full" }).issues.some(({ code, severity }) => code === "nan_detected" && severity === "error"));
  const gap = tgm.validateBuffer(Buffer.concat([made, Buffer.from("12345"), made]));
  assert.deepEqual([gap.messages.length, gap.file_issues[0].byte_offset, gap.file_issues[0].length], [2, made.length, 5]);
  assert.match(tgm.validateBuffer(new Uint8Array(9)).file_issues[0].description, /no valid messages/);
});

test("validateFile reads files", async () => {
  const path = join(folder, "valid.tgm");
  writeFileSync(path, message());
  assert.equal((await tgm.validateFile(path)).messages.length, 1);
  assert.equal((await tgm.validateFile(pathToFileURL(path))).messages.length, 1);
  await assert.rejects(tgm.validateFile(join(folder, "none")), { name: "IoError" });
  await assert.rejects(tgm.validateFile(7), { name: "InvalidArgumentError" });
});

test("digests, packing, doctor", () => {
  assert.equal(tgm.computeHash(new TextEncoder().encode("hello world")), "d447b1ea40e6988b");
  assert.throws(() => tgm.computeHash(new Uint8Array(1), "md5"), { name: "MetadataError" });
  assert.throws(() => tgm.computeHash("x"), { name: "InvalidArgumentError" });
  const params = tgm.simplePackingComputeParams([250, 251.3, 252.7], 16);
  assert.deepEqual(params, { sp_reference_value: 250, sp_binary_scale_factor: -14, sp_decimal_scale_factor: 0, sp_bits_per_value: 16 });
  for (const bad of [[[1], 65], [[1], 1.5], [[NaN], 8], [[1], 8, 2 ** 40], ["x", 8]]) {
    assert.throws(() => tgm.simplePackingComputeParams(...bad), { name: "InvalidArgumentError" });
  }
  const packed = { type: "ntensor", shape: [3], dtype: "float64", encoding: "simple_packing", ...params };
  const found = tgm.decode(tgm.encode({}, [{ descriptor: packed, data: new Float64Array([250, 251.3, 252.7]) }])).objects[0].data();
  assert.ok(Math.abs(found[1] - 251.3) < 1e-4);
  const report = tgm.doctor();
  assert.equal(report.build.wire_version, 3);
  assert.deepEqual(report.self_test.filter(({ outcome }) => outcome === "failed"), []);
  for (const feature of report.features) {
    assert.deepEqual(Object.keys(feature).sort(), feature.state === "off" ? ["kind", "name", "state"] : ["backend", "kind", "linkage", "name", "state", "version"]);
  }
});

test("every codec that is written is read", () => {
  const values = Float64Array.from({ length: 5000 }, (_, at) => Math.round(at / 7));
  for (const stages of [
    { compression: "zstd", zstd_level: 3 }, { compression: "zstd", zstd_level: 19 }, { compression: "lz4" },
    { filter: "shuffle", shuffle_element_size: 8, compression: "zstd", zstd_level: 3 },
    { compression: "zfp", zfp_mode: "fixed_precision", zfp_precision: 64 },
    { encoding: "simple_packing", compression: "szip", ...tgm.simplePackingComputeParams(values, 16), szip_rsi: 128, szip_block_size: 16, szip_flags: 8 },
  ]) {
    const descriptor = { type: "ntensor", shape: [5000], dtype: "float64", ...stages };
    const found = tgm.decode(tgm.encode({}, [{ descriptor, data: values }]), { verifyHash: true }).objects[0].data();
    assert.ok(found.every((value, at) => Math.abs(value - values[at]) < 0.02), JSON.stringify(stages));
  }
});

test("a streaming encoder writes object by object", () => {
  const descriptor = { type: "ntensor", shape: [2], dtype: "float64" };
  const encoder = new tgm.StreamingEncoder({ run: 1 });
  assert.deepEqual([encoder.objectCount, encoder.streaming], [0, false]);
  encoder.writePreceder({ step: 6 });
  assert.throws(() => encoder.writePreceder({ step: 7 }), tgm.TensogramError);
  for (const bad of [[], null]) assert.throws(() => encoder.writePreceder(bad), { name: "InvalidArgumentError" });
  encoder.writeObject(descriptor, new Float64Array([1, 2]));
  encoder.writeObjectPreEncoded(descriptor, bytes(new Float64Array([3, 4])));
  assert.equal(encoder.objectCount, 2);
  assert.ok(encoder.bytesWritten > 0);
  const made = encoder.finish();
  const found = tgm.decode(made);
  assert.deepEqual([found.metadata.base[0].step, ...found.objects[1].data()], [6, 3, 4]);
  for (const use of [() => encoder.objectCount, () => encoder.finish(), () => encoder.writeObject(descriptor, new Float64Array(2)), () => encoder.bytesWritten]) {
    assert.throws(use, { name: "InvalidArgumentError" });
  }
  encoder.close();
  encoder.close();
  const dangling = new tgm.StreamingEncoder({});
  dangling.writePreceder({ a: 1 });
  assert.throws(() => dangling.finish(), tgm.TensogramError);
});

test("onBytes gets all bytes as they are written", () => {
  const chunks = [];
  const encoder = new tgm.StreamingEncoder({}, { onBytes: (chunk) => chunks.push(chunk) });
  assert.ok(chunks.length > 0 && encoder.streaming);
  encoder.writeObject({ type: "ntensor", shape: [3], dtype: "int16" }, new Int16Array([1, 2, 3]));
  assert.equal(encoder.bytesWritten, chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  assert.equal(encoder.finish().length, 0);
  assert.deepEqual([...tgm.decode(Buffer.concat(chunks)).objects[0].data()], [1, 2, 3]);
  assert.throws(() => new tgm.StreamingEncoder({}, { onBytes: 1 }), { name: "InvalidArgumentError" });
  assert.throws(() => new tgm.StreamingEncoder({}, { onBytes: () => { throw new Error("full"); } }), { name: "IoError", message: /full/ });
});

const streamOf = (whole, size) => new ReadableStream({
  start(controller) {
    for (let at = 0; at < whole.length; at += size) controller.enqueue(new Uint8Array(whole.subarray(at, at + size)));
    controller.close();
  },
});

async function collect(stream, options) {
  const found = [];
  for await (const frame of tgm.decodeStream(stream, options)) found.push([frame.baseEntry?.n, ...frame.data()]);
  return found;
}

test("streams in pieces of any size give the same objects", async () => {
  const streamed = new tgm.StreamingEncoder({ base: [{ n: 3 }] });
  streamed.writeObject({ type: "ntensor", shape: [1], dtype: "float32" }, new Float32Array([9]));
  const whole = Buffer.concat([message({ base: [{ n: 1 }] }), Buffer.from("junk"), message({ base: [{ n: 2 }] }, [4]), streamed.finish()]);
  for (const size of [1, 7, 100, 1e6]) assert.deepEqual(await collect(streamOf(whole, size)), [[1, 1, 2, 3], [2, 4], [3, 9]], `${size}`);
});

test("a damaged message of a stream is reported and skipped", async () => {
  const bad = message();
  bad.fill(0xff, bad.length - 90, bad.length - 30);
  const errors = [];
  const whole = Buffer.concat([message(), bad, message({}, [5])]);
  const found = await collect(streamOf(whole, 64), { onError: (error) => errors.push(error) });
  assert.deepEqual(found, [[undefined, 1, 2, 3], [undefined, 5]]);
  assert.deepEqual([errors.length, errors[0].skippedCount, typeof errors[0].message], [1, 1, "string"]);
});

test("limits, aborts and other input of streams", async () => {
  await assert.rejects(collect(streamOf(message({}, new Float32Array(1000)), 64), { maxBufferBytes: 500 }), { name: "StreamingLimitError" });
  await assert.rejects(collect(streamOf(new Uint8Array(5000), 64), { maxBufferBytes: 500 }), { name: "StreamingLimitError" });
  await assert.rejects(collect("x"), { name: "InvalidArgumentError" });
  await assert.rejects(collect(new ReadableStream({ start: (c) => c.enqueue("text") })), { name: "InvalidArgumentError" });
  const controller = new AbortController();
  const never = new ReadableStream({});
  const reading = collect(never, { signal: controller.signal });
  controller.abort(new Error("enough"));
  await assert.rejects(reading, /enough/);
  assert.equal(never.locked, false);
  const broken = streamOf(Buffer.concat([message(), message()]), 50);
  for await (const _ of tgm.decodeStream(broken)) break;
  assert.equal(broken.locked, false);
});

test("a stream is decoded in linear time", async () => {
  const made = tgm.encode({}, [{ descriptor: { type: "ntensor", shape: [2 ** 21], dtype: "float64" }, data: new Float64Array(2 ** 21) }]);
  const start = process.cpuUsage();
  let count = 0;
  for await (const frame of tgm.decodeStream(streamOf(made, 16384))) count += frame.byteLength;
  assert.equal(count, 2 ** 24);
  // Of the processor, as the machine may be busy: 16 MB in pieces of 16 KiB.
  const { user, system } = process.cpuUsage(start);
  assert.ok(user + system < 3e6, `${user + system} microseconds`);
});

test("files in memory are copies", async () => {
  const made = Uint8Array.from(Buffer.concat([message({ base: [{ n: 1 }] }), message({ base: [{ n: 2 }] }, [4, 5])]));
  const file = tgm.TensogramFile.fromBytes(made);
  made.fill(0);
  assert.deepEqual([file.messageCount, file.source, file.byteLength], [2, "buffer", made.length]);
  assert.equal((await file.messageMetadata(1)).base[0].n, 2);
  const layouts = file.messageLayouts;
  layouts[0].offset = 99;
  assert.equal(file.messageLayouts[0].offset, 0);
  assert.equal((await file.rawMessage(0)).length, layouts[0].length);
  const values = [];
  for await (const each of file) values.push(each.objects[0].data().length);
  assert.deepEqual(values, [3, 2]);
  for (const bad of [2, -1, 0.5]) await assert.rejects(file.message(bad), { name: "ObjectError" });
  await assert.rejects(file.messageObject(0, -1), { name: "InvalidArgumentError" });
  await assert.rejects(file.messageObject(0, 7), { name: "ObjectError" });
  await assert.rejects(file.append({}, []), { name: "InvalidArgumentError" });
  await file.prefetchLayouts([0, 1]);
  file.close();
  file.close();
  assert.equal(file.messageCount, 2);
  await assert.rejects(file.message(0), { name: "InvalidArgumentError" });
});

test("files of the host are read, and appended to with all options", async () => {
  const path = join(folder, "local.tgm");
  writeFileSync(path, message({ base: [{ n: 1 }] }));
  const file = await tgm.TensogramFile.open(pathToFileURL(path));
  assert.deepEqual([file.source, file.messageCount], ["local", 1]);
  await file.append({ base: [{ n: 2 }] }, [float32([2], [NaN, 4])], { allowNan: true, hash: false });
  assert.equal(file.messageCount, 2);
  assert.deepEqual([...(await file.message(1)).objects[0].data()], [NaN, 4]);
  await assert.rejects(file.message(1, { verifyHash: true }), { name: "MissingHashError" });
  assert.equal((await file.messageDescriptors(1)).descriptors[0].dtype, "float32");
  const batch = await file.messageObjectBatch([1, 0], 0, { concurrency: 1 });
  assert.deepEqual(batch.map(({ metadata }) => metadata.base[0].n), [2, 1]);
  const ranges = await file.messageObjectRangeBatch([0, 1], 0, [[1, 1]]);
  assert.deepEqual(ranges.map(({ parts }) => [...parts[0]]), [[2], [4]]);
  file.close();
  assert.equal(tgm.scan(readFileSync(path)).length, 2);
  await assert.rejects(tgm.TensogramFile.open(join(folder, "missing")), { name: "IoError" });
  await assert.rejects(tgm.TensogramFile.open(folder), { name: "IoError" });
  await assert.rejects(tgm.TensogramFile.open(7), { name: "InvalidArgumentError" });
  writeFileSync(join(folder, "empty"), "");
  assert.equal((await tgm.TensogramFile.open(join(folder, "empty"))).messageCount, 0);
});

test("the AWS suite's get-vanilla is signed to the byte", async () => {
  const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  const credentials = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", region: "us-east-1", service: "service" };
  const sign = (url, more = {}, headers = {}) => tgm.signAwsV4Request({
    method: "GET", url: new URL(url), headers: new Headers(headers), payloadHash: empty, timestamp: new Date("2015-08-30T12:36:00Z"),
    includeContentSha256: false,
  }, { ...credentials, ...more });
  assert.equal((await sign("https://example.amazonaws.com/")).authorization,
    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, " +
    "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
  const signature = async (...args) => (await sign(...args)).authorization;
  assert.equal(await signature("https://e.com/?b=1&a=2&a=1"), await signature("https://e.com/?a=1&a=2&b=1"));
  assert.equal(await signature("https://e.com/?a"), await signature("https://e.com/?a="));
  assert.equal(await signature("https://e.com/a b"), await signature("https://e.com/a%20b"));
  assert.equal(await signature("https://e.com/", {}, { range: " bytes=0-1 " }), await signature("https://e.com/", {}, { range: "bytes=0-1" }));
  assert.match(await signature("https://e.com/", { sessionToken: "t" }, { range: "bytes=0-1" }), /range;x-amz-date;x-amz-security-token/);
});

test("a signing fetch keeps headers of the request, and init wins", async () => {
  let seen;
  const fetchImpl = async (url, init) => ((seen = { url: String(url), init }), new Response("ok"));
  const credentials = { accessKeyId: "a", secretAccessKey: "b", region: "r" };
  const signing = tgm.createAwsSigV4Fetch(credentials, { fetchImpl });
  await signing(new Request("https://e.com/x", { headers: { "x-one": "1", "x-two": "2" } }), { headers: { "x-two": "3" } });
  assert.deepEqual([seen.init.headers.get("x-one"), seen.init.headers.get("x-two"), seen.url], ["1", "3", "https://e.com/x"]);
  assert.match(seen.init.headers.get("authorization"), /^AWS4-HMAC-SHA256 /);
  assert.throws(() => tgm.createAwsSigV4Fetch(credentials, { fetchImpl: 7 }), Error);
});
