/** What the page shows, as it stands in its address. */

/** Which values of which file. */
export interface Chosen {
  /** The address of the file. Empty for one of this machine. */
  file: string;
  /** The file, if it is one of this machine. */
  blob?: File;
  dataset: number;
  variable: string;
  /** For each dimension an index, or null for all. */
  picks: (number | null)[];
}

/** What is looked at, and how. */
export interface State extends Chosen {
  projection: string;
  latitude: number;
  longitude: number;
  /** The part of the picture: left, top, right, bottom. Null for all of it. */
  part: [number, number, number, number] | null;
  palette: string;
  low: number | null;
  high: number | null;
  /** What is compared with it. */
  kept: Chosen | null;
  /** Whether the difference is shown, if something is compared. */
  isDifference: boolean;
}

export const START: State = {
  file: "", dataset: 0, variable: "", picks: [], projection: "plate-carree", latitude: 20, longitude: 0, part: null, palette: "", low: null, high: null,
  kept: null, isDifference: true,
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
  const { kept } = state;
  // What is compared is named as if it alone were shown. A file of this machine has no address.
  if (kept !== null && (kept.file !== "" || state.file === "")) {
    put("with", written({ ...START, ...kept, file: kept.file === state.file ? "" : kept.file }), "");
    put("show", state.isDifference ? "" : "field", "");
  }
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
  const file = found.get("file") ?? "";
  const kept = found.has("with") ? read(found.get("with")!) : null;
  return {
    file,
    dataset: Number(found.get("dataset") ?? 0) || 0,
    variable: found.get("variable") ?? "",
    picks: at === null ? [] : at.split(".").map((pick) => (pick === "" ? null : Number(pick))),
    projection: found.get("map") ?? START.projection,
    latitude, longitude,
    part: part.length === 4 ? (part as [number, number, number, number]) : null,
    palette: found.get("colours") ?? "",
    low, high,
    kept: kept === null ? null : { file: kept.file || file, dataset: kept.dataset, variable: kept.variable, picks: kept.picks },
    isDifference: found.get("show") !== "field",
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
