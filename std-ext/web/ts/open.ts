/** Opening. */

import { Archive } from "./archive.js";
import { TgmError } from "./errors.js";
import { isNode } from "./internal/node.js";
import { host } from "./load.js";
import { BlobSource, BytesSource, PathSource, UrlSource, type Source, type SourceOptions } from "./source.js";

/** Options of `open`. */
export type OpenOptions = SourceOptions;

/** What can be opened: an address, a `File` or another blob, bytes, or a path of the host. */
export type Openable = string | URL | Blob | ArrayBuffer | ArrayBufferView;

/**
 * Opens an archive: an address, a `File` or another blob, bytes, or a path of the host. Only what is asked for is read. The
 * signal of the options ends opening; each later call takes its own.
 */
export async function open(source: Openable, options: OpenOptions = {}): Promise<Archive> {
  options.signal?.throwIfAborted();
  const archive = new Archive(await host("reader"), await sourceOf(source, options));
  await archive.count(options.signal);
  return archive;
}

/** The source that an argument of `open` names. */
export async function sourceOf(source: unknown, options: SourceOptions): Promise<Source> {
  if (source instanceof Blob) return new BlobSource(source);
  if (source instanceof ArrayBuffer) return new BytesSource(new Uint8Array(source));
  if (ArrayBuffer.isView(source)) return new BytesSource(new Uint8Array(source.buffer, source.byteOffset, source.byteLength));
  const text = source instanceof URL ? source.href : source;
  if (typeof text !== "string") throw new TgmError("call", "open takes an address, a blob, bytes or a path");
  if (/^https?:/i.test(text)) return new UrlSource(text, options);
  if (isNode()) return PathSource.open(source instanceof URL ? source : text);
  // In a page, a path is an address beside it.
  return new UrlSource(new URL(text, (globalThis as { location?: { href: string } }).location?.href).href, options);
}
