// The package's own names.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { readFile } from "node:fs/promises";
import { Encoder, load, open, stream, TgmError } from "../dist/index.js";
import { load as loadCore } from "../dist/core.js";

const folder = mkdtempSync(join(tmpdir(), "tgm-ours-"));
after(() => rmSync(folder, { recursive: true }));
await load();

const values = Float32Array.from({ length: 6000 }, (_, at) => 280 + Math.sin(at / 50));

async function made(more = {}) {
  const encoder = await Encoder.create({ extra: { run: 7 } });
  await encoder.object({ shape: [60, 100], dtype: "float32", data: values, metadata: { mars: { param: "2t", step: 6 } }, ...more });
  await encoder.object({ shape: [2], dtype: "int64", data: new BigInt64Array([1n, -2n]), metadata: { mars: { param: "msl", step: 12 } } });
  return encoder.finish();
}

test("an archive is the same in bytes, a blob and a file", async () => {
  const bytes = await made();
  const path = join(folder, "a.tgm");
  writeFileSync(path, bytes);
  for (const source of [bytes, bytes.buffer, new Blob([bytes]), path]) {
    const archive = await open(source);
    assert.equal(archive.length, 1);
    const [field, other] = await archive.message(0).objects();
    assert.deepEqual([field.shape, field.dtype, field.metadata.mars.param], [[60, 100], "float32", "2t"]);
    assert.deepEqual((await field.read()).data, values);
    const box = await field.read({ region: [2, [10, 13]], type: "float64" });
    assert.deepEqual([box.shape, [...box.data]], [[3], [...values.subarray(210, 213)]]);
    assert.deepEqual([...(await field.read({ ranges: [[5, 2], [0, 1]] })).data], [values[5], values[6], values[0]]);
    assert.deepEqual([...(await other.read()).data], [1n, -2n]);
    assert.deepEqual((await archive.message(0).metadata())._extra_, { run: 7 });
    assert.deepEqual((await archive.query("mars.step > 6")).map(({ index }) => index), [1]);
    assert.deepEqual(await archive.message(0).bytes(), bytes);
    archive.close();
  }
});

test("errors know where they were", async () => {
  const archive = await open(await made());
  assert.throws(() => archive.message(1), (error) => error instanceof TgmError && error.messageIndex === 1);
  const [field] = await archive.message(0).objects();
  await assert.rejects(field.read({ ranges: [[5999, 2]] }), (error) =>
    error instanceof TgmError && error.kind === "encoding" && error.objectIndex === 0 && error.messageIndex === 0);
  await assert.rejects(field.read({ region: [99] }), TgmError);
  await assert.rejects(archive.query("mars.step >"), TgmError);
  await assert.rejects(open(join(folder, "none")), { kind: "io" });
  await assert.rejects(open(7), { kind: "call" });
  const bytes = await made();
  bytes[800] ^= 1;
  const damaged = await (await open(bytes)).message(0).object(0);
  await assert.rejects(damaged.read({ verify: true }), { kind: "hash_mismatch", objectIndex: 0 });
});

test("an encoder keeps what it is told, and writes to a stream", async () => {
  for (const [options, error] of [[{ within: 0.01 }, 0.01], [{ bits: 16 }, 0.001], [{ lossless: true }, 0]]) {
    const bytes = await made({ dtype: "float64", data: Float64Array.from(values), ...options });
    const { data } = await (await (await open(bytes)).message(0).object(0)).read();
    assert.ok(data.every((value, at) => Math.abs(value - values[at]) <= error), JSON.stringify(options));
    assert.ok(bytes.length < 48_000, `${bytes.length}`);
  }
  const chunks = [];
  const encoder = await Encoder.create({ sink: new WritableStream({ write: (chunk) => void chunks.push(chunk) }) });
  await encoder.object({ shape: [2], dtype: "float32", data: new Float32Array([1, 2]) });
  assert.equal((await encoder.finish()).length, 0);
  await assert.rejects(encoder.finish(), { kind: "call" });
  const { data } = await (await (await open(Buffer.concat(chunks))).message(0).object(0)).read();
  assert.deepEqual([...data], [1, 2]);
});

test("a stream gives messages as they come", async () => {
  const bytes = await made();
  const whole = Buffer.concat([bytes, Buffer.from("junk"), bytes]);
  async function* pieces() {
    for (let at = 0; at < whole.length; at += 1000) yield whole.subarray(at, at + 1000);
  }
  const offsets = [];
  for await (const message of stream(pieces(), { verify: true })) {
    offsets.push(message.offset);
    assert.deepEqual(message.objects[0].data, values);
  }
  assert.deepEqual(offsets, [0, bytes.length + 4]);
});

test("memory stays level over many decodes", async () => {
  const bytes = await made({ within: 0.01, dtype: "float64", data: Float64Array.from(values) });
  const archive = await open(bytes);
  const [field] = await archive.message(0).objects();
  for (let round = 0; round < 50; round += 1) await field.read();
  const before = archive.host.memoryBytes;
  for (let round = 0; round < 2000; round += 1) await field.read({ type: round % 2 ? "float32" : undefined });
  assert.ok(archive.host.memoryBytes - before < 2 ** 20, `${archive.host.memoryBytes - before} bytes`);
});

test("a failure of memory is an error, and the package goes on", async () => {
  const archive = await open(await made());
  assert.throws(() => archive.host.call("tgm_decode", { bytes: 99_999 }), { kind: "call" });
  assert.equal((await open(await made())).length, 1);
});

test("the small reader reads what it knows", async () => {
  const core = await loadCore(new WebAssembly.Module(await readFile(new URL("../dist/core.wasm", import.meta.url))));
  const bytes = await made({ within: 0.01, dtype: "float64", data: Float64Array.from(values) });
  assert.deepEqual(core.scan(bytes), [{ offset: 0, length: bytes.length }]);
  assert.equal(core.metadata(bytes)._extra_.run, 7);
  assert.deepEqual(core.descriptors(bytes).map(({ dtype }) => dtype), ["float64", "int64"]);
  const found = core.values(bytes, 0);
  assert.ok(found.every((value, at) => Math.abs(value - values[at]) <= 0.01));
  assert.deepEqual([...core.values(bytes, 1)], [1n, -2n]);
  core.verify(bytes);
  const damaged = bytes.slice();
  damaged[600] ^= 1;
  assert.throws(() => core.verify(damaged));
  for (let at = 0; at < 200; at += 1) {
    const cut = bytes.slice(0, at * 7);
    assert.throws(() => core.values(cut, 0));
  }
});
