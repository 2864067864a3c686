/** The page in a browser, Chromium or what `BROWSER` names: what a reader does with it, and that the values are those of the tool. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { browser as name, launch, serve, skip } from "./site.mjs";

const ROOT = new URL("../../../", import.meta.url).pathname;
const PAGE = `${ROOT}std-ext/tool/page`;
const DATA = `${ROOT}std-ext/web/tests/data`;
/** Opens the page with a file of the test data. Errors of the page end the test. `prepare` is called with the page before it loads. */
async function open(context, fragment, { prepare, ...options } = {}) {
  const site = await serve(PAGE, { data: DATA });
  const browser = await launch();
  context.after(async () => {
    await browser.close();
    site.close();
  });
  const page = await browser.newPage({ viewport: { width: 1600, height: 1000 }, ...options });
  const errors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => message.type() === "error" && !message.text().includes("404") && errors.push(message.text()));
  await prepare?.(page);
  await page.goto(`${site.address}${fragment}`);
  return { page, errors, site };
}

const picture = (page) => page.waitForFunction(() => document.body.classList.contains("has-picture"), undefined, { timeout: 30_000 });

/** Moves the pointer to a share of the canvas, and gives what the page tells. Nothing beyond the field. */
async function told(page, x, y) {
  const box = await page.locator("#picture").boundingBox();
  await page.mouse.move(box.x + 2, box.y + 2);
  await page.waitForFunction(() => document.getElementById("value").textContent === "");
  await page.mouse.move(box.x + box.width * x, box.y + box.height * y);
  await page.waitForFunction(() => document.getElementById("value").textContent !== "", undefined, { timeout: 2000 }).catch(() => undefined);
  return page.textContent("#value");
}

/** Three steps of 5 degrees, of which the second one lacks 15 values. `tgm cat -m 1 steps.tgm` wrote its values. */
const STEPS = "#file=data/steps.tgm";
const expected = readFileSync(`${DATA}/steps-1.txt`, "utf8").trim().split("\n").map((line) => line.trim().split(" "));

/** The value at a place, as the tool has it, and as the page writes it. */
function known(text) {
  const [, value, latitude, north, longitude, east] = /^(.*) at ([\d.]+)°([NS]?) ([\d.]+)°([EW]?)$/.exec(text) ?? assert.fail(text);
  const row = (90 - (north === "S" ? -1 : 1) * Number(latitude)) / 5;
  const column = (((east === "W" ? -1 : 1) * Number(longitude) + 360) % 360) / 5;
  const right = expected[row][column];
  return [value, right === "nan" ? "missing" : `${Number(Number(right).toPrecision(9))} K`];
}

for (const width of [375, 1600]) {
  test(`maps have the values of the tool at ${width} pixels`, { skip }, async (context) => {
    const { page, errors } = await open(context, `${STEPS}&variable=t2m&at=1..`, { viewport: { width, height: 900 } });
    await picture(page);
    assert.equal(await page.isVisible("#problem"), false);
    assert.match(await page.textContent("#caption"), /\+ 6 h/);
    let missing = 0;
    for (const projection of ["plate-carree", "orthographic", "polar", "mercator"]) {
      await page.selectOption("#projection", projection);
      await page.waitForFunction((name) => location.hash.includes(`map=${name}`) || name === "plate-carree", projection);
      for (const [x, y] of [[0.5, 0.4], [0.55, 0.45], [0.6, 0.3], [0.42, 0.42], [0.8, 0.28], [0.79, 0.29]]) {
        const text = await told(page, x, y);
        if (text === "") continue;
        const [value, right] = known(text);
        assert.equal(value, right, `${projection}: ${text}`);
        missing += value === "missing" ? 1 : 0;
      }
    }
    assert.ok(width < 400 || missing > 0, "no missing value was met");
    // Nothing is wider than the page.
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    assert.deepEqual(errors, []);
  });
}

test("steps go on, and play", { skip }, async (context) => {
  const { page, errors } = await open(context, STEPS);
  await picture(page);
  await page.locator("#picture").press("ArrowRight");
  await page.waitForFunction(() => document.getElementById("caption").textContent.includes("+ 6 h"));
  await page.locator("#picture").press("ArrowLeft");
  await page.waitForFunction(() => document.getElementById("caption").textContent.includes("+ 0 h"));
  await page.locator("#picture").press(" ");
  await page.waitForFunction(() => document.getElementById("caption").textContent.includes("+ 12 h"));
  await page.locator("#picture").press(" ");
  // A click shows all steps at a point. A message shows its own step.
  const box = await page.locator("#picture").boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await page.waitForSelector("#series svg polyline");
  await page.click("#tab-messages");
  await page.click("#list button:nth-child(2)");
  await page.waitForFunction(() => document.getElementById("caption").textContent.includes("+ 6 h"));
  assert.match(await page.textContent("#metadata"), /simple_packing/);
  assert.deepEqual(errors, []);
});

/** The rows of a table, by their names. */
const table = (page, id) => page.evaluate((id) => Object.fromEntries([...document.querySelectorAll(`${id} tr`)].map((row) => [...row.cells].map((cell) => cell.textContent))), id);

const includes = (page, id, text) => page.waitForFunction(([id, text]) => document.querySelector(id).textContent.includes(text), [id, text]);

// `tgm compare` of messages 1 and 0 of steps.tgm: all differ; without the 15 that are missing in one, by at most 4.4422607421875 at [22, 11].
test("two steps are compared, and the address has it", { skip }, async (context) => {
  const { page, errors } = await open(context, STEPS);
  await picture(page);
  await page.click("#compare");
  await includes(page, "#compared", "Choose what to compare");
  await page.locator("#picture").press("ArrowRight");
  await includes(page, "#compared", "2,664 of 2,664 values differ, by at most 4.44226 K.");
  assert.match(await page.textContent("#title"), /^Difference: t2m/);
  assert.match(await page.textContent("#caption"), /\+ 6 h minus .*\+ 0 h/);
  const differences = {
    "Values that differ": "2,649", "Missing there only": "0", "Missing here only": "15", Greatest: "4.44226 K at 20°S 55°E", "Root mean square": "1.58279 K",
  };
  assert.deepEqual(await table(page, "#differences"), differences);
  assert.equal((await table(page, "#statistics")).Missing, "15");
  // The values of both at a place, of which one is that of the tool.
  const [, less, one, other, latitude, north, longitude, east] =
    /^(\S+) K \((\S+) minus (\S+)\) at ([\d.]+)°([NS]?) ([\d.]+)°([EW]?)$/.exec(await told(page, 0.6, 0.6)) ?? assert.fail("no pair");
  assert.ok(Math.abs(Number(less) - (Number(one) - Number(other))) < 1e-6);
  assert.equal(...known(`${one} K at ${latitude}°${north} ${longitude}°${east}`));
  assert.match(await page.textContent("#python"), /isel\(step=1\).*- xr.*isel\(step=0\)$/s);
  // After a reload it is there again.
  const hash = await page.evaluate(() => location.hash);
  await page.reload();
  await includes(page, "#compared", "2,664 of 2,664 values differ");
  assert.equal(await page.evaluate(() => location.hash), hash);
  assert.deepEqual(await table(page, "#differences"), differences);
  // By the keyboard: the field itself and back, and what is compared.
  await page.locator("#picture").press("d");
  await page.waitForFunction(() => location.hash.includes("show=field") && document.getElementById("title").textContent.startsWith("t2m"));
  await page.locator("#picture").press("d");
  await page.locator("#picture").press("ArrowLeft");
  await includes(page, "#compared", "Choose what to compare");
  await page.locator("#picture").press("ArrowRight");
  await page.locator("#picture").press("c");
  await includes(page, "#kept", "+ 6 h");
  await page.locator("#picture").press("ArrowRight");
  await page.waitForFunction(() => document.querySelector("#differences tr:nth-child(2) td").textContent === "15");
  await page.click("#no-comparison");
  await page.waitForFunction(() => !location.hash.includes("with="));
  assert.equal(await page.isVisible("#comparison"), false);
  assert.deepEqual(errors, []);
});

test("two files are compared; if they cannot be, a sentence says why", { skip }, async (context) => {
  const { page, errors } = await open(context, `${STEPS}&variable=t2m&at=1..`);
  await picture(page);
  await page.click("#compare");
  await includes(page, "#kept", "+ 6 h");
  // The same file from the disk: its values are compared with those by the address, the same variable and step first.
  await page.setInputFiles("#file", `${DATA}/steps.tgm`);
  await includes(page, "#compared", "0 of 2,664 values differ, by at most 0 K.");
  assert.match(await page.textContent("#kept"), /steps\.tgm$/);
  await page.locator("#picture").press("ArrowLeft");
  await includes(page, "#compared", "2,664 of 2,664 values differ, by at most 4.44226 K.");
  assert.deepEqual([(await table(page, "#differences"))["Missing there only"], (await table(page, "#differences"))["Missing here only"]], ["15", "0"]);
  await page.setInputFiles("#file", `${DATA}/polar.tgm`);
  await includes(page, "#compared", "No difference is shown. The shapes differ");
  assert.doesNotMatch(await page.textContent("#title"), /^Difference/);
  assert.deepEqual(errors, []);
});

/** What the page saves at a click. Playwright is not told of it by Firefox. Runs in the page. */
async function given(button) {
  const blob = new Promise((go) => {
    const { createObjectURL } = URL;
    URL.createObjectURL = (blob) => {
      URL.createObjectURL = createObjectURL;
      go(blob);
      return createObjectURL(blob);
    };
  });
  document.querySelector(button).click();
  return [...new Uint8Array(await (await blob).arrayBuffer())];
}

test("pictures and tables are saved", { skip }, async (context) => {
  const { page, errors } = await open(context, `${STEPS}&variable=t2m&at=1..`);
  await picture(page);
  const saved = async (button) => {
    if (name === "firefox") return Buffer.from(await page.evaluate(given, button));
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(button)]);
    return readFileSync(await download.path());
  };
  const lines = (await saved("#csv")).toString().trim().split("\n");
  assert.deepEqual([lines.length, lines[0], lines[1]], [1 + 37 * 72, "latitude,longitude,t2m", `90,0,${expected[0][0]}`]);
  assert.equal(lines[1 + 10 * 72 + 20], "40,100,");
  assert.deepEqual([...(await saved("#png")).subarray(1, 4)], [...Buffer.from("PNG")]);
  assert.match(await page.textContent("#python"), /\["t2m"\]\.isel\(step=1\)/);
  assert.deepEqual(errors, []);
});

for (const file of ["reduced.tgm", "polar.tgm"]) {
  test(`${file} is a map`, { skip }, async (context) => {
    const { page, errors } = await open(context, `#file=data/${file}`);
    await picture(page);
    assert.equal(await page.isVisible("#of-projection"), true);
    assert.match(await told(page, 0.5, 0.35), /^\S+ \S+ at .*°N/);
    assert.deepEqual(errors, []);
  });
}

test("globes turn, parts are zoomed, and the address has what is shown", { skip }, async (context) => {
  const { page, errors } = await open(context, STEPS);
  await picture(page);
  await page.selectOption("#projection", "orthographic");
  await page.waitForFunction(() => location.hash.includes("map=orthographic"));
  const box = await page.locator("#picture").boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 - 120, box.y + box.height / 2 + 40, { steps: 4 });
  await page.mouse.up();
  await page.waitForFunction(() => !location.hash.includes("middle=20.0%2C0.0"));
  await page.locator("#picture").press("+");
  await page.waitForFunction(() => location.hash.includes("part="));
  await page.selectOption("#palette", "magma");
  await page.waitForFunction(() => location.hash.includes("colours=magma"));
  const [title, hash] = [await page.textContent("#title"), await page.evaluate(() => location.hash)];
  await page.reload();
  await picture(page);
  assert.equal(await page.textContent("#title"), title);
  assert.equal(await page.evaluate(() => location.hash), hash);
  assert.deepEqual(errors, []);
});

test("what cannot be shown is a sentence", { skip }, async (context) => {
  const { page } = await open(context, "#file=data/nothing.tgm");
  await page.waitForSelector("#problem:not([hidden])");
  assert.match(await page.textContent("#problem"), /HTTP 404/);
  // The page goes on.
  await page.setInputFiles("#file", `${DATA}/steps.tgm`);
  await picture(page);
  assert.equal(await page.isVisible("#problem"), false);
  await page.setInputFiles("#file", `${ROOT}Cargo.toml`);
  await page.waitForSelector("#problem:not([hidden])");
  assert.ok((await page.textContent("#problem")).length > 10);
});

/** Put before the worker: the module stops at the next question after a message of the channel `stop`. */
const STOPS = `{
  let isNext = false;
  new BroadcastChannel("stop").onmessage = () => { isNext = true; };
  const { Instance } = WebAssembly;
  WebAssembly.Instance = function (module, imports) {
    const { exports } = new Instance(module, imports);
    const ask = (args) => {
      if (!isNext) return exports.tgm_dataset_ask(args);
      isNext = false;
      throw new WebAssembly.RuntimeError("unreachable");
    };
    return { exports: { ...exports, tgm_dataset_ask: ask } };
  };
}`;

test("if the module stops, the page says so and goes on", { skip }, async (context) => {
  const worker = `${STOPS}${readFileSync(`${PAGE}/worker.js`, "utf8")}`;
  const prepare = (page) => page.route("**/worker.js", (route) => route.fulfill({ contentType: "text/javascript", body: worker }));
  const { page, errors } = await open(context, STEPS, { prepare });
  await picture(page);
  await page.evaluate(() => new BroadcastChannel("stop").postMessage(""));
  await page.waitForTimeout(200);
  await page.locator("#picture").press("ArrowRight");
  await page.waitForSelector("#problem:not([hidden])");
  assert.match(await page.textContent("#problem"), /Reading stopped/);
  // A new worker has opened the file again.
  await page.locator("#picture").press("ArrowRight");
  await page.waitForFunction(() => document.getElementById("caption").textContent.includes("+ 12 h"));
  assert.equal(await page.isVisible("#problem"), false);
  await page.click("#tab-messages");
  await page.click("#list button:nth-child(2)");
  await page.waitForFunction(() => document.getElementById("caption").textContent.includes("+ 6 h"));
  assert.deepEqual(errors, []);
});

const AXE = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

for (const [colorScheme, width] of [["light", 1600], ["dark", 1600], ["light", 375]]) {
  test(`axe finds nothing serious: ${colorScheme}, ${width} pixels`, { skip }, async (context) => {
    const { page } = await open(context, STEPS, { colorScheme, viewport: { width, height: 900 } });
    await picture(page);
    for (const tab of ["variables", "messages", "comparison"]) {
      if (tab === "messages") await page.click("#tab-messages");
      if (tab === "comparison") {
        await page.click("#compare");
        await page.locator("#picture").press("ArrowRight");
        await includes(page, "#compared", "differ");
      }
      await page.evaluate(AXE);
      const { violations } = await page.evaluate(() => globalThis.axe.run());
      const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
      assert.deepEqual(serious.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 120))]), [], tab);
    }
  });
}
