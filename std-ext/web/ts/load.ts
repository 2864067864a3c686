/** The modules of WebAssembly, loaded when they are needed. */

import { Host, type ModuleName, type WasmInput } from "./internal/host.js";

/** What modules are made of. By default the files beside the package. */
export interface LoadOptions {
  dataset?: WasmInput;
  reader?: WasmInput;
  writer?: WasmInput;
}

type Loadable = Exclude<ModuleName, "core">;
const hosts: { [name in Loadable]?: Promise<Host> | undefined } = {};

/** Says what modules are made of, and loads them. Pages that know where their files are call it first; others need not. */
export async function load(options: LoadOptions = {}): Promise<void> {
  const loads = (["dataset", "reader", "writer"] as const).filter((name) => options[name] !== undefined);
  await Promise.all(loads.map((name) => host(name, options[name])));
}

/** A loaded module. A load that failed is tried again by the next call. */
export function host(name: Loadable, input?: WasmInput): Promise<Host> {
  const loaded = hosts[name] ?? Host.load(name, input);
  hosts[name] = loaded;
  loaded.catch(() => {
    hosts[name] = undefined;
  });
  return loaded;
}
