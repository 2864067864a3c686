/** What the page shows, as it stands in its address. */

/** What is looked at, and how. */
export interface State {
  /** The address of the file. Empty for one of this machine. */
  file: string;
  dataset: number;
  variable: string;
  /** For each dimension an index, or null for all. */
  picks: (number | null)[];
  projection: string;
  latitude: number;
  longitude: number;
  /** The part of the picture: left, top, right, bottom. Null for all of it. */
  part: [number, number, number, number] | null;
  palette: string;
  low: number | null;
  high: number | null;
}

export const START: State = {
  file: "", dataset: 0, variable: "", picks: [], projection: "plate-carree", latitude: 20, longitude: 0, part: null, palette: "", low: null, high: null,
};

/** The state in a fragment. What differs from the beginning alone. */
export function written(state: State): string {
  const found = new URLSearchParams();
  const put = (name: string, value: string, usual: string): void => {
    if (value !== usual) found.set(name, value);
  };
  put("file", state.file, "");
  put("variable", state.variable, "");
  put("dataset", String(state.dataset), "0");
  put("at", state.picks.map((pick) => pick ?? "").join("."), "");
  put("map", state.projection, START.projection);
  if (isRound(state.projection)) put("middle", `${state.latitude.toFixed(1)},${state.longitude.toFixed(1)}`, "");
  put("part", state.part?.map((share) => share.toFixed(4)).join(",") ?? "", "");
  put("colours", state.palette, "");
  put("range", state.low === null || state.high === null ? "" : `${state.low},${state.high}`, "");
  return found.toString();
}

/** The state that a fragment names. What it does not name is as at the beginning. */
export function read(fragment: string): State {
  const found = new URLSearchParams(fragment.replace(/^#/, ""));
  const numbers = (name: string): number[] => (found.get(name) ?? "").split(",").map(Number).filter((it) => Number.isFinite(it));
  const [latitude = START.latitude, longitude = START.longitude] = found.has("middle") ? numbers("middle") : [];
  const part = found.has("part") ? numbers("part") : [];
  const [low = null, high = null] = found.has("range") ? numbers("range") : [];
  const at = found.get("at");
  return {
    file: found.get("file") ?? "",
    dataset: Number(found.get("dataset") ?? 0) || 0,
    variable: found.get("variable") ?? "",
    picks: at === null ? [] : at.split(".").map((pick) => (pick === "" ? null : Number(pick))),
    projection: found.get("map") ?? START.projection,
    latitude, longitude,
    part: part.length === 4 ? (part as [number, number, number, number]) : null,
    palette: found.get("colours") ?? "",
    low, high,
  };
}

export function isRound(projection: string): boolean {
  return projection === "orthographic" || projection.startsWith("polar");
}

/** The projection with its middle, as the module takes it. */
export function projectionOf(state: State): string {
  if (state.projection === "orthographic") return `orthographic:${state.latitude},${wrapped(state.longitude)}`;
  if (state.projection === "polar") return `polar:90,${wrapped(state.longitude)}`;
  if (state.projection === "polar-south") return `polar:-90,${wrapped(state.longitude)}`;
  return state.projection;
}

/** A longitude between -180 and 180. */
export function wrapped(longitude: number): number {
  return ((((longitude + 180) % 360) + 360) % 360) - 180;
}
