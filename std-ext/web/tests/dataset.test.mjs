/** Datasets: boxes equal those of xarray and of the tool, in Node and in a browser, and as stores of Zarr for zarrita. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as zarrita from "zarrita";
import { Encoder, openDataset, openDatasets } from "../dist/index.js";
import { ZarrStore } from "../dist/zarr.js";
import { differences } from "./boxes.mjs";
import { browser as name, launch, serve, skip } from "./site.mjs";

const DATA = new URL("data/", import.meta.url).pathname;
const DIST = new URL("../dist/", import.meta.url).pathname;
const TESTS = new URL(".", import.meta.url).pathname;
const boxes = JSON.parse(readFileSync(`${DATA}expected.json`, "utf8"));
const named = ({ file, variable, values: _, coords: __, ...rest }) => `${file} ${variable} ${JSON.stringify(rest)}`;

test("boxes have the values of xarray and of the tool, from paths, bytes and addresses", async (context) => {
  const site = await serve(DIST, { data: DATA });
  context.after(site.close);
  assert.ok(boxes.length > 20);
  for (const box of boxes) {
    const bytes = new Uint8Array(readFileSync(`${DATA}${box.file}`));
    for (const from of [`${DATA}${box.file}`, bytes, `${site.address}data/${box.file}`]) {
      assert.deepEqual(await differences({ openDataset }, from, box), [], named(box));
    }
  }
});

test(`boxes have these values in ${name}`, { skip }, async (context) => {
  const site = await serve(DIST, { data: DATA, tests: TESTS });
  const browser = await launch();
  context.after(async () => {
    await browser.close();
    site.close();
  });
  const page = await browser.newPage();
  // An empty page of this origin.
  await page.route("**/empty.html", (route) => route.fulfill({ contentType: "text/html", body: "" }));
  await page.goto(`${site.address}empty.html`);
  const found = await page.evaluate(async (address) => {
    const [{ openDataset }, { differences }] = await Promise.all([import(`${address}index.js`), import(`${address}tests/boxes.mjs`)]);
    const boxes = await (await fetch(`${address}data/expected.json`)).json();
    const found = [];
    for (const box of boxes) found.push(...(await differences({ openDataset }, `${address}data/${box.file}`, box)));
    return { found, count: boxes.length };
  }, site.address);
  assert.deepEqual(found, { found: [], count: boxes.length });
});

/** The values of an array, or of a part of it, as zarrita reads them. One without dimensions is a bare value. */
async function valuesOf(array, picks) {
  const found = await zarrita.get(array, picks);
  return found !== null && typeof found === "object" ? Array.from(found.data) : [found];
}

test("zarrita reads a dataset as a store", async () => {
  for (const file of ["files.tgm", "steps.tgm"]) {
    const store = await ZarrStore.open(`${DATA}${file}`);
    const group = await zarrita.open.v3(store, { kind: "group" });
    const { variables, coordinates } = store.dataset;
    if (file === "files.tgm") assert.equal(group.attrs.title, "files");
    for (const [name, variable] of variables) {
      const array = await zarrita.open.v3(group.resolve(name), { kind: "array" });
      assert.deepEqual([array.shape, array.dimensionNames], [variable.shape, variable.dims], name);
      assert.deepEqual((await valuesOf(array)), Array.from((await variable.read()).data), name);
    }
    for (const name of coordinates.keys()) {
      const right = Array.from((await store.dataset.coordinate(name)).data);
      const array = await zarrita.open.v3(group.resolve(name), { kind: "array" });
      // A file's times are numbers as the file has them.
      const isFiles = file === "files.tgm" && name === "time";
      if (isFiles) assert.equal(array.attrs.units, "hours since 2024-01-01");
      const since = (hours) => BigInt(Date.UTC(2024, 0, 1) / 1000 + Number(hours) * 3600);
      assert.deepEqual((await valuesOf(array)).map((value) => (isFiles ? since(value) : value)), right, name);
    }
    // A part of an array reads its chunks alone.
    const [name] = variables.keys();
    const array = await zarrita.open.v3(group.resolve(name), { kind: "array" });
    const part = await valuesOf(array, [1, ...array.shape.slice(1).map(() => null)]);
    const right = await store.dataset.variable(name).isel({ [array.dimensionNames[0]]: 1 }).read();
    assert.deepEqual(part, Array.from(right.data), name);
    store.close();
  }
});

test("what JSON lacks is a text among attributes", async () => {
  const store = await ZarrStore.open(`${DATA}files.tgm`);
  const array = await zarrita.open.v3(zarrita.root(store).resolve("packed"), { kind: "array" });
  assert.equal(array.attrs.valid_min, "NaN");
  assert.equal(await store.get("/packed/c/9/9/9"), undefined);
  assert.equal(await store.get("/elsewhere/zarr.json"), undefined);
  const whole = await store.get("/packed/zarr.json");
  assert.deepEqual(await store.getRange("/packed/zarr.json", { offset: 2, length: 5 }), whole.slice(2, 7));
  assert.deepEqual(await store.getRange("/packed/zarr.json", { suffixLength: 4 }), whole.slice(-4));
});

test("questions are asked at the same time, and each chunk is fetched once", async () => {
  const bytes = readFileSync(`${DATA}steps.tgm`);
  const asked = [];
  const fetch = async (_, { headers }) => {
    const [, start, end] = /bytes=(\d+)-(\d+)/.exec(headers.get("Range"));
    asked.push(`${start}-${end}`);
    await new Promise((go) => setTimeout(go, 5));
    const part = bytes.subarray(Number(start), Number(end) + 1);
    return new Response(part, { status: 206, headers: { "Content-Range": `bytes ${start}-${Number(start) + part.length - 1}/${bytes.length}`, ETag: '"a"' } });
  };
  const dataset = await openDataset("https://example.org/steps.tgm", { fetch });
  const variable = dataset.variable("t2m");
  const parts = await Promise.all([0, 1, 2].map((step) => variable.isel({ step }).read()));
  const whole = await variable.read();
  assert.deepEqual(parts.flatMap(({ data }) => [...data]), [...whole.data]);
  assert.equal(new Set(asked).size, asked.length, String(asked));
  dataset.close();
});

test("several archives are one dataset", async () => {
  const bytes = readFileSync(`${DATA}steps.tgm`);
  const message = async (step, value) => {
    const encoder = await Encoder.create();
    await encoder.object({ shape: [2, 2], dtype: "float64", data: new Float64Array(4).fill(value), metadata: { mars: { param: "2t", step } } });
    return encoder.finish();
  };
  const dataset = await openDataset([await message(0, 1), await message(6, 2)]);
  const { data, shape } = await dataset.variable("t2m").read({ type: "float32" });
  assert.deepEqual([[...data], shape], [[1, 1, 1, 1, 2, 2, 2, 2], [2, 2, 2]]);
  assert.equal((await openDatasets(new Uint8Array(bytes))).length, 1);
});

test("wrong questions say what there is", async () => {
  const dataset = await openDataset(`${DATA}steps.tgm`);
  const variable = dataset.variable("t2m");
  assert.throws(() => dataset.variable("x"), { name: "TgmError", message: /no variable x; it has t2m/ });
  assert.throws(() => variable.isel({ level: 0 }), { message: /no dimension level; it has step, latitude, longitude/ });
  assert.throws(() => variable.isel({ step: 3 }), { message: /no index 3: its length is 3/ });
  assert.throws(() => variable.isel({ step: 0 }).sel({ step: 6 }), { message: /picked already/ });
  await assert.rejects(variable.sel({ step: 7 }).read(), { name: "TgmError", message: /step: 7: no such label; it has 3 labels|0, 6, 12/ });
  await assert.rejects(dataset.coordinate("x"), { message: /no coordinate x; it has/ });
  await assert.rejects(variable.read({ signal: AbortSignal.abort(new Error("enough")) }), { message: "enough" });
  await assert.rejects(openDataset(new Uint8Array(100)), { name: "TgmError" });
  await assert.rejects(openDataset(`${DATA}steps.tgm`, { only: ["mars.param = nothing"] }), { message: /no object/ });
  await assert.rejects(openDataset(`${DATA}steps.tgm`, { only: ["= ="] }), { name: "TgmError", kind: "metadata" });
});
