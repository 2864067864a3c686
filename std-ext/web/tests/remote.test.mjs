// Files on servers: the shapes of requests that programs for the reference know, and what servers do wrong.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, test } from "node:test";
import * as tgm from "../dist/compat/index.js";
import { open, TgmError } from "../dist/index.js";

await tgm.init();

const object = (values) => ({ descriptor: { type: "ntensor", shape: [values.length], dtype: "float64" }, data: Float64Array.from(values) });
const message = (n, size = 3) => tgm.encode({ base: [{ n }, { n }] }, [object(Array(size).fill(n)), object([n])]);
const file = (count, size) => new Uint8Array(Buffer.concat(Array.from({ length: count }, (_, n) => message(n, size))));

/** A fetch over bytes that keeps its requests. */
function mock(bytes, { head = {}, ranges = true, delay = 0, status = {} } = {}) {
  const requests = [];
  const state = { now: 0, most: 0, requests };
  state.fetch = async (url, init = {}) => {
    const method = init.method ?? "GET";
    const range = new Headers(init.headers).get("range");
    requests.push(range === null ? method : range);
    state.now += 1;
    state.most = Math.max(state.most, state.now);
    try {
      await new Promise((go, fail) => {
        setTimeout(go, delay);
        init.signal?.addEventListener("abort", () => fail(new DOMException("aborted", "AbortError")));
        if (init.signal?.aborted) fail(new DOMException("aborted", "AbortError"));
      });
      if (status[method]) return new Response(null, { status: status[method] });
      if (method === "HEAD") {
        const headers = { "content-length": String(bytes.length), ...(ranges ? { "accept-ranges": "bytes" } : {}), ...head };
        return new Response(null, { headers });
      }
      const found = /^bytes=(\d+)-(\d+)$/.exec(range ?? "");
      if (!found || !ranges) return new Response(bytes);
      const [start, end] = [Number(found[1]), Math.min(Number(found[2]) + 1, bytes.length)];
      return new Response(bytes.slice(start, end), { status: 206, headers: { "content-range": `bytes ${start}-${end - 1}/${bytes.length}` } });
    } finally {
      state.now -= 1;
    }
  };
  return state;
}

const lengthOf = (range) => (([, start, end]) => end - start + 1)(/^bytes=(\d+)-(\d+)$/.exec(range).map(Number));
const openMock = (state, options = {}) => tgm.TensogramFile.fromUrl("http://h/f", { fetch: state.fetch, ...options });
const ranges = (state) => state.requests.filter((request) => request.startsWith("bytes="));

test("a file is scanned from both ends, 24 bytes at a time", async () => {
  for (const count of [1, 2, 4, 7]) {
    const bytes = file(count);
    const state = mock(bytes);
    const found = await openMock(state);
    assert.deepEqual([found.source, found.messageCount], ["remote", count]);
    assert.deepEqual(found.messageLayouts, tgm.scan(bytes));
    assert.equal(state.requests[0], "HEAD");
    assert.ok(!state.requests.includes("GET"));
    assert.ok(ranges(state).every((range) => lengthOf(range) === 24), `${state.requests}`);
    assert.ok(ranges(state).includes("bytes=0-23") && ranges(state).includes(`bytes=${bytes.length - 24}-${bytes.length - 1}`));
    if (count === 2) assert.ok(ranges(state).length <= 3, `${state.requests}`);
  }
});

test("from the start alone it takes a request a message", async () => {
  const state = mock(file(5));
  assert.equal((await openMock(state, { bidirectional: false, concurrency: 1 })).messageCount, 5);
  assert.equal(ranges(state).length, 5);
  const junk = mock(new Uint8Array(Buffer.concat([file(2), Buffer.alloc(30)])));
  assert.equal((await openMock(junk, { bidirectional: false })).messageCount, 2);
  assert.equal(ranges(junk).length, 2);
});

test("junk between messages ends no listing", async () => {
  const bytes = new Uint8Array(Buffer.concat([file(1), Buffer.alloc(100), file(1), Buffer.alloc(60)]));
  for (const bidirectional of [true, false]) {
    assert.deepEqual((await openMock(mock(bytes), { bidirectional })).messageLayouts, tgm.scan(bytes));
  }
});

test("a damaged end gives the layouts that the start gives", async () => {
  for (const at of [1, 9]) {
    const bytes = file(3);
    bytes[bytes.length - at] ^= 1;
    const [both, one] = [await openMock(mock(bytes)), await openMock(mock(bytes), { bidirectional: false })];
    assert.equal(both.source, "remote");
    assert.deepEqual(both.messageLayouts, one.messageLayouts);
  }
});

test("what cannot be read in parts is read as a whole", async () => {
  const bytes = file(2);
  const plain = mock(bytes, { ranges: false });
  assert.equal((await openMock(plain)).messageCount, 2);
  assert.deepEqual(plain.requests, ["HEAD", "GET"]);
  const huge = mock(bytes, { head: { "content-length": "10000000000000000" } });
  assert.equal((await openMock(huge)).messageCount, 2);
  for (const length of [0, 40]) {
    const odd = file(2);
    new DataView(odd.buffer).setBigUint64(16, BigInt(length));
    const state = mock(odd);
    await openMock(state);
    assert.equal(state.requests.at(-1), "GET", `${length}`);
  }
  const encoder = new tgm.StreamingEncoder({});
  encoder.writeObject({ type: "n", shape: [1], dtype: "int8" }, new Int8Array(1));
  const streamed = mock(new Uint8Array(Buffer.concat([file(1), encoder.finish()])));
  const found = await openMock(streamed);
  assert.deepEqual([found.messageCount, streamed.requests.at(-1)], [2, "GET"]);
  const headless = mock(bytes);
  const fetchWithout = async (url, init) => (init.method === "HEAD" ? Promise.reject(new TypeError("no HEAD")) : headless.fetch(url, init));
  assert.equal((await tgm.TensogramFile.fromUrl("http://h/f", { fetch: fetchWithout })).messageCount, 2);
});

test("messages are kept, the first one goes first", async () => {
  const state = mock(file(36));
  const found = await openMock(state);
  const count = async (work) => {
    const before = state.requests.length;
    await work();
    return state.requests.length - before;
  };
  assert.equal(await count(() => found.message(0)), 1);
  assert.equal(await count(() => found.message(0)), 0);
  for (let index = 0; index < 36; index += 1) await found.message(index);
  assert.equal(await count(() => found.message(0)), 1);
});

test("metadata, objects and ranges fetch a part of a message, once", async () => {
  const bytes = file(2, 50_000);
  const state = mock(bytes);
  const found = await openMock(state);
  const fetched = async (work) => {
    const before = state.requests.length;
    await work();
    return state.requests.slice(before).map(lengthOf);
  };
  const first = await fetched(() => found.messageMetadata(0));
  assert.ok(first.length === 1 && first[0] <= 262_144, `${first}`);
  assert.deepEqual(await fetched(() => found.messageMetadata(0)), []);
  const small = await fetched(async () => assert.equal((await found.messageObject(0, 1)).objects[0].data()[0], 0));
  assert.ok(small.reduce((sum, length) => sum + length, 0) < 400_000, `${small}`);
  assert.equal((await found.messageObject(1, 1, { verifyHash: true })).metadata.base[1].n, 1);
  const part = await fetched(async () => assert.deepEqual([...(await found.messageObjectRange(1, 0, [[10, 2]])).parts[0]], [1, 1]));
  assert.ok(part.every((length) => length < 100_000), `${part}`);
  assert.ok((await fetched(() => openMock(mock(bytes)))).length === 0);
  const again = mock(bytes);
  const other = await openMock(again);
  const before = again.requests.length;
  await other.prefetchLayouts([0, 1]);
  const after = again.requests.length;
  assert.ok(after > before);
  await other.messageMetadata(1);
  assert.equal(again.requests.length, after);
});

test("a digest that is wrong is an error of lazy files too", async () => {
  const bytes = file(2, 1000);
  bytes[5000] ^= 1;
  const found = await openMock(mock(bytes));
  await assert.rejects(found.messageObject(0, 0, { verifyHash: true }), (error) => error instanceof tgm.HashMismatchError && error.objectIndex === 0);
});

test("footers are fetched with the scan", async () => {
  const bytes = file(2);
  const { offset } = tgm.scan(bytes)[1];
  new DataView(bytes.buffer).setUint16(offset + 10, 0b10 | new DataView(bytes.buffer).getUint16(offset + 10));
  const footer = new DataView(bytes.buffer);
  footer.setBigUint64(bytes.length - 24, footer.getBigUint64(bytes.length - 24) - 64n);
  const state = mock(bytes);
  await openMock(state);
  assert.ok(ranges(state).some((range) => lengthOf(range) !== 24), `${state.requests}`);
});

test("so many requests at once and no more; aborts and refusals are errors", async () => {
  const state = mock(file(9, 40_000), { delay: 2 });
  const found = await openMock(state, { concurrency: 2 });
  await found.messageObjectBatch([0, 1, 2, 3, 4, 5], 0, { concurrency: 6 });
  assert.ok(state.most <= 2, `${state.most}`);
  const silent = mock(file(1));
  await assert.rejects(openMock(silent, { concurrency: 1 }), { name: "InvalidArgumentError" });
  assert.equal(silent.requests.length, 0);
  const controller = new AbortController();
  const opening = openMock(mock(file(3), { delay: 1000 }), { signal: controller.signal });
  controller.abort();
  await assert.rejects(opening, (error) => error.name === "IoError" && error.cause?.name === "AbortError");
  await assert.rejects(openMock(mock(file(1), { status: { HEAD: 404, GET: 404 } })), { name: "IoError", message: /HTTP 404/ });
  await assert.rejects(tgm.TensogramFile.fromUrl("http://h/f", { fetch: 7 }), { name: "InvalidArgumentError" });
});

test("debug tells how it scans", async () => {
  const told = [];
  const { debug } = console;
  console.debug = (...args) => told.push(args);
  try {
    await openMock(mock(file(3)), { debug: true });
    await openMock(mock(file(3)), { debug: true, bidirectional: false });
  } finally {
    console.debug = debug;
  }
  const modes = told.filter(([tag]) => tag === "tensogram:scan:mode").map(([, mode]) => mode);
  assert.deepEqual(modes, ["bidirectional", "forward-only"]);
});

// Ours, against a server on this machine.

/** What the server does next. */
let behaviour = {};
let requests = 0;
const content = file(3, 20_000);
const server = createServer((request, response) => {
  requests += 1;
  const found = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? "");
  if (request.method === "HEAD") return response.writeHead(405).end();
  if (behaviour.fail > 0) {
    behaviour.fail -= 1;
    return response.writeHead(503).end();
  }
  if (behaviour.whole || !found) return response.writeHead(200, { etag: '"1"' }).end(content);
  const start = found[1] === "" ? content.length - Number(found[2]) : Number(found[1]);
  const end = found[1] === "" || found[2] === "" ? content.length : Math.min(Number(found[2]) + 1, content.length);
  const headers = { "content-range": `bytes ${start}-${end - 1}/${content.length}`, etag: behaviour.changing ? `"${requests}"` : '"1"' };
  if (behaviour.gzip) headers["content-encoding"] = "gzip";
  if (behaviour.hidden) delete headers["content-range"];
  const body = content.subarray(start, behaviour.short ? end - 5 : end);
  response.writeHead(206, headers).end(behaviour.gzip ? Buffer.alloc(0) : body);
});
await new Promise((go) => server.listen(0, "127.0.0.1", go));
after(() => server.close());
const address = `http://127.0.0.1:${server.address().port}/a.tgm`;

test("ours opens an address without HEAD, and one object takes few requests", async () => {
  behaviour = {};
  requests = 0;
  const archive = await open(address);
  assert.equal(archive.length, 3);
  const opened = requests;
  const { data } = await (await archive.message(1).object(1)).read();
  assert.deepEqual([...data], [1]);
  assert.ok(opened <= 4 && requests - opened <= 4, `${opened} and ${requests - opened} requests`);
  archive.close();
});

test("ours says what a server does wrong, and repeats what passes", async () => {
  behaviour = { fail: 2 };
  assert.equal((await open(address)).length, 3);
  behaviour = { whole: true };
  requests = 0;
  const archive = await open(address);
  assert.deepEqual([...(await (await archive.message(2).object(0)).read({ ranges: [[5, 1]] })).data], [2]);
  assert.equal(requests, 1);
  for (const [wrong, pattern] of [[{ hidden: true }, /Access-Control-Expose-Headers/], [{ short: true }, /states/]]) {
    behaviour = wrong;
    await assert.rejects(open(address, { retries: 0 }), (error) => error instanceof TgmError && pattern.test(error.message));
  }
  behaviour = { changing: true };
  const changing = open(address).then((found) => found.message(2).bytes());
  await assert.rejects(changing, (error) => error instanceof TgmError && error.kind === "remote");
  behaviour = { fail: 9 };
  await assert.rejects(open(address, { retries: 1 }), /HTTP 503/);
});

test("ours stops at a signal", async () => {
  behaviour = {};
  await assert.rejects(open(address, { signal: AbortSignal.abort() }), { name: "AbortError" });
  const archive = await open(address);
  const [found] = await archive.message(0).objects();
  await assert.rejects(found.read({ signal: AbortSignal.abort() }), { name: "AbortError" });
  await found.read();
});
