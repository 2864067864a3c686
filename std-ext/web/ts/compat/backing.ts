/** Where the bytes of a file are. */

import { fileSize, readAt } from "../internal/node.js";
import { IoError } from "./errors.js";
import type { FileSource, MessagePosition } from "./types.js";

/** A source of messages whose places are known. */
export interface Backing {
  readonly source: FileSource;
  readonly layouts: MessagePosition[];
  readonly byteLength: number;
  /** All of a source in memory. Others are read in parts. */
  readonly whole: Uint8Array | undefined;
  /** Bytes from a start to an end. */
  read(start: number, end: number): Promise<Uint8Array>;
  close(): void;
}

/** The error for a file or a request that failed. */
export function ioError(what: string, cause: unknown): IoError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new IoError(`${what}: ${reason}`, `io error: ${what}: ${reason}`, { cause });
}

/** Bytes in memory. */
export class BufferBacking implements Backing {
  readonly byteLength: number;

  constructor(readonly whole: Uint8Array, readonly layouts: MessagePosition[], readonly source: FileSource) {
    this.byteLength = whole.byteLength;
  }

  async read(start: number, end: number): Promise<Uint8Array> {
    return this.whole.subarray(start, end);
  }

  close(): void {}
}

/** A file of the host, read at positions. */
export class LocalBacking implements Backing {
  readonly source = "local";
  readonly whole = undefined;
  byteLength = 0;
  layouts: MessagePosition[] = [];

  constructor(readonly path: string | URL) {}

  async measure(): Promise<number> {
    try {
      this.byteLength = await fileSize(this.path);
    } catch (cause) {
      throw ioError(`cannot open ${String(this.path)}`, cause);
    }
    return this.byteLength;
  }

  async read(start: number, end: number): Promise<Uint8Array> {
    try {
      return await readAt(this.path, start, end);
    } catch (cause) {
      throw ioError(`cannot read ${String(this.path)}`, cause);
    }
  }

  close(): void {}
}
