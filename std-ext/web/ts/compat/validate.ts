/** What is wrong with messages; digests; parameters of packing; what this build can do. */

import { isNode, readFile } from "../internal/node.js";
import { bytesOf, oneOf, refused } from "./check.js";
import { IoError, typing } from "./errors.js";
import { host } from "./init.js";
import type {
  DoctorReport, FeatureStatus, FileValidationReport, SelfTestResult, SimplePackingParams, ValidateOptions, ValidationReport,
} from "./types.js";

const MODES = ["quick", "default", "checksum", "full"] as const;

function report(bytes: Uint8Array, options: ValidateOptions | undefined, all: boolean): unknown {
  bytesOf(bytes, "buf");
  const mode = oneOf(options?.mode ?? "default", "mode", MODES);
  const args = { mode, canonical: options?.canonical === true, all };
  return typing(() => host().call("tgm_validate", { ...args, bytes: host().buffer(bytes) }));
}

/** Looks for everything that is wrong with a message. Nothing in the bytes throws. */
export function validate(bytes: Uint8Array, options?: ValidateOptions): ValidationReport {
  return report(bytes, options, false) as ValidationReport;
}

/** Looks for everything that is wrong with the messages of a buffer. */
export function validateBuffer(bytes: Uint8Array, options?: ValidateOptions): FileValidationReport {
  return report(bytes, options, true) as FileValidationReport;
}

/** Looks for everything that is wrong with the messages of a file. */
export async function validateFile(path: string | URL, options?: ValidateOptions): Promise<FileValidationReport> {
  if (typeof path !== "string" && !(path instanceof URL)) throw refused("path must be a string or a file URL");
  oneOf(options?.mode ?? "default", "mode", MODES);
  if (!isNode()) throw refused("validateFile needs a file system");
  let bytes;
  try {
    bytes = await readFile(path);
  } catch (cause) {
    throw new IoError(`cannot read ${String(path)}: ${String(cause)}`, undefined, { cause });
  }
  return validateBuffer(bytes, options);
}

/** The digest of bytes: 16 hexadecimal digits. */
export function computeHash(bytes: Uint8Array, algo: string = "xxh3"): string {
  bytesOf(bytes, "data");
  return typing(() => String(host().call("tgm_hash", { bytes: host().buffer(bytes), algo: String(algo) })));
}

/** The parameters with which fields of so many bits hold all values. */
export function simplePackingComputeParams(
  values: Float64Array | readonly number[], bits: number, decimalScaleFactor = 0,
): SimplePackingParams {
  if (!(values instanceof Float64Array) && !Array.isArray(values)) throw refused("values must be a Float64Array or an array of numbers");
  if (!Number.isInteger(bits) || bits < 0 || bits > 64) throw refused(`bitsPerValue must be an integer from 0 to 64, got ${String(bits)}`);
  if (!Number.isInteger(decimalScaleFactor) || (decimalScaleFactor | 0) !== decimalScaleFactor) {
    throw refused(`decimalScaleFactor must be an integer of 32 bits, got ${String(decimalScaleFactor)}`);
  }
  const numbers = values instanceof Float64Array ? values : Float64Array.from(values);
  const bad = numbers.findIndex((value) => !Number.isFinite(value));
  if (bad >= 0) throw refused(`values[${bad}] must be finite, got ${String(numbers[bad])}`);
  const args = { bits, decimal: decimalScaleFactor };
  return typing(() => host().call("tgm_packing", { ...args, values: host().buffer(numbers) })) as unknown as SimplePackingParams;
}

/** What this build can do, each ability tested. */
export function doctor(): DoctorReport {
  const found = typing(() => host().call("tgm_doctor", {})) as unknown as DoctorReport;
  const { version, wire_version, target, profile } = found.build;
  return {
    build: { version, wire_version, target, profile },
    features: found.features.map((feature) =>
      feature.state === "off" ? { name: feature.name, kind: feature.kind, state: "off" } : (feature as FeatureStatus)),
    self_test: found.self_test as SelfTestResult[],
  };
}
