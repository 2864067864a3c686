/** Datasets: variables over many messages, with their coordinates. */

import "./internal/dispose.js";
import { explained, TgmError } from "./errors.js";
import { arrayOver, type Dtype, type TypedArray } from "./internal/arrays.js";
import { Asking } from "./internal/asking.js";
import type { CborValue } from "./internal/cbor.js";
import { host } from "./load.js";
import { sourceOf, type Openable } from "./open.js";
import type { SourceOptions } from "./source.js";

/** Options of `openDataset`. */
export interface DatasetOptions extends SourceOptions {
  /** What keys of metadata mean: "auto", "mars", "cf", "plain", or meanings with their keys: "name=variable,step=lead". */
  profile?: string;
  /** The group of a file whose variables are taken. */
  group?: string;
  /** Only objects for which all of these queries hold: `mars.param = 2t`. */
  only?: readonly string[];
  /** Whether fields lie along the time for which they are valid. */
  validTime?: boolean;
  /** Which variables have the numbers that a file stored, and not values: all, or those of these names. */
  raw?: boolean | readonly string[];
}

/** A label of a dimension: a number, a text, a step such as "6h", or a time such as "2024-01-31T12". */
export type Label = string | number | bigint | Date;

/** What is picked of a dimension by labels: one label, all from a first to a last one (null is open), or a list. */
export type LabelPick = Label | readonly [first: Label | null, last: Label | null] | { readonly labels: readonly Label[] };

/** What is picked of a dimension by index: an index, those from a start to before an end, or a list. Negative ones count from the end. */
export type IndexPick = number | readonly [start: number | null, end: number | null] | { readonly indices: readonly number[] };

/** Values of a variable. */
export interface Read {
  readonly data: TypedArray | string[];
  /** The names of their dimensions, the slowest first. A dimension of which one index or label is picked is gone. */
  readonly dims: string[];
  readonly shape: number[];
}

/** Values of a coordinate. Times are seconds since 1970, as `attributes.units` says. */
export interface CoordinateValues extends Read {
  readonly attributes: Record<string, CborValue>;
}

/** What is read, and how. */
export interface DatasetReadRequest {
  /** The type of the values: by default that of the variable. NaN stands where a value is missing. */
  type?: "float32" | "float64";
  signal?: AbortSignal;
}

/** A coordinate of a dataset of fields, or of a grid. */
export interface Coordinate {
  readonly name: string;
  readonly dims: string[];
  readonly attributes: Record<string, CborValue>;
}

interface Described {
  name: string;
  dims: string[];
  shape: number[];
  dtype: Dtype | "text";
  objects: number;
  holes: number;
  isCoordinate: boolean;
  attributes: Record<string, CborValue>;
}

interface DescribedDataset {
  attributes: Record<string, CborValue>;
  notes: string[];
  leftOut: string[];
  coordinates: Coordinate[];
  variables: Described[];
}

/**
 * Opens archives as one dataset. Metadata are read, and no values. Of several datasets that an archive has, it is the one with the
 * most objects.
 */
export async function openDataset(source: Openable | readonly Openable[], options: DatasetOptions = {}): Promise<Dataset> {
  const [first] = await openDatasets(source, options);
  if (first === undefined) throw new TgmError("metadata", "the archive has no objects");
  return first;
}

/** Opens archives as datasets that hold everything: the one with the most objects first. They are closed together. */
export async function openDatasets(source: Openable | readonly Openable[], options: DatasetOptions = {}): Promise<Dataset[]> {
  const { profile, group, only, validTime, raw, signal } = options;
  signal?.throwIfAborted();
  const sources = await Promise.all((Array.isArray(source) ? source : [source]).map((one) => sourceOf(one, options)));
  const asking = new Asking(await host("dataset"), sources);
  try {
    const question = { ask: "datasets", profile, group, only, validTime, raw };
    const found = await asking.ask(question, (answer) => answer as unknown as DescribedDataset[], signal);
    return found.map((described, number) => new Dataset(asking, number, described));
  } catch (error) {
    asking.close();
    throw explained(error);
  }
}

/** Variables that share their coordinates. */
export class Dataset {
  /** What is known of all of it. */
  readonly attributes: Record<string, CborValue>;
  /** Variables by their names. */
  readonly variables: ReadonlyMap<string, Variable>;
  /** Coordinates by their names. */
  readonly coordinates: ReadonlyMap<string, Coordinate>;
  /** What does not fit into the dataset, and why. */
  readonly leftOut: readonly string[];
  /** What else is worth knowing. */
  readonly notes: readonly string[];
  readonly #asking: Asking;

  /** For `openDatasets`. */
  constructor(asking: Asking, readonly number: number, described: DescribedDataset) {
    this.#asking = asking;
    const { attributes, notes, leftOut, variables } = described;
    [this.attributes, this.notes, this.leftOut] = [attributes, notes, leftOut];
    const own = variables.filter((it) => !it.isCoordinate);
    this.variables = new Map(own.map((it) => [it.name, new Variable(this, it, new Map())]));
    const all = [...described.coordinates, ...variables.filter((it) => it.isCoordinate)];
    this.coordinates = new Map(all.map(({ name, dims, attributes }) => [name, { name, dims, attributes }]));
  }

  /** The variable of a name. */
  variable(name: string): Variable {
    const found = this.variables.get(name);
    if (found !== undefined) return found;
    throw new TgmError("metadata", `the dataset has no variable ${name}; it has ${[...this.variables.keys()].join(", ")}`);
  }

  /** All values of a coordinate. */
  async coordinate(name: string, options: { signal?: AbortSignal } = {}): Promise<CoordinateValues> {
    return this.ask({ ask: "coordinate", name }, (answer) => this.values(answer, name) as CoordinateValues, options.signal);
  }

  /** What the dataset has at a key as a store of Zarr, version 3; undefined for what it lacks. `tgm/zarr` makes a store of it. */
  async zarr(key: string, options: { signal?: AbortSignal } = {}): Promise<Uint8Array | undefined> {
    const take = (answer: CborValue): Uint8Array | undefined => (answer === null ? undefined : this.#asking.host.take(Number(answer)));
    return this.ask({ ask: "zarr", key }, take, options.signal);
  }

  /** Asks a question about this dataset. For the classes of this module. */
  async ask<T>(question: Record<string, unknown>, take: (answer: CborValue) => T, signal?: AbortSignal): Promise<T> {
    try {
      return await this.#asking.ask({ ...question, dataset: this.number }, take, signal);
    } catch (error) {
      throw explained(error);
    }
  }

  /** Values in an answer. For the classes of this module. */
  values(answer: CborValue, name: string): Read {
    if (answer === null) throw new TgmError("metadata", `the dataset has no coordinate ${name}; it has ${[...this.coordinates.keys()].join(", ")}`);
    const { dtype, values, ...rest } = answer as unknown as { dtype: Dtype | "text"; values: number | string[]; dims: string[]; shape: number[] };
    const data = dtype === "text" ? (values as string[]) : arrayOver(dtype, this.#asking.host.take(Number(values)));
    return { data, ...rest };
  }

  /** Frees what is kept of the archives, of all datasets that were opened together. */
  close(): void {
    this.#asking.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** What is picked of a dimension: the text of a selector, or a pick by index as WebAssembly takes it. */
type Picked = { label: string } | { index: unknown };

/** A variable, or the part of one that is picked. Nothing is read before `read`. */
export class Variable {
  readonly #picks: ReadonlyMap<string, Picked>;

  /** For `Dataset`. */
  constructor(readonly dataset: Dataset, readonly described: Described, picks: ReadonlyMap<string, Picked>) {
    this.#picks = picks;
  }

  get name(): string {
    return this.described.name;
  }

  /** The dimensions of the whole variable, the slowest first. */
  get dims(): string[] {
    return [...this.described.dims];
  }

  /** The lengths of the dimensions of the whole variable. */
  get shape(): number[] {
    return [...this.described.shape];
  }

  get dtype(): Dtype | "text" {
    return this.described.dtype;
  }

  get attributes(): Record<string, CborValue> {
    return this.described.attributes;
  }

  /** Picks by index: `{ step: 0, latitude: [0, 10] }`. */
  isel(picks: Readonly<Record<string, IndexPick>>): Variable {
    return this.#with(picks, (dim, pick) => ({ index: indexOf(this.name, dim, pick, this.#length(dim)) }));
  }

  /** Picks by label: `{ step: 6, latitude: [60, 40] }`; with `nearest`, the labels that are nearest. */
  sel(picks: Readonly<Record<string, LabelPick>>, options: { nearest?: boolean } = {}): Variable {
    return this.#with(picks, (dim, pick) => ({ label: selector(dim, pick, options.nearest === true) }));
  }

  #with<P>(picks: Readonly<Record<string, P>>, picked: (dim: string, pick: P) => Picked): Variable {
    const all = new Map(this.#picks);
    for (const [dim, pick] of Object.entries(picks)) {
      if (all.has(dim)) throw new TgmError("call", `${this.name}: dimension ${dim} is picked already`);
      all.set(dim, picked(dim, pick));
    }
    return new Variable(this.dataset, this.described, all);
  }

  #length(dim: string): number {
    const length = this.described.shape[this.described.dims.indexOf(dim)];
    if (length !== undefined) return length;
    throw new TgmError("metadata", `${this.name} has no dimension ${dim}; it has ${this.dims.join(", ")}`);
  }

  #question(): Record<string, unknown> {
    const all = [...this.#picks.values()];
    const picks = this.dims.map((dim) => {
      const picked = this.#picks.get(dim);
      return picked !== undefined && "index" in picked ? picked.index : null;
    });
    return { variable: this.name, picks, selectors: all.flatMap((it) => ("label" in it ? [it.label] : [])) };
  }

  /** Reads what is picked. Of long objects only the parts are read that hold it. */
  async read(request: DatasetReadRequest = {}): Promise<Read> {
    const question = { ...this.#question(), ask: "read", type: request.type };
    return this.dataset.ask(question, (answer) => this.dataset.values(answer, this.name), request.signal);
  }

  /** The part of a coordinate that belongs to what is picked. Its dimensions are some of the variable's. */
  async coordinate(name: string, options: { signal?: AbortSignal } = {}): Promise<CoordinateValues> {
    const question = { ...this.#question(), ask: "coordinate", name };
    return this.dataset.ask(question, (answer) => this.dataset.values(answer, name) as CoordinateValues, options.signal);
  }
}

/** A pick by index as WebAssembly takes it. */
function indexOf(variable: string, dim: string, pick: IndexPick, length: number): unknown {
  const one = (index: number): number => {
    const found = index < 0 ? index + length : index;
    if (Number.isInteger(index) && found >= 0 && found < length) return found;
    throw new TgmError("call", `${variable}: ${dim} has no index ${index}: its length is ${length}`);
  };
  if (typeof pick === "number") return one(pick);
  if ("indices" in pick) return { list: pick.indices.map(one) };
  const end = (index: number | null, open: number): number => {
    if (index !== null && !Number.isInteger(index)) throw new TgmError("call", `${variable}: ${index} is no index of ${dim}`);
    return index === null ? open : Math.min(Math.max(index < 0 ? index + length : index, 0), length);
  };
  const start = end(pick[0], 0);
  return [start, Math.max(end(pick[1], length) - start, 0), 1];
}

/** The text of a pick by labels: `step=0..24`. */
function selector(dim: string, pick: LabelPick, isNearest: boolean): string {
  if (Array.isArray(pick)) {
    const [first, last] = pick as [Label | null, Label | null];
    return `${dim}=${first === null ? "" : textOf(first)}..${last === null ? "" : textOf(last)}`;
  }
  if (typeof pick === "object" && "labels" in pick) return `${dim}=${pick.labels.map(textOf).join("/")}`;
  return `${dim}${isNearest ? "~" : "="}${textOf(pick as Label)}`;
}

/** A label as text. A time without a fraction is meant to the second. */
function textOf(label: Label): string {
  return label instanceof Date ? label.toISOString().replace(/(\.000)?Z$/, "") : String(label);
}
