// The examples of the README, run as they stand.
import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { Encoder } from "../dist/index.js";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const blocks = [...readme.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code]) => code);
const values = Float64Array.from({ length: 721 * 1440 }, (_, at) => 280 + Math.sin(at / 500));

/** Two steps of a field on a grid of latitudes and longitudes. */
async function forecast() {
  const messages = [];
  for (const step of [0, 24]) {
    const encoder = await Encoder.create();
    const mars = { param: "2t", step, grid: [0.25, 0.25], area: [90, 0, -90, 359.75] };
    await encoder.object({ shape: [721, 1440], dtype: "float64", data: values, bits: 16, metadata: { mars } });
    messages.push(await encoder.finish());
  }
  return Buffer.concat(messages);
}

test("the examples of the README run", async () => {
  const bytes = await forecast();
  const written = [];
  const writable = new WritableStream({ write: (chunk) => void written.push(chunk) });
  Object.assign(globalThis, { values, writable, response: new Response(bytes) });
  const file = new URL("../dist/forecast.tgm", import.meta.url);
  writeFileSync(file, bytes);
  assert.equal(blocks.length, 5);
  const { log } = console;
  console.log = () => {};
  for (const [number, code] of blocks.entries()) {
    // Inside the package, so that its name leads to it.
    const place = new URL(`../dist/readme-${number}.mjs`, import.meta.url);
    writeFileSync(place, code.replaceAll("https://example.org/forecast.tgm", file.pathname));
    await import(place.href);
    rmSync(place);
  }
  console.log = log;
  rmSync(file);
  assert.ok(Buffer.concat(written).length > 0);
});
