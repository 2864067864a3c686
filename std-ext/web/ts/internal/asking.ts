/** Datasets in WebAssembly: questions about them, whose bytes are fetched here. */

import type { CborValue } from "./cbor.js";
import type { Held, Host } from "./host.js";
import type { Want } from "./steps.js";
import type { Source } from "../source.js";

/** What is wanted: a source by its number, and bytes of it as a `Want` names them. */
type Wanted = [source: number, start: number, end: number] | [source: number, suffix: number];

/** Archives in WebAssembly. Questions may be asked at the same time; what each one needs is fetched side by side. */
export class Asking {
  readonly #held: Held;
  #running = 0;

  constructor(readonly host: Host, readonly sources: readonly Source[]) {
    const named = sources.map(({ name, kind }) => [name, kind]);
    this.#held = host.hold(this, "tgm_dataset_free", Number(host.call("tgm_dataset_new", { sources: named })));
  }

  /** Asks until nothing is missing. Buffers in the answer have to be taken by `take`, before anything else is called. */
  async ask<T>(question: Record<string, unknown>, take: (answer: CborValue) => T, signal?: AbortSignal): Promise<T> {
    this.#running += 1;
    try {
      for (;;) {
        signal?.throwIfAborted();
        const opened = this.host.number(this.#held);
        const step = this.host.call("tgm_dataset_ask", { ...question, opened }) as { [key: string]: CborValue };
        if ("done" in step) return take(step["done"] as CborValue);
        const given = await Promise.allSettled((step["wants"] as Wanted[]).map((want) => this.#give(want, signal)));
        for (const result of given) if (result.status === "rejected") throw result.reason;
      }
    } finally {
      this.#running -= 1;
      if (this.#running === 0 && this.host.lives(this.#held)) this.host.plain("tgm_dataset_forget", this.#held.number);
    }
  }

  async #give(want: Wanted, signal: AbortSignal | undefined): Promise<void> {
    const [number, ...place] = want;
    const bytes: Want = place.length === 1 ? place[0] : (place as [number, number]);
    const chunk = await this.sources[number]!.read(bytes, signal);
    signal?.throwIfAborted();
    const { bytes: found, ...rest } = chunk;
    const opened = this.host.number(this.#held);
    this.host.call("tgm_dataset_give", { ...rest, opened, want, bytes: this.host.buffer(found) });
  }

  close(): void {
    this.host.free("tgm_dataset_free", this.#held);
  }
}
