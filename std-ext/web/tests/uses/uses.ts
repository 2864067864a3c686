// Programs of users, for the compiler.
import { Encoder, open, openDataset, stream, type TypedArray } from "tgm";
import * as compat from "tgm/compat";
import { load } from "tgm/core";

export async function field(file: File, signal: AbortSignal): Promise<TypedArray> {
  using archive = await open(file, { signal });
  const [found] = await archive.query("mars.param = 2t", { signal });
  if (found === undefined) throw new Error("no such field");
  const { data, shape } = await found.read({ region: [[0, 10], 3], type: "float32", signal });
  console.log(shape.length, found.metadata["mars"]);
  return data;
}

export async function sum(body: AsyncIterable<Uint8Array>): Promise<number> {
  let total = 0;
  for await (const message of stream(body)) {
    for (const { data } of message.objects) if (data instanceof Float64Array) total += data.reduce((a, b) => a + b, 0);
  }
  return total;
}

export async function write(sink: WritableStream<Uint8Array>): Promise<void> {
  using encoder = await Encoder.create({ sink });
  await encoder.object({ shape: [2], dtype: "float64", data: new Float64Array(2), within: 0.01 });
  await encoder.finish();
}

export async function ported(): Promise<void> {
  await compat.init();
  const descriptor: compat.DataObjectDescriptor = { type: "ntensor", ndim: 1, shape: [1], strides: [1], dtype: "float32", byte_order: "little" };
  const message = compat.encode({ base: [{ mars: { param: "2t" } }] }, [{ descriptor, data: new Float32Array(1) }]);
  const decoded: compat.DecodedMessage = compat.decode(message);
  const values: compat.TypedArray = decoded.objects[0]!.data();
  const options: compat.FromUrlOptions = { concurrency: 2 };
  const file = await compat.TensogramFile.fromUrl("https://example.org/a.tgm", options);
  console.log(values.length, file.messageCount, compat.getMetaString(decoded.metadata, "mars.param"));
  decoded.close();
}

export async function small(bytes: Uint8Array): Promise<number> {
  return (await load()).values(bytes, 0).length;
}

export async function series(address: string, signal: AbortSignal): Promise<number[]> {
  using dataset = await openDataset(address, { only: ["mars.param = 2t"], signal });
  const part = dataset.variable("t2m").isel({ number: 0 }).sel({ step: [0, 24], time: new Date(0) }).sel({ latitude: 52, longitude: 13 }, { nearest: true });
  const { data, dims, shape } = await part.read({ type: "float32", signal });
  const { data: steps, attributes } = await part.coordinate("step");
  console.log(dims.length, shape.length, steps.length, attributes["units"], dataset.coordinates.get("step")?.dims);
  return data instanceof Float32Array ? [...data] : [];
}
