// Values, ranges and damage of the golden files: what is decoded here is what their sidecars record.
// TGM_CORPUS names the full corpus; else the part of it in this repository is read.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import * as tgm from "../dist/compat/index.js";

await tgm.init();

const root = process.env.TGM_CORPUS ?? fileURLToPath(new URL("../../../tests/data", import.meta.url));

function* sidecars(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* sidecars(path);
    else if (entry.name.endsWith(".json") && existsSync(path.replace(/json$/, "tgm"))) {
      const file = readFileSync(path.replace(/json$/, "tgm"));
      yield { path, bytes: new Uint8Array(file), ...JSON.parse(readFileSync(path, "utf8")) };
    }
  }
}

/** The bytes of an array of any class. */
function bytesOf(array) {
  const view = array.data ?? array.bits ?? array;
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

const sha256 = (...parts) => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
};

const all = [...sidecars(root)];
const valid = all.filter((file) => file.class === "valid" && file.messages !== undefined);

test("values of all valid messages are the recorded ones", () => {
  let objects = 0;
  for (const { path, bytes, messages } of valid) {
    for (const { offset, length, decode, objects: recorded, truth, compacted } of messages) {
      if (decode?.result !== "ok" || recorded === undefined || truth !== undefined || compacted) continue;
      const message = tgm.decode(bytes.subarray(offset, offset + length));
      assert.equal(message.objects.length, recorded.length, path);
      recorded.forEach(({ decoded }, index) => {
        if (decoded?.sha256 === undefined || decoded.truth !== undefined) return;
        assert.equal(sha256(bytesOf(message.objects[index].dataView())), decoded.sha256, `${path} object ${index}`);
        objects += 1;
      });
    }
  }
  assert.ok(objects > 100, `${objects} objects`);
});

test("scans find the recorded messages", () => {
  for (const { path, bytes, scan, truth } of valid) {
    const expected = truth?.scan ?? scan;
    if (expected === undefined) continue;
    assert.deepEqual(tgm.scan(bytes).map(({ offset, length }) => [offset, length]), expected, path);
  }
});

test("ranges are the recorded ones, in memory and through the steps of a file", async () => {
  let count = 0;
  for (const { path, bytes, messages, scan } of valid) {
    if (scan?.length !== messages.length) continue;
    const file = tgm.TensogramFile.fromBytes(bytes);
    for (const [number, { offset, length, ranges = [], compacted }] of messages.entries()) {
      if (compacted) continue;
      for (const { object, ranges: pairs, sha256: expected, error, reference_wrong } of ranges) {
        if (expected === undefined || error !== undefined || reference_wrong !== undefined) continue;
        // The reference's package has no decoder for some payloads, and refuses ranges of others.
        const message = bytes.subarray(offset, offset + length);
        const { parts } = tgm.decodeRange(message, object, pairs);
        assert.equal(sha256(...parts.map(bytesOf)), expected, `${path} ${JSON.stringify(pairs)}`);
        const again = await file.messageObjectRange(number, object, pairs);
        assert.equal(sha256(...again.parts.map(bytesOf)), expected, `${path} ${JSON.stringify(pairs)} in steps`);
        count += 1;
      }
    }
    file.close();
  }
  assert.ok(count > 20, `${count} ranges`);
});

test("damaged files are refused as the format says, by errors of the package", () => {
  const verdicts = { reject: 0, "reject-verify": 0, accept: 0, either: 0 };
  for (const { path, bytes, spec } of all) {
    if (spec?.verdict === undefined) continue;
    const decode = (options) => {
      try {
        tgm.decode(bytes, options);
        return true;
      } catch (error) {
        assert.ok(error instanceof tgm.TensogramError, `${path}: ${error?.stack}`);
        return false;
      }
    };
    // Of repeated keys the last one counts.
    if (/malformed\/metadata\/duplicate-(base|top)/.test(path)) continue;
    const [plain, verified] = [decode({}), decode({ verifyHash: true })];
    verdicts[spec.verdict] += 1;
    if (spec.verdict === "reject") assert.equal(plain, false, `${path}: ${spec.reason}`);
    if (spec.verdict === "accept") assert.equal(plain, true, path);
    if (spec.verdict === "reject-verify") assert.equal(verified, false, path);
    for (const bad of [() => tgm.decodeMetadata(bytes), () => tgm.decodeObject(bytes, 0), () => tgm.decodeRange(bytes, 0, [[0, 1]])]) {
      try {
        bad();
      } catch (error) {
        assert.ok(error instanceof tgm.TensogramError, `${path}: ${error?.stack}`);
      }
    }
    tgm.scan(bytes);
    tgm.validate(bytes, { mode: "full" });
  }
  assert.ok(verdicts.reject > 10, JSON.stringify(verdicts));
});
