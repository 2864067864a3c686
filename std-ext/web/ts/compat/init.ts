/** Loading. */

import { Host, type WasmInput } from "../internal/host.js";
import { InvalidArgumentError } from "./errors.js";

/** What the module is made of. By default the file beside the package. */
export interface InitOptions {
  wasmInput?: WasmInput;
}

let ready: Host | undefined;
let loading: Promise<void> | undefined;

/** Loads the WebAssembly module. Everything else needs it. Later calls do nothing; after a failure the next call tries again. */
export async function init(options: InitOptions = {}): Promise<void> {
  loading ??= Host.load("writer", options.wasmInput).then(
    (host) => {
      ready = host;
    },
    (error: unknown) => {
      loading = undefined;
      throw error;
    },
  );
  await loading;
}

/** The loaded module. */
export function host(): Host {
  if (ready === undefined) throw new InvalidArgumentError("init() must be awaited before any other call");
  return ready;
}
