/** The names of the package `@ecmwf.int/tensogram`. */

export { init, type InitOptions } from "./init.js";
export { decode, decodeMetadata, decodeObject, decodeRange, scan, WIRE_VERSION } from "./decode.js";
export { decodeStream } from "./stream.js";
export { TensogramFile } from "./file.js";
export { encode, encodePreEncoded } from "./encode.js";
export { StreamingEncoder } from "./streaming.js";
export { computeHash, doctor, simplePackingComputeParams, validate, validateBuffer, validateFile } from "./validate.js";
export {
  cborValuesEqual, computeCommon, getMetaBool, getMetaBoolAt, getMetaFloat, getMetaFloatAt, getMetaInt, getMetaIntAt,
  getMetaKey, getMetaKeyAt, getMetaString, getMetaStringAt, hasMetaKey, hasMetaKeyAt,
} from "./metadata.js";
export { payloadByteSize, shapeElementCount, typedArrayFor } from "./dtype.js";
export {
  Bfloat16Array, bfloat16FromBytes, ComplexArray, complexFromBytes, DTYPE_BYTE_WIDTH, Float16Polyfill, float16FromBytes,
  getFloat16ArrayCtor, hasNativeFloat16Array, isDtype, SUPPORTED_DTYPES,
  type ComplexDtype, type ComplexPair, type ComplexStorage, type Dtype, type Float16ArrayLike, type Float16Ctor, type TypedArray,
} from "../internal/arrays.js";
export {
  createAwsSigV4Fetch, signAwsV4Request,
  type AwsSigV4FetchOptions, type SigV4Credentials, type SigV4Input, type SigV4Result,
} from "./aws.js";
export {
  CompressionError, EncodingError, FramingError, HashMismatchError, IntegrityError, InvalidArgumentError, IoError,
  MetadataError, MissingHashError, ObjectError, RemoteError, StreamingLimitError, TensogramError,
} from "./errors.js";
export type * from "./types.js";
