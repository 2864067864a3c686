/** Tensogram in browsers, Node, Bun and Deno: archives, messages, objects; datasets; streams; an encoder. */

export { open, type Openable, type OpenOptions } from "./open.js";
export { Archive, Message, TgmObject, type Descriptor, type Metadata, type ReadRequest, type Pick } from "./archive.js";
export {
  openDataset, openDatasets, Dataset, Variable, type Coordinate, type CoordinateValues, type DatasetOptions, type DatasetReadRequest,
  type IndexPick, type Label, type LabelPick, type Read,
} from "./dataset.js";
export { stream, type StreamOptions, type StreamMessage, type StreamObject } from "./stream.js";
export { Encoder, type EncoderOptions, type ObjectInput } from "./encoder.js";
export { TgmError } from "./errors.js";
export { load, type LoadOptions } from "./load.js";
export {
  Bfloat16Array, ComplexArray, Float16Polyfill, type ComplexPair, type Dtype, type Float16ArrayLike, type TypedArray,
} from "./internal/arrays.js";
export type { CborValue } from "./internal/cbor.js";
export type { SourceOptions } from "./source.js";
