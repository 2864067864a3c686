/** Archives whose bytes are fetched here, while WebAssembly says which ones it needs. */

import type { CborValue } from "./cbor.js";
import type { Held, Host } from "./host.js";

/** Bytes that are asked for: those from a start to an end, or that many at the end of the source. */
export type Want = [start: number, end: number] | number;

/** An answer of a source. */
export interface Chunk {
  /** Where the bytes begin in the source. */
  offset: number;
  /** The bytes. They are fewer than were asked for only where the source ends. */
  bytes: Uint8Array;
  /** The length of the source. */
  size?: number | undefined;
  /** Names the version of the content. */
  tag?: string | undefined;
  /** Whether the tag only changes with the content as a rule. */
  weak?: boolean | undefined;
}

/** Fetches bytes of a source. */
export type Fetcher = (want: Want, signal: AbortSignal | undefined) => Promise<Chunk>;

/** How dear a request is. */
export type Kind = "memory" | "local" | "remote";

/** The length of a source, and the places of its messages: pairs of offset and length. */
export interface KnownMessages {
  size: number;
  messages: [offset: number, length: number][];
}

/** What is known of an archive. Answers of one question serve the next ones. */
export class Steps {
  readonly #held: Held;

  /** Messages whose places are known are not searched for. */
  constructor(readonly host: Host, name: string, kind: Kind, readonly fetcher: Fetcher, known?: KnownMessages) {
    this.#held = host.hold(this, "tgm_steps_free", Number(host.call("tgm_steps_new", { name, kind, ...known })));
  }

  /** Asks a question. Buffers in the answer have to be taken before the next `await`. */
  async ask<T>(question: Record<string, unknown>, take: (answer: CborValue) => T, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    const { host } = this;
    const owner = {};
    let task: Held | undefined;
    try {
      let step = host.call("tgm_task_new", { ...question, steps: host.number(this.#held) }) as { [key: string]: CborValue };
      while (!("done" in step)) {
        task = host.hold(owner, "tgm_task_free", Number(step["task"]));
        await this.#answer(task, step["wants"] as Want[], signal);
        const number = host.number(task);
        host.release(task);
        task = undefined;
        step = host.call("tgm_task_step", { task: number }) as { [key: string]: CborValue };
      }
      return take(step["done"]);
    } finally {
      if (task !== undefined) host.free("tgm_task_free", task);
    }
  }

  /** Fetches all that is wanted. What has come is kept, whatever fails. */
  async #answer(task: Held, wants: Want[], signal: AbortSignal | undefined): Promise<void> {
    const give = async (want: Want, index: number): Promise<void> => {
      const chunk = await this.fetcher(want, signal);
      signal?.throwIfAborted();
      const { bytes, ...rest } = chunk;
      const buffer = this.host.buffer(bytes);
      this.host.call("tgm_task_give", { ...rest, task: this.host.number(task), want: index, bytes: buffer });
    };
    const given = await Promise.allSettled(wants.map(give));
    for (const result of given) if (result.status === "rejected") throw result.reason;
  }

  /** Forgets all. */
  close(): void {
    this.host.free("tgm_steps_free", this.#held);
  }
}
