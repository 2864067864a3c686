/** The page: what is open, what is shown, and what the mouse and the keyboard do. The worker reads and draws. */

import { room, type Area, type Scene } from "./draw.js";
import { isRound, projectionOf, read, START, written, wrapped, type Chosen, type State } from "./state.js";
import { bars, curve, element, rows, textOf } from "./elements.js";

interface Variable {
  name: string; dims: string[]; shape: number[]; dtype: string; objects: number; holes: number; isCoordinate: boolean;
  grid: number[] | null; attributes: Record<string, unknown>;
}
interface Dataset { attributes: Record<string, unknown>; notes: string[]; leftOut: string[]; variables: Variable[] }
interface About {
  title: string; caption: string; units: string; isField: boolean; isMap: boolean; shape: number[]; count: number; missing: number;
  min: number; max: number; mean: number; deviation: number; histogram: number[];
  /** How the values differ, if they are differences; or why they are not. */
  compared: { differing: number; ownOnly: number; keptOnly: number; greatest: number; place: number[]; root: number } | string | null;
}
interface View { bitmap: ImageBitmap; area: Area; about: { low: number; high: number; isLine: boolean; values?: Float64Array; shares?: Float64Array; labels?: string[] | null } }
interface Point { value: number; pair?: [number, number] | null; latitude?: number; longitude?: number; row?: number; column?: number; rowLabel?: string | null; columnLabel?: string | null }

const $ = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const canvas = $<HTMLCanvasElement>("picture");
const dark = matchMedia("(prefers-color-scheme: dark)");

let state: State = { ...START };
let datasets: Dataset[] = [];
let messages = 0;
let name = "";
let about: About | undefined;
let view: View | undefined;
let loaded = "";
let tab: "variables" | "messages" = "variables";
let shownMessages = 200;
let labels = new Map<string, string[] | null>();
let playing: string | null = null;

// The worker.

const waiting = new Map<number, { done: (value: never) => void; failed: (error: Error) => void }>();
let requests = 0;
/** What the worker opened last. */
let source: { blob?: File; address?: string } | undefined;
let worker = started();

function started(): Worker {
  const made = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  made.onmessage = ({ data }: MessageEvent<{ id: number; done?: unknown; failed?: string; hasStopped?: boolean }>) => {
    const request = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.failed === undefined) request?.done(data.done as never);
    else request?.failed(new Error(data.hasStopped === true ? STOPPED : data.failed));
    if (data.hasStopped === true) startAgain();
  };
  made.onerror = () => problem("The worker of this page did not start. The page has to be served by HTTP: a file of this machine does not do.");
  return made;
}

const STOPPED = "Reading stopped: there is no memory for it, or the module of this page has a defect.";

/** Takes a new worker, which opens the file again. If that stops too, no file is open. */
function startAgain(): void {
  worker.terminate();
  for (const request of waiting.values()) request.failed(new Error(STOPPED));
  waiting.clear();
  worker = started();
  loaded = "";
  const again = source;
  source = held = undefined;
  if (again === undefined) return;
  // The worker answers in order: what is asked next finds the datasets.
  const opened = Promise.all([ask("open", again), ask("datasets", { grids: true })]);
  opened.then(() => (source ??= again), (error: Error) => problem(error.message));
}

function ask<T>(op: string, args: Record<string, unknown> = {}): Promise<T> {
  const id = ++requests;
  return new Promise<T>((done, failed) => {
    waiting.set(id, { done: done as never, failed });
    worker.postMessage({ ...args, id, op });
  });
}

function problem(text: string): void {
  const place = $("problem");
  place.textContent = text;
  place.hidden = text === "";
}

function busy(on: boolean): void {
  $("frame").classList.toggle("is-busy", on);
  $("frame").setAttribute("aria-busy", String(on));
}

// Opening.

let opening = 0;

async function open(from: { blob?: File; address?: string }, called: string, wanted: State): Promise<void> {
  const turn = ++opening;
  const isStale = (): boolean => turn !== opening;
  stop();
  problem("");
  busy(true);
  $("source").textContent = `${called}: opening …`;
  try {
    source = from;
    held = undefined;
    const count = Number(await ask("open", from));
    if (isStale()) return;
    [name, messages, datasets, labels, loaded, about, shownMessages] = [called, count, [], new Map(), "", undefined, 200];
    $("source").textContent = `${called}: ${count.toLocaleString("en")} ${count === 1 ? "message" : "messages"}`;
    list();
    datasets = shown(await ask<Dataset[]>("datasets", { grids: true }));
    if (isStale()) return;
    list();
    const first = wanted.variable === "" ? undefined : find(wanted.dataset, wanted.variable);
    const [number, variable] = first ?? best();
    if (variable === undefined) throw new Error("This file has no values that can be drawn. Its messages are in the list.");
    await choose(number, variable, wanted);
  } catch (error) {
    if (isStale()) return;
    problem((error as Error).message);
    if (name !== called) $("source").textContent = "";
    if (datasets.length === 0) select("messages");
  } finally {
    if (!isStale()) busy(false);
  }
}

/** Datasets with the variables that can be drawn: texts cannot. */
function shown(all: Dataset[]): Dataset[] {
  return all.map((dataset) => ({ ...dataset, variables: dataset.variables.filter(({ dtype }) => dtype !== "text") }));
}

function find(number: number, called: string): [number, Variable] | undefined {
  const variable = datasets[number]?.variables.find((it) => it.name === called);
  return variable === undefined ? undefined : [number, variable];
}

/** What is shown first: the first field on the globe, or else the first values. */
function best(): [number, Variable | undefined] {
  const all = datasets.flatMap((dataset, number) => dataset.variables.map((it) => [number, it] as [number, Variable]));
  const values = all.filter(([, it]) => !it.isCoordinate && it.shape.every((length) => length > 0));
  return values.find(([, it]) => it.grid !== null && it.grid.length > 0) ?? values[0] ?? all[0] ?? [0, undefined];
}

/** The dimensions that a picture has. */
function sides(variable: Variable): number[] {
  if (variable.grid !== null && variable.grid.length > 0) return variable.grid;
  return variable.shape.map((_, at) => at).slice(-2);
}

async function choose(number: number, variable: Variable, wanted: State = { ...state, ...PLAIN, picks: [], part: null }): Promise<void> {
  const own = sides(variable);
  const given = wanted.picks.length === variable.shape.length ? wanted.picks : undefined;
  const before = variable.dims.map((dim) => {
    const old = current()?.dims.indexOf(dim) ?? -1;
    return state.file === wanted.file && old >= 0 ? (state.picks[old] ?? null) : null;
  });
  const picks = variable.shape.map((length, at) => (own.includes(at) ? null : Math.min(Math.max(given?.[at] ?? before[at] ?? 0, 0), length - 1)));
  state = { ...wanted, dataset: number, variable: variable.name, picks };
  $("series").hidden = true;
  $("mark").hidden = true;
  list();
  await dimensions();
  await refresh();
  facts(variable);
}

function current(): Variable | undefined {
  return find(state.dataset, state.variable)?.[1];
}

// The picture. A change while one is made is made after it.

let isDrawing = false;
let isWanted = false;

async function refresh(): Promise<void> {
  isWanted = true;
  if (isDrawing) return;
  isDrawing = true;
  const timer = setTimeout(() => busy(true), 150);
  try {
    while (isWanted) {
      isWanted = false;
      await once();
    }
    problem("");
  } catch (error) {
    stop();
    problem((error as Error).message);
  } finally {
    clearTimeout(timer);
    isDrawing = false;
    busy(false);
  }
}

async function once(): Promise<void> {
  const why = await keep().catch((error: Error) => error.message);
  const { dataset, variable, picks } = state;
  const less = held !== undefined && state.isDifference && !isKept();
  const key = JSON.stringify([dataset, variable, picks, less]);
  if (key !== loaded) {
    about = await ask<About>("load", { dataset, variable, picks, less });
    // The unit of what has none, in files that follow CF.
    if (about.units === "1") about.units = "";
    loaded = key;
  }
  view = await ask<View>("view", { scene: scene(canvas.clientWidth, canvas.clientHeight, Math.min(devicePixelRatio, 2)) });
  const { bitmap } = view;
  canvas.width = bitmap.width;
  canvas.height = bitmap.height;
  canvas.getContext("2d")!.drawImage(bitmap, 0, 0);
  bitmap.close();
  const [title, caption] = titles();
  $("title").textContent = title;
  $("caption").textContent = caption;
  numbers(about!);
  compared(why);
  tools();
  document.body.classList.add("has-picture");
  canvas.setAttribute("aria-label", `${title}, ${caption}: from ${short(about!.min)} to ${short(about!.max)} ${about!.units}`);
  const fragment = written(state);
  if (location.hash !== `#${fragment}`) history.replaceState(null, "", `#${fragment}`);
  document.title = `${title} – ${name}`;
  $("python").textContent = python();
  if (pointer !== undefined) void tell();
}

/** The title and the caption of what is shown. */
function titles(): [string, string] {
  const title = about!.title || state.variable;
  return isLess() ? [`Difference: ${title}`, [about!.caption, "minus", keptText(title)].join(" ").trim()] : [title, about!.caption];
}

function scene(width: number, height: number, scale: number, title = "", caption = "", isDark = dark.matches): Scene {
  const space = room(width, height, title !== "");
  return {
    ask: {
      projection: projectionOf(state), part: state.part ?? [], palette: state.palette === "" ? null : state.palette, low: state.low, high: state.high,
      width: Math.round(space.width * scale), height: Math.round(space.height * scale), barTicks: width < 500 ? 5 : 8,
    },
    width, height, scale, isDark, units: about?.units ?? "", title, caption,
  };
}

// What is compared. The module keeps its values.

/** What the module keeps, and what it is. */
let held: { kept: Chosen; title: string; caption: string; name: string; variable: Variable } | undefined;
/** What begins anew when other values are shown. */
const PLAIN = { low: null, high: null, palette: "" };

/** Whether the picture shows a difference. */
const isLess = (): boolean => typeof about?.compared === "object" && about.compared !== null;

/** Whether what is shown is what others are compared with. */
function isKept(): boolean {
  const { kept } = state;
  return kept !== null && !isOther(kept) && kept.dataset === state.dataset && kept.variable === state.variable && String(kept.picks) === String(state.picks);
}

function isOther({ file, blob }: Chosen): boolean {
  return file !== state.file || blob !== source?.blob;
}

/** Has the module keep what is compared, if it does not. */
async function keep(): Promise<string> {
  const { kept } = state;
  if (kept === null) held = undefined;
  if (kept === null || held?.kept === kept) return "";
  held = undefined;
  const { dataset, variable, picks, blob, file } = kept;
  const other = isOther(kept);
  try {
    if (other) await ask("open", { ...(blob === undefined ? { address: new URL(file, location.href).href } : { blob }), other });
    const all = other ? await ask<Dataset[]>("datasets", { grids: true, other }) : datasets;
    const found = all[dataset]?.variables.find((it) => it.name === variable);
    if (found === undefined) throw new Error(`There is no ${variable} to compare with.`);
    loaded = "";
    await ask("load", { dataset, variable, picks, other });
    const { title, caption } = await ask<About>("keep", { other });
    if (state.kept === kept) held = { kept, title: title || variable, caption, name: other ? (blob?.name ?? called(file)) : name, variable: found };
  } finally {
    if (other) await ask("close");
  }
  return "";
}

/** What is compared, in words. Its title is left out if it is that of the other values. */
function keptText(title = ""): string {
  const { kept, title: own, caption, name } = held!;
  return [own === title ? "" : own, caption, isOther(kept) ? name : ""].filter((text) => text !== "").join(", ");
}

/** Writes how the values differ. `why` says why what is compared could not be read. */
function compared(why: string): void {
  const found = about!.compared;
  $("comparison").hidden = state.kept === null;
  $("difference").hidden = !isLess();
  $("kept").textContent = held === undefined ? "" : keptText();
  $<HTMLSelectElement>("show").value = state.isDifference ? "difference" : "field";
  const status = $("compared");
  if (why !== "") status.textContent = why;
  else if (typeof found === "string") status.textContent = `No difference is shown. ${found}`;
  else if (found === null) status.textContent = state.isDifference ? "Choose what to compare with it: other values, another step, message or file." : "";
  else {
    const units = about!.units === "" ? "" : ` ${about!.units}`;
    const count = (number: number): string => number.toLocaleString("en");
    const both = count(about!.shape.reduce((all, length) => all * length, 1));
    const place = found.place.length === 2 && about!.isMap ? ` at ${position(found.place[0]!, found.place[1]!)}` : "";
    status.textContent = `${count(found.differing + found.ownOnly + found.keptOnly)} of ${both} values differ, by at most ${short(found.greatest)}${units}.`;
    rows($("differences"), [
      ["Values that differ", count(found.differing)], ["Missing there only", count(found.ownOnly)], ["Missing here only", count(found.keptOnly)],
      ["Greatest", short(found.greatest) + units + place], ["Root mean square", short(found.root) + units],
    ]);
  }
}

function compare(kept: Chosen | null): void {
  state = { ...state, ...PLAIN, kept, isDifference: true };
  void refresh();
}

function chosen(): Chosen {
  const { file, dataset, variable, picks } = state;
  return { file, dataset, variable, picks, ...(source?.blob === undefined ? {} : { blob: source.blob }) };
}

function change(isDifference: boolean): void {
  state = { ...state, ...PLAIN, isDifference };
  void refresh();
}

$("compare").addEventListener("click", () => compare(chosen()));
$("no-comparison").addEventListener("click", () => {
  compare(null);
  $("compare").focus();
});
$("show").addEventListener("change", () => change($<HTMLSelectElement>("show").value === "difference"));

/** What is shown first of another file: what is compared, if the file has it. */
function afresh(): State {
  const { kept, isDifference } = state;
  return kept === null ? { ...START } : { ...START, dataset: kept.dataset, variable: kept.variable, picks: kept.picks, kept, isDifference };
}

function tools(): void {
  $("tools").hidden = false;
  $("of-projection").hidden = about?.isMap !== true;
  $<HTMLSelectElement>("projection").value = state.projection;
  $<HTMLSelectElement>("palette").value = state.palette;
  for (const [id, value, usual] of [["low", state.low, view!.about.low], ["high", state.high, view!.about.high]] as const) {
    const input = $<HTMLInputElement>(id);
    input.placeholder = short(usual);
    if (document.activeElement !== input) input.value = value === null ? "" : String(value);
  }
  canvas.classList.toggle("is-map", about?.isMap === true && (isRound(state.projection) || state.part !== null));
  for (const dim of document.querySelectorAll<HTMLElement>(".dim")) {
    const at = Number(dim.dataset["at"]);
    dim.querySelector("input")!.value = String(state.picks[at] ?? 0);
    dim.querySelector("output")!.textContent = labelOf(at);
    dim.querySelector("input")!.setAttribute("aria-valuetext", labelOf(at));
    dim.querySelector<HTMLElement>(".play")!.textContent = playing === dim.dataset["name"] ? "❚❚" : "▶";
    dim.querySelector<HTMLElement>(".play")!.setAttribute("aria-label", playing === dim.dataset["name"] ? "Stop" : `Play ${dim.dataset["name"]}`);
  }
}

/** A number as people read it. */
function short(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-4 || size >= 1e7) ? value.toExponential(3) : String(Number(value.toPrecision(6)));
}

// Dimensions.

function stepping(): number[] {
  const variable = current();
  if (variable === undefined) return [];
  const own = sides(variable);
  return variable.shape.map((_, at) => at).filter((at) => !own.includes(at) && variable.shape[at]! > 1);
}

async function dimensions(): Promise<void> {
  const variable = current()!;
  const made = stepping().map((at) => {
    const dim = variable.dims[at]!;
    const range = element("input", { type: "range", min: "0", max: String(variable.shape[at]! - 1), value: String(state.picks[at]), "aria-label": dim });
    range.addEventListener("input", () => step(at, Number(range.value), true));
    const button = (text: string, label: string, by: number): HTMLButtonElement => {
      const found = element("button", { type: "button", "aria-label": label }, text);
      found.addEventListener("click", () => step(at, by));
      return found;
    };
    const play = element("button", { type: "button", class: "play", "aria-label": `Play ${dim}` }, "▶");
    play.addEventListener("click", () => (playing === dim ? stop() : void start(at)));
    const row = element("div", { class: "dim" }, element("span", { class: "pale" }, dim), button("‹", `Previous ${dim}`, -1), range, button("›", `Next ${dim}`, 1), play, element("output", { class: "label" }, ""));
    row.dataset["at"] = String(at);
    row.dataset["name"] = dim;
    return row;
  });
  $("dims").replaceChildren(...made);
  for (const at of stepping()) {
    const dim = variable.dims[at]!;
    const key = `${state.dataset} ${dim}`;
    if (!labels.has(key)) labels.set(key, await ask<string[] | null>("labels", { dataset: state.dataset, dim }).catch(() => null));
  }
}

function labelOf(at: number): string {
  const index = state.picks[at] ?? 0;
  const label = labels.get(`${state.dataset} ${current()?.dims[at]}`)?.[index];
  return label === undefined || label === "" ? String(index) : label.replace("T", " ");
}

function step(at: number, by: number, isPlace = false): Promise<void> {
  const length = current()!.shape[at]!;
  const picks = [...state.picks];
  picks[at] = isPlace ? by : ((((picks[at] ?? 0) + by) % length) + length) % length;
  state = { ...state, picks };
  return refresh();
}

function stop(): void {
  playing = null;
  if (view !== undefined) tools();
}

async function start(at: number): Promise<void> {
  const dim = current()!.dims[at]!;
  playing = dim;
  while (playing === dim) {
    const begun = performance.now();
    await step(at, 1);
    await new Promise((go) => setTimeout(go, Math.max(16, 200 - (performance.now() - begun))));
  }
}

// The value under the pointer.

let pointer: [number, number] | undefined;
let isTelling = false;

function shareOf(event: { clientX: number; clientY: number }): [number, number] | undefined {
  if (view === undefined) return undefined;
  const box = canvas.getBoundingClientRect();
  const { x, y, width, height } = view.area;
  const share: [number, number] = [(event.clientX - box.left - x) / width, (event.clientY - box.top - y) / height];
  return share.every((it) => it >= 0 && it <= 1) ? share : undefined;
}

async function tell(): Promise<void> {
  if (isTelling || pointer === undefined || view === undefined || about === undefined) return;
  isTelling = true;
  try {
    let told: [number, number] | undefined;
    while (pointer !== undefined && pointer !== told) {
      told = pointer;
      show(view.about.isLine ? onLine(told[0]) : await ask<Point | null>("point", { x: told[0], y: told[1] }));
    }
  } catch (error) {
    problem((error as Error).message);
  } finally {
    isTelling = false;
  }
}

function onLine(share: number): Point | null {
  const { values, shares, labels: texts } = view!.about;
  if (values === undefined || shares === undefined || values.length === 0) return null;
  let near = 0;
  for (let at = 1; at < shares.length; at += 1) if (Math.abs(shares[at]! - share) < Math.abs(shares[near]! - share)) near = at;
  return { value: values[near]!, column: near, columnLabel: texts?.[near] ?? null };
}

function show(point: Point | null): void {
  const place = $("value");
  if (point === null) {
    place.replaceChildren();
    return;
  }
  const value = Number.isNaN(point.value) ? "missing" : `${Number(point.value.toPrecision(9))} ${about?.units ?? ""}`;
  const where = point.latitude === undefined
    ? [point.row === undefined ? "" : `row ${point.rowLabel ?? point.row}`, `column ${point.columnLabel ?? point.column}`].filter((it) => it !== "").join(", ")
    : position(point.latitude, point.longitude!);
  const pair = point.pair?.map((it) => (Number.isNaN(it) ? "missing" : String(Number(it.toPrecision(9)))));
  const both = pair === undefined ? "" : ` (${pair[0]} minus ${pair[1]})`;
  place.replaceChildren(element("b", {}, value), element("span", { class: "pale" }, `${both} at ${where}`));
}

function position(latitude: number, longitude: number): string {
  return `${degrees(latitude, "N", "S")} ${degrees(wrapped(longitude), "E", "W")}`;
}

function degrees(value: number, positive: string, negative: string): string {
  return `${Number(Math.abs(value).toFixed(4))}°${value === 0 ? "" : value > 0 ? positive : negative}`;
}

// Turning, moving and zooming.

let drag: { x: number; y: number; from: State; isMoved: boolean } | undefined;

canvas.addEventListener("pointerdown", (event) => {
  drag = { x: event.clientX, y: event.clientY, from: state, isMoved: false };
});
canvas.addEventListener("pointermove", (event) => {
  pointer = shareOf(event);
  if (drag !== undefined && event.buttons !== 0) {
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.isMoved && Math.hypot(dx, dy) < 4) return;
    if (!drag.isMoved) canvas.setPointerCapture(event.pointerId);
    drag.isMoved = true;
    moved(drag.from, dx, dy);
  } else if (pointer === undefined) show(null);
  else void tell();
});
canvas.addEventListener("pointerup", (event) => {
  const isClick = drag !== undefined && !drag.isMoved;
  drag = undefined;
  const share = shareOf(event);
  if (isClick && share !== undefined) {
    pointer = share;
    void tell();
    void series(share);
  }
});
canvas.addEventListener("pointercancel", () => (drag = undefined));
canvas.addEventListener("pointerleave", () => {
  pointer = undefined;
  show(null);
});
canvas.addEventListener("wheel", (event) => {
  const share = shareOf(event);
  if (share === undefined || about?.isField !== true) return;
  event.preventDefault();
  zoom(Math.exp(Math.sign(event.deltaY) * 0.2), share);
}, { passive: false });
canvas.addEventListener("dblclick", (event) => zoom(0.5, shareOf(event) ?? [0.5, 0.5]));

function moved(from: State, dx: number, dy: number): void {
  if (view === undefined || about?.isField !== true) return;
  const [across, down] = [dx / view.area.width, dy / view.area.height];
  const span = from.part === null ? 1 : from.part[2] - from.part[0];
  if (about.isMap && isRound(from.projection)) {
    const isGlobe = from.projection === "orthographic";
    const latitude = isGlobe ? Math.min(Math.max(from.latitude + down * 115 * span, -90), 90) : from.latitude;
    const way = from.projection === "polar-south" ? -1 : 1;
    state = { ...state, latitude, longitude: wrapped(from.longitude - way * across * 115 * span) };
  } else if (from.part !== null) {
    state = { ...state, part: within(from.part, -across * span, -down * (from.part[3] - from.part[1])) };
  } else return;
  $("mark").hidden = true;
  void refresh();
}

/** A part that is moved, but not over the edge. */
function within([left, top, right, bottom]: [number, number, number, number], dx: number, dy: number): [number, number, number, number] {
  const x = Math.min(Math.max(dx, -left), 1 - right);
  const y = Math.min(Math.max(dy, -top), 1 - bottom);
  return [left + x, top + y, right + x, bottom + y];
}

function zoom(by: number, [x, y]: [number, number]): void {
  if (about?.isField !== true) return;
  const [left, top, right, bottom] = state.part ?? [0, 0, 1, 1];
  const size = Math.min(Math.max((right - left) * by, 0.002), 1);
  const high = Math.min(Math.max((bottom - top) * by, 0.002), 1);
  const [atX, atY] = [left + x * (right - left), top + y * (bottom - top)];
  const start: [number, number] = [Math.min(Math.max(atX - x * size, 0), 1 - size), Math.min(Math.max(atY - y * high, 0), 1 - high)];
  state = { ...state, part: size >= 1 && high >= 1 ? null : [start[0], start[1], start[0] + size, start[1] + high] };
  $("mark").hidden = true;
  void refresh();
}

// The keyboard.

canvas.addEventListener("keydown", (event) => {
  const first = stepping()[0];
  const isTurn = event.shiftKey && about?.isField === true;
  const arrows: Record<string, [number, number]> = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] };
  const arrow = arrows[event.key];
  if (arrow !== undefined && isTurn) moved(state, ...arrow);
  else if (event.key === "ArrowRight" && first !== undefined) void step(first, 1);
  else if (event.key === "ArrowLeft" && first !== undefined) void step(first, -1);
  else if (event.key === " " && first !== undefined) void (playing === null ? start(first) : stop());
  else if (event.key === "+" || event.key === "=") zoom(0.8, pointer ?? [0.5, 0.5]);
  else if (event.key === "-") zoom(1.25, pointer ?? [0.5, 0.5]);
  else if (event.key === "0") whole();
  else if (event.key === "c") compare(chosen());
  else if (event.key === "d" && state.kept !== null) change(!state.isDifference);
  else if (event.key === "Enter") {
    pointer = [0.5, 0.5];
    void tell();
  } else return;
  event.preventDefault();
});

function whole(): void {
  state = { ...state, part: null, latitude: START.latitude, longitude: START.longitude };
  void refresh();
}

// What is beside the picture.

function numbers(found: About): void {
  $("numbers").hidden = false;
  const units = found.units === "" ? "" : ` ${found.units}`;
  rows($("statistics"), [
    ["Values", found.count.toLocaleString("en")], ["Missing", found.missing.toLocaleString("en")],
    ["Least", short(found.min) + units], ["Greatest", short(found.max) + units],
    ["Mean", short(found.mean) + units], ["Deviation", short(found.deviation) + units],
    ["Shape", found.shape.join(" × ")],
  ]);
  $("histogram").replaceChildren(bars(found.histogram, short(found.min), short(found.max)));
}

function facts(variable: Variable): void {
  $("about").hidden = $("out").hidden = false;
  const dataset = datasets[state.dataset]!;
  const own: [string, string][] = [["Dimensions", variable.dims.map((dim, at) => `${dim} ${variable.shape[at]}`).join(", ")], ["Type", variable.dtype], ["Objects", String(variable.objects)]];
  if (variable.holes > 0) own.push(["Without an object", String(variable.holes)]);
  const attributes = [...Object.entries(variable.attributes), ...Object.entries(dataset.attributes)];
  rows($("metadata"), [...own, ...attributes.map(([key, value]): [string, string] => [key, textOf(value)])]);
}

function python(): string {
  const shown = current()!;
  // What is served beside the page is a file of somebody, who knows its path. Its address would have the token.
  const line = ({ dims, shape, name: variable }: Variable, { file, picks }: Chosen, called: string): string => {
    const own = dims.flatMap((dim, at) => (picks[at] === null || shape[at] === 1 ? [] : [`${dim}=${picks[at]}`])).join(", ");
    return `xr.open_dataset(${JSON.stringify(/^https?:/.test(file) ? file : called)}, engine="tgm")[${JSON.stringify(variable)}]${own === "" ? "" : `.isel(${own})`}`;
  };
  return `import xarray as xr\n${line(shown, state, name)}${isLess() ? `\\\n - ${line(held!.variable, held!.kept, held!.name)}` : ""}`;
}

async function series(share: [number, number]): Promise<void> {
  const along = stepping()[0];
  if (along === undefined || about?.isMap !== true) return;
  const dim = current()!.dims[along]!;
  try {
    const point = await ask<Point | null>("point", { x: share[0], y: share[1] });
    const found = await ask<{ values: Uint8Array; labels: string[] | null } | null>("series", { dim, x: share[0], y: share[1] });
    if (found === null || point === null) return;
    const values = new Float64Array(found.values.slice().buffer);
    $("series").hidden = false;
    $("series-of").textContent = `${position(point.latitude!, point.longitude!)}, along ${dim}${isLess() ? ", without what is compared" : ""}`;
    $("series-plot").replaceChildren(curve(values, found.labels ?? [], state.picks[along] ?? 0, short));
    const mark = $("mark");
    mark.hidden = false;
    mark.style.left = `${view!.area.x + share[0] * view!.area.width}px`;
    mark.style.top = `${view!.area.y + share[1] * view!.area.height}px`;
  } catch (error) {
    problem((error as Error).message);
  }
}

// The list.

function select(which: "variables" | "messages"): void {
  tab = which;
  $("tab-variables").setAttribute("aria-selected", String(which === "variables"));
  $("tab-messages").setAttribute("aria-selected", String(which === "messages"));
  $("list").setAttribute("aria-labelledby", `tab-${which}`);
  list();
}

function row(title: string, more: string, isCurrent: boolean, onclick: () => void): HTMLButtonElement {
  const found = element("button", { type: "button", class: "row", "aria-current": String(isCurrent) }, title, element("small", {}, more));
  found.addEventListener("click", onclick);
  return found;
}

function list(): void {
  const wanted = $<HTMLInputElement>("filter").value.trim().toLowerCase();
  const made = tab === "variables" ? variableRows(wanted) : messageRows(wanted);
  $("list").replaceChildren(...made);
}

function variableRows(wanted: string): HTMLElement[] {
  const made: HTMLElement[] = [];
  datasets.forEach((dataset, number) => {
    const ordered = [...dataset.variables].sort((one, other) => Number(one.isCoordinate) - Number(other.isCoordinate));
    for (const variable of ordered) {
      const long = textOf(variable.attributes["long_name"] ?? "");
      if (!`${variable.name} ${long}`.toLowerCase().includes(wanted)) continue;
      const shape = variable.dims.map((dim, at) => `${dim} ${variable.shape[at]}`).join(" × ");
      const isCurrent = number === state.dataset && variable.name === state.variable;
      const found = row(variable.name, [long, shape].filter((text) => text !== "").join(" · "), isCurrent, () => void choose(number, variable));
      found.classList.toggle("is-coordinate", variable.isCoordinate);
      made.push(found);
    }
    // What one dataset leaves out is a variable of another one, as a rule.
    const isElsewhere = (text: string): boolean => datasets.some((other) => other.variables.some((it) => text.startsWith(`${it.name} `)));
    for (const text of dataset.leftOut) if (!isElsewhere(text)) made.push(element("p", { class: "pale" }, `Left out: ${text}`));
  });
  return made;
}

function messageRows(wanted: string): HTMLElement[] {
  const made: HTMLElement[] = [];
  const isNumber = /^\d+$/.test(wanted);
  const first = isNumber ? Math.min(Number(wanted), Math.max(messages - 1, 0)) : 0;
  const end = Math.min(first + shownMessages, messages);
  for (let index = first; index < end; index += 1) made.push(row(`Message ${index}`, "", false, () => void message(index)));
  if (end < messages) {
    const more = row(`${(messages - end).toLocaleString("en")} more`, "A number in the filter goes there", false, () => {
      shownMessages += 1000;
      list();
    });
    made.push(more);
  }
  return made;
}

async function message(index: number): Promise<void> {
  try {
    const found = await ask<{ metadata: { base: Record<string, unknown>[]; _extra_: object }; objects: Record<string, unknown>[] }>("message", { message: index });
    const lines: [string, string][] = [];
    found.objects.forEach((object, number) => {
      lines.push([`object ${number}`, `${textOf(object["dtype"])} ${textOf(object["shape"])} ${[object["encoding"], object["filter"], object["compression"]].filter((it) => it !== "none").map(textOf).join(", ")}`]);
      for (const [key, value] of Object.entries(found.metadata.base[number] ?? {})) if (key !== "_reserved_") lines.push([key, textOf(value)]);
    });
    for (const [key, value] of Object.entries(found.metadata._extra_)) lines.push([key, textOf(value)]);
    const place = await ask<{ dataset: number; variable: string; indices: number[] }>("find", { message: index, object: 0 }).catch(() => undefined);
    const there = place === undefined ? undefined : find(place.dataset, place.variable);
    if (there !== undefined) {
      const own = sides(there[1]);
      await choose(there[0], there[1], { ...state, picks: place!.indices.map((at, dim) => (own.includes(dim) ? null : at)) });
    }
    $("about").hidden = false;
    rows($("metadata"), lines);
  } catch (error) {
    problem((error as Error).message);
  }
}

// Taking along.

function save(blob: Blob, ending: string): void {
  const link = element("a", { href: URL.createObjectURL(blob), download: `${state.variable || "picture"}.${ending}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

async function png(): Promise<void> {
  const wide = scene(1200, 760, 2, ...titles(), false);
  const { blob } = await ask<{ blob: Blob }>("view", { scene: wide, png: true });
  save(blob, "png");
  await refresh();
}

const tried = (work: () => Promise<void>) => (): void => void work().catch((error: Error) => problem(error.message));
$("png").addEventListener("click", tried(png));
$("csv").addEventListener("click", tried(async () => save(await ask<Blob>("csv"), "csv")));
$("copy").addEventListener("click", tried(async () => {
  await navigator.clipboard.writeText(python());
  $("copy").textContent = "Copied";
  setTimeout(() => ($("copy").textContent = "Copy Python"), 1500);
}));
$("no-series").addEventListener("click", () => ($("series").hidden = $("mark").hidden = true));

// Controls.

$("tab-variables").addEventListener("click", () => select("variables"));
$("tab-messages").addEventListener("click", () => select("messages"));
$("filter").addEventListener("input", list);
$("whole").addEventListener("click", whole);
$("projection").addEventListener("change", (event) => {
  state = { ...state, projection: (event.target as HTMLSelectElement).value, part: null };
  $("mark").hidden = true;
  void refresh();
});
$("palette").addEventListener("change", (event) => {
  state = { ...state, palette: (event.target as HTMLSelectElement).value };
  void refresh();
});
for (const id of ["low", "high"]) {
  $(id).addEventListener("change", () => {
    const number = (of: string): number | null => {
      const { value, placeholder } = $<HTMLInputElement>(of);
      const found = Number(value.trim() === "" ? placeholder : value.replace(",", "."));
      return Number.isFinite(found) ? found : null;
    };
    const isEmpty = $<HTMLInputElement>("low").value.trim() === "" && $<HTMLInputElement>("high").value.trim() === "";
    const [low, high] = isEmpty ? [null, null] : [number("low"), number("high")];
    if (low !== null && high !== null && low >= high) return problem("The range of the colours begins with the lesser number.");
    state = { ...state, low, high };
    return void refresh();
  });
}
$("pick").addEventListener("click", () => $("file").click());
$("file").addEventListener("change", () => {
  const file = $<HTMLInputElement>("file").files?.[0];
  if (file !== undefined) void open({ blob: file }, file.name, afresh());
});
$("at").addEventListener("submit", (event) => {
  event.preventDefault();
  const address = $<HTMLInputElement>("address").value.trim();
  if (address !== "") void at(address, afresh());
});
for (const kind of ["dragenter", "dragover"]) {
  addEventListener(kind, (event) => {
    event.preventDefault();
    document.body.classList.add("is-dropping");
  });
}
addEventListener("dragleave", (event) => {
  if ((event as DragEvent).relatedTarget === null) document.body.classList.remove("is-dropping");
});
addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("is-dropping");
  const file = (event as DragEvent).dataTransfer?.files[0];
  if (file !== undefined) void open({ blob: file }, file.name, afresh());
});
addEventListener("resize", () => view && void refresh());
dark.addEventListener("change", () => view && void refresh());
addEventListener("hashchange", () => {
  const wanted = read(location.hash);
  if (wanted.file !== state.file && wanted.file !== "") void at(wanted.file, wanted);
});

function at(address: string, wanted: State): Promise<void> {
  let absolute: string;
  try {
    absolute = new URL(address, location.href).href;
  } catch {
    problem(`${address} cannot be read as an address.`);
    return Promise.resolve();
  }
  return open({ address: absolute }, called(address), { ...wanted, file: address });
}

/** The name of a file by its address. */
function called(address: string): string {
  return decodeURIComponent(new URL(address, location.href).pathname.split("/").pop() ?? address);
}

/** The files that `tgm serve` has. On another server there are none. */
async function served(): Promise<void> {
  const wanted = read(location.hash);
  const answer = await fetch("files").catch(() => undefined);
  const isList = answer?.ok === true && (answer.headers.get("content-type") ?? "").includes("json");
  const files = isList ? ((await answer.json()) as { files: { name: string; size: number; file: string }[] }).files : [];
  const size = (bytes: number): string => (bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);
  $("files").replaceChildren(...files.map((file) => row(file.name, size(file.size), false, () => void at(file.file, afresh()))));
  if (wanted.file !== "") await at(wanted.file, wanted);
  else if (files.length === 1) await at(files[0]!.file, { ...START });
}

void served();
