/** A dataset as a store of Zarr: for zarrita, and for programs that read Zarr by keys. */

import { openDataset, type Dataset, type DatasetOptions } from "./dataset.js";
import { TgmError } from "./errors.js";
import type { Openable } from "./open.js";

/** A range of bytes. */
export type RangeQuery = { offset: number; length: number } | { suffixLength: number };

/**
 * A read-only store of Zarr, version 3, with consolidated metadata, as zarrita takes one. Each chunk is decoded when it is asked for; what
 * is there of several small objects is one chunk.
 */
export class ZarrStore {
  constructor(readonly dataset: Dataset) {}

  /** Opens archives as one dataset. */
  static async open(source: Openable | readonly Openable[], options: DatasetOptions = {}): Promise<ZarrStore> {
    return new ZarrStore(await openDataset(source, options));
  }

  /** What is at a key, such as `/t2m/c/0/0`. Undefined for what the store lacks. */
  async get(key: string, options: { signal?: AbortSignal } = {}): Promise<Uint8Array | undefined> {
    return this.dataset.zarr(key.replace(/^\//, ""), options.signal ? { signal: options.signal } : {});
  }

  /** A part of what is at a key. */
  async getRange(key: string, range: RangeQuery, options: { signal?: AbortSignal } = {}): Promise<Uint8Array | undefined> {
    const whole = await this.get(key, options);
    if (whole === undefined) return undefined;
    if ("suffixLength" in range) return whole.subarray(Math.max(whole.length - range.suffixLength, 0));
    if (range.offset < 0 || range.length < 0) throw new TgmError("call", "a range begins at 0 or later and has a length");
    return whole.subarray(range.offset, range.offset + range.length);
  }

  /** Frees what is kept of the archives. */
  close(): void {
    this.dataset.close();
  }
}
