/** Where the messages of a remote file are: from both ends inwards, 24 bytes at a time. */

import { Steps, type Want } from "../internal/steps.js";
import { host } from "./init.js";
import type { MessagePosition } from "./types.js";

/** Reads bytes from a start to an end. */
type Read = (start: number, end: number) => Promise<Uint8Array>;
type Tell = (tag: string, ...more: unknown[]) => void;

/** The messages that a scan found. */
export interface Scanned {
  layouts: MessagePosition[];
  footers: Map<number, Uint8Array>;
}

/** The file has to be fetched as a whole. */
export class NotLazy extends Error {}

/** Bytes of a preamble, and of a postamble. */
const EDGE = 24;
const SHORTEST = 2 * EDGE;
/** Flags of a preamble: metadata, index or digests stand at the end. */
const FOOTER_FLAGS = 0b0010_1010;
/** Of longer footers only what is asked for is fetched, later. */
const LONGEST_FOOTER = 256 * 1024;

interface Outcome {
  kind: string;
  reason?: string;
  offset?: number;
  length?: number;
  msgStart?: number;
  firstFooterOffset?: number;
}

const judge = (args: Record<string, unknown>): Outcome => {
  const { bytes, ...rest } = args;
  return host().call("tgm_edge", { ...rest, bytes: host().buffer(bytes as Uint8Array) }) as unknown as Outcome;
};

/** What begins at `at`, and its preamble. */
async function forward(read: Read, at: number, size: number, bound: number): Promise<{ found: Outcome; preamble: Uint8Array }> {
  const preamble = await read(at, at + EDGE);
  return { found: judge({ end: "forward", bytes: preamble, at, size, bound }), preamble };
}

/** From the start to the end. */
export async function scanForward(read: Read, size: number, tell: Tell, layouts: MessagePosition[] = []): Promise<Scanned> {
  const last = layouts.at(-1);
  let at = last === undefined ? 0 : last.offset + last.length;
  while (size - at >= SHORTEST) {
    const { found } = await forward(read, at, size, size);
    if (found.kind !== "Hit") return ended(read, at, size, layouts, found, tell);
    tell("hop", { direction: "forward", offset: found.offset, length: found.length });
    layouts.push({ offset: found.offset!, length: found.length! });
    at = found.offset! + found.length!;
  }
  if (layouts.length === 0) throw new NotLazy("no message at the start");
  return { layouts, footers: new Map() };
}

/** No message begins at `at`. Messages may follow after other bytes. */
async function ended(
  read: Read, at: number, size: number, layouts: MessagePosition[], found: Outcome, tell: Tell,
): Promise<Scanned> {
  tell("fwd-terminated", found.reason ?? found.kind);
  if (layouts.length === 0 || found.kind === "Streaming") throw new NotLazy(found.reason ?? found.kind);
  const fetcher = async (want: Want): Promise<{ offset: number; bytes: Uint8Array; size: number }> => {
    const [start, end] = typeof want === "number" ? [Math.max(size - at - want, 0), size - at] : want;
    const bytes = await read(at + start, Math.min(at + end, size));
    return { offset: start, bytes, size: size - at };
  };
  const rest = new Steps(host(), "the rest of the file", "remote", fetcher);
  try {
    const more = await rest.ask({ ask: "layouts" }, (answer) => answer as [number, number][]);
    const moved = more.map(([offset, length]) => ({ offset: at + offset, length }));
    return { layouts: [...layouts, ...moved], footers: new Map() };
  } finally {
    rest.close();
  }
}

/** From both ends, a message of each side in a round. Whatever is odd at the end of the file, it goes on from the start alone. */
export async function scanBothEnds(read: Read, size: number, tell: Tell): Promise<Scanned> {
  const [front, back]: [MessagePosition[], MessagePosition[]] = [[], []];
  const footers = new Map<number, Uint8Array>();
  let [next, previous] = [0, size];
  const onlyForward = (why: string): Promise<Scanned> => {
    tell("fallback", "forward-only", why);
    return scanForward(read, size, tell, front);
  };
  while (previous - next >= SHORTEST) {
    const [{ found: first, preamble }, end] = await Promise.all([
      forward(read, next, size, previous),
      read(previous - EDGE, previous).then((bytes) => judge({ end: "backward", bytes, next, previous })),
    ]);
    if (first.kind !== "Hit") return onlyForward(first.reason ?? first.kind);
    const hit = { offset: first.offset!, length: first.length! };
    tell("hop", { direction: "forward", ...hit });
    front.push(hit);
    next = hit.offset + hit.length;
    if (end.kind !== "NeedPreambleValidation") return onlyForward(end.reason ?? end.kind);
    const [start, length] = [end.msgStart!, end.length!];
    if (start === hit.offset && length === hit.length) {
      await footerOf(read, preamble, hit, end.firstFooterOffset!, footers, tell);
      break;
    }
    if (start < next) return onlyForward("backward-overlaps-forward");
    const bytes = await read(start, start + EDGE);
    const proof = judge({ end: "preamble", bytes, at: start, length });
    if (proof.kind !== "Layout") return onlyForward(proof.reason ?? proof.kind);
    tell("hop", { direction: "backward", offset: start, length });
    back.unshift({ offset: start, length });
    await footerOf(read, bytes, { offset: start, length }, end.firstFooterOffset!, footers, tell);
    previous = start;
  }
  if (previous > next && back.length > 0) return onlyForward("a gap between both ends");
  tell("gap-closed", { messages: front.length + back.length });
  return { layouts: [...front, ...back], footers };
}

/** Fetches the footer of a message that has its metadata or index there. */
async function footerOf(
  read: Read, preamble: Uint8Array, message: MessagePosition, firstFooterOffset: number, footers: Map<number, Uint8Array>, tell: Tell,
): Promise<void> {
  const flags = new DataView(preamble.buffer, preamble.byteOffset).getUint16(10);
  const [start, end] = [message.offset + firstFooterOffset, message.offset + message.length];
  if ((flags & FOOTER_FLAGS) === 0 || firstFooterOffset < EDGE || start >= end - EDGE || end - start > LONGEST_FOOTER) return;
  tell("footer-eager", { offset: start, length: end - start });
  footers.set(start, await read(start, end));
}
