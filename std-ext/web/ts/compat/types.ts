/** Types without a value. */

import type { Dtype, TypedArray } from "../internal/arrays.js";
import type { CborValue as AnyCbor } from "../internal/cbor.js";
import type { TensogramError } from "./errors.js";

export type CborValue = AnyCbor;
export type ByteOrder = "big" | "little";
export type Encoding = "none" | "simple_packing" | (string & {});
export type Filter = "none" | "shuffle" | (string & {});
export type Compression = "none" | "szip" | "zstd" | "lz4" | "blosc2" | "zfp" | "sz3" | "rle" | "roaring" | (string & {});
export type HashAlgorithm = "xxh3";
export type MaskMethod = "none" | "rle" | "roaring" | "lz4" | "zstd" | "blosc2";
export type RangePair = readonly [offset: number | bigint, count: number | bigint];

/** Metadata of one object. */
export interface BaseEntry {
  [key: string]: CborValue | unknown;
}

/** Metadata of a message. */
export interface GlobalMetadata {
  version?: number;
  base?: BaseEntry[];
  _reserved_?: Record<string, CborValue | unknown>;
  _extra_?: Record<string, CborValue | unknown>;
  [key: string]: unknown;
}

/** A digest as releases before 0.17 kept it in descriptors. */
export interface HashDescriptor {
  type: string;
  value: string;
}

/** What an object is. Parameters of its stages stand beside these keys. */
export interface DataObjectDescriptor {
  type: string;
  ndim?: number;
  shape: number[];
  strides?: number[];
  dtype: Dtype;
  byte_order?: ByteOrder;
  encoding?: Encoding;
  filter?: Filter;
  compression?: Compression;
  [key: string]: CborValue | undefined | unknown;
}

/** An object to be encoded. */
export interface EncodeInput {
  descriptor: DataObjectDescriptor;
  data: ArrayBufferView;
}

/** An object whose bytes went through its pipeline. */
export interface PreEncodedInput {
  descriptor: DataObjectDescriptor;
  data: Uint8Array;
}

export interface EncodePreEncodedOptions {
  hash?: HashAlgorithm | false;
}

export interface EncodeOptions extends EncodePreEncodedOptions {
  allowNan?: boolean;
  allowInf?: boolean;
  nanMaskMethod?: MaskMethod;
  posInfMaskMethod?: MaskMethod;
  negInfMaskMethod?: MaskMethod;
  smallMaskThresholdBytes?: number;
}

export type AppendOptions = EncodeOptions;

export interface StreamingEncoderOptions extends EncodeOptions {
  onBytes?: (chunk: Uint8Array) => void;
}

export interface DecodeOptions {
  restoreNonFinite?: boolean;
  verifyHash?: boolean;
}

export interface DecodeRangeOptions {
  join?: boolean;
}

export interface DecodeRangeResult {
  descriptor: DataObjectDescriptor;
  parts: TypedArray[];
}

/** Values of an object. */
export interface DecodedObject {
  readonly descriptor: DataObjectDescriptor;
  readonly byteLength: number;
  /** A copy that survives `close`. */
  data(): TypedArray;
  /** The values without a copy. */
  dataView(): TypedArray;
}

export interface DecodedMessage {
  readonly metadata: GlobalMetadata;
  readonly objects: DecodedObject[];
  close(): void;
  [Symbol.dispose](): void;
}

/** An object of a stream. */
export interface DecodedFrame extends DecodedObject {
  readonly baseEntry: BaseEntry | null;
  close(): void;
  [Symbol.dispose](): void;
}

export interface StreamDecodeError {
  message: string;
  skippedCount: number;
  error?: TensogramError | Error;
}

export interface DecodeStreamOptions {
  signal?: AbortSignal;
  maxBufferBytes?: number;
  onError?: (error: StreamDecodeError) => void;
}

export interface MessagePosition {
  offset: number;
  length: number;
}

export type FileSource = "local" | "remote" | "buffer";

export interface OpenFileOptions {
  signal?: AbortSignal;
}

export interface FromUrlOptions {
  fetch?: typeof globalThis.fetch;
  headers?: HeadersInit;
  signal?: AbortSignal;
  concurrency?: number;
  bidirectional?: boolean;
  debug?: boolean;
}


export type ValidateMode = "quick" | "default" | "checksum" | "full";
export type ValidationLevel = "structure" | "metadata" | "integrity" | "fidelity";
export type IssueSeverity = "error" | "warning";
export type IssueCode = string;

export interface ValidateOptions {
  mode?: ValidateMode;
  canonical?: boolean;
}

export interface ValidationIssue {
  code: IssueCode;
  level: ValidationLevel;
  severity: IssueSeverity;
  object_index?: number;
  byte_offset?: number;
  description: string;
}

export interface ValidationReport {
  issues: ValidationIssue[];
  object_count: number;
  hash_verified: boolean;
}

export interface FileIssue {
  byte_offset: number;
  length: number;
  description: string;
}

export interface FileValidationReport {
  file_issues: FileIssue[];
  messages: ValidationReport[];
}

export interface SimplePackingParams {
  sp_reference_value: number;
  sp_binary_scale_factor: number;
  sp_decimal_scale_factor: number;
  sp_bits_per_value: number;
}

export type FeatureKind = "compression" | "threading" | "io" | "converter";
export type Linkage = "ffi" | "pure-rust";
export type BuildProfile = string;

export interface BuildInfo {
  version: string;
  wire_version: number;
  target: string;
  profile: BuildProfile;
}

export type FeatureStatus =
  | { name: string; kind: FeatureKind; state: "on"; backend: string; linkage: Linkage; version: string | null }
  | { name: string; kind: FeatureKind; state: "off" };

export type SelfTestResult =
  | { label: string; outcome: "ok" }
  | { label: string; outcome: "failed"; error: string }
  | { label: string; outcome: "skipped"; reason: string };

export interface DoctorReport {
  build: BuildInfo;
  features: FeatureStatus[];
  self_test: SelfTestResult[];
}
