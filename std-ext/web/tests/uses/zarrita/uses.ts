// A program that gives a dataset to zarrita.
import { ZarrStore } from "tgm/zarr";
import * as zarrita from "zarrita";

export async function asZarr(file: File): Promise<zarrita.Array<zarrita.DataType, ZarrStore>> {
  const group = await zarrita.open.v3(await ZarrStore.open(file), { kind: "group" });
  return zarrita.open.v3(group.resolve("t2m"), { kind: "array" });
}
