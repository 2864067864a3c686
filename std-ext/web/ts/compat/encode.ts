/** Messages from arrays. */

import { descriptorOf, metadataOf, provenance, valuesOf } from "../internal/objects.js";
import { bytesOf, indexOf, refused } from "./check.js";
import { EncodingError, typing } from "./errors.js";
import { host } from "./init.js";
import type {
  EncodeInput, EncodeOptions, EncodePreEncodedOptions, GlobalMetadata, PreEncodedInput,
} from "./types.js";

const METHODS = ["none", "rle", "roaring", "lz4", "zstd", "blosc2"] as const;

/** Options of encoding as WebAssembly has them, with the time and a new uuid. */
export function encoding(options: EncodeOptions | undefined): Record<string, unknown> {
  const args: Record<string, unknown> = {
    noHash: isUnhashed(options),
    allowNan: options?.allowNan === true,
    allowInf: options?.allowInf === true,
    ...provenance(),
  };
  for (const name of ["nanMaskMethod", "posInfMaskMethod", "negInfMaskMethod"] as const) {
    const method = options?.[name];
    if (method === undefined) continue;
    if (!METHODS.includes(method)) throw refused(`unknown mask method ${String(method)} for ${name}`);
    // Programs for the reference rely on this error.
    if (method === "zstd") throw new EncodingError("masks of method zstd cannot be written here: take roaring");
    args[name] = method;
  }
  if (options?.smallMaskThresholdBytes !== undefined) {
    args["smallMaskThresholdBytes"] = indexOf(options.smallMaskThresholdBytes, "smallMaskThresholdBytes");
  }
  return args;
}

function isUnhashed(options: EncodePreEncodedOptions | undefined): boolean {
  const hash = options?.hash ?? "xxh3";
  if (hash !== "xxh3" && hash !== false) throw refused(`hash must be "xxh3" or false, got ${String(hash)}`);
  return hash === false;
}

interface Checked {
  descriptor: Record<string, unknown>;
  bytes: Uint8Array;
}

function objectsOf(objects: unknown, bytesOfOne: (data: unknown, descriptor: Record<string, unknown>, name: string) => Uint8Array): Checked[] {
  if (!Array.isArray(objects)) throw refused("objects must be an array");
  return objects.map((object: unknown, index) => {
    const name = `objects[${index}]`;
    if (typeof object !== "object" || object === null || Array.isArray(object)) {
      throw refused(`${name} must be a plain object with descriptor and data`);
    }
    const { descriptor, data } = object as EncodeInput;
    const checked = descriptorOf(descriptor, `${name}.descriptor`, refused);
    return { descriptor: checked, bytes: bytesOfOne(data, checked, `${name}.data`) };
  });
}

function encoded(metadata: unknown, objects: Checked[], options: Record<string, unknown>): Uint8Array<ArrayBuffer> {
  return typing(() => {
    const list = objects.map(({ descriptor, bytes }) => ({ descriptor, data: host().buffer(bytes) }));
    return host().take(Number(host().call("tgm_encode", { metadata, objects: list, ...options })));
  });
}

/** Encodes a message. */
export function encode(metadata: GlobalMetadata, objects: readonly EncodeInput[], options?: EncodeOptions): Uint8Array<ArrayBuffer> {
  const checked = metadataOf(metadata, refused);
  const list = objectsOf(objects, (data, descriptor, name) => valuesOf(data, descriptor, name, refused));
  return encoded(checked, list, encoding(options));
}

/** Makes a message of payloads that went through their pipeline before. */
export function encodePreEncoded(
  metadata: GlobalMetadata, objects: readonly PreEncodedInput[], options?: EncodePreEncodedOptions,
): Uint8Array<ArrayBuffer> {
  const checked = metadataOf(metadata, refused);
  const list = objectsOf(objects, (data, _, name) => bytesOf(data, name));
  return encoded(checked, list, { ...encoding({ hash: options?.hash ?? "xxh3" }), stored: true });
}
