/** Files of Node, Bun and Deno. Nothing is imported before it is asked for, so that bundlers for browsers see no `node:`. */

interface Stats {
  size: number;
  isFile(): boolean;
}

interface Handle {
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
  stat(): Promise<Stats>;
  close(): Promise<void>;
}

interface Files {
  open(path: string | URL, flags: string): Promise<Handle>;
  readFile(path: string | URL): Promise<Uint8Array<ArrayBuffer>>;
  appendFile(path: string | URL, data: Uint8Array): Promise<void>;
}

/** Whether this is a host with Node's modules. */
export function isNode(): boolean {
  const host = (globalThis as { process?: { versions?: { node?: string } } }).process;
  return typeof host?.versions?.node === "string";
}

async function files(): Promise<Files> {
  const name = "node:fs/promises";
  return (await import(name)) as Files;
}

/** All bytes of a file. */
export async function readFile(path: string | URL): Promise<Uint8Array<ArrayBuffer>> {
  return (await files()).readFile(path);
}

/** Appends bytes to a file. */
export async function appendFile(path: string | URL, bytes: Uint8Array): Promise<void> {
  await (await files()).appendFile(path, bytes);
}

/** The length of a file. Throws if it is not a file that can be read. */
export async function fileSize(path: string | URL): Promise<number> {
  const handle = await (await files()).open(path, "r");
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new Error(`${String(path)} is not a file`);
    return stats.size;
  } finally {
    await handle.close();
  }
}

/** Bytes of a file. They are fewer where the file ends. */
export async function readAt(path: string | URL, start: number, end: number): Promise<Uint8Array<ArrayBuffer>> {
  const handle = await (await files()).open(path, "r");
  try {
    const { size } = await handle.stat();
    const bytes = new Uint8Array(Math.max(Math.min(end, size) - start, 0));
    let filled = 0;
    while (filled < bytes.length) {
      const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, start + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return bytes.subarray(0, filled);
  } finally {
    await handle.close();
  }
}
