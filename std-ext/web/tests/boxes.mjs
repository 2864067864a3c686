/** Boxes of datasets, read by the package in any host: `expected.json` has them as xarray and the tool have them. */

/** Reads one box, and gives what differs from what is expected: nothing. */
export async function differences({ openDataset }, from, box) {
  const dataset = await openDataset(from);
  let variable = dataset.variable(box.variable);
  if (box.isel) variable = variable.isel(box.isel);
  if (box.sel) variable = variable.sel(box.sel);
  if (box.nearest) variable = variable.sel(box.nearest, { nearest: true });
  const read = await variable.read(box.integers ? {} : { type: "float64" });
  const found = [];
  const same = (what, mine, right) => JSON.stringify(mine) === JSON.stringify(right) || found.push(`${what}: ${JSON.stringify(mine).slice(0, 200)}, not ${JSON.stringify(right).slice(0, 200)}`);
  same("shape", read.shape, box.shape);
  if (box.dims) same("dims", read.dims, box.dims);
  if (box.integers) same("integers", Array.from(read.data, String), box.integers);
  else same("values", Array.from(read.data), box.values.map((value) => value ?? NaN));
  for (const [name, values] of Object.entries(box.coords ?? {})) {
    const { data } = await variable.coordinate(name);
    same(name, Array.from(data, (value) => (typeof value === "bigint" ? Number(value) : value)), values);
  }
  dataset.close();
  return found;
}
