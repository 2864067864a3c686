/** Draws a picture: values as pixels, coasts, axes, ticks, a colour bar. All lengths are in CSS pixels. */

/** What is asked of the module, and how the rest is drawn. */
export interface Scene {
  ask: Record<string, unknown>;
  width: number;
  height: number;
  scale: number;
  isDark: boolean;
  units: string;
  /** The title above the picture, of a picture that is saved. */
  title: string;
  caption: string;
}

type Tick = [share: number, label: string];

/** What the module answers. */
interface Answer {
  width: number;
  height: number;
  pixels?: Uint8Array<ArrayBuffer>;
  coasts: Uint8Array;
  net: Uint8Array;
  isRound: boolean;
  rows: Tick[];
  columns: Tick[];
  rowName: string;
  columnName: string;
  hasMissing: boolean;
  values: Uint8Array;
  shares: Uint8Array;
  labels: string[] | null;
  isUpright: boolean;
  low: number;
  high: number;
  bar: Uint8Array;
  barTicks: Tick[];
  palette: string;
}

export interface Area { x: number; y: number; width: number; height: number }

export interface Drawn {
  canvas: OffscreenCanvas;
  area: Area;
  about: { low: number; high: number; palette: string; isLine: boolean; values?: Float64Array; shares?: Float64Array; labels?: string[] | null };
}

const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
const MARGIN = { left: 58, right: 20, top: 10, foot: 92 };
const MISSING = "rgb(96 96 96)";

/** The room for the values in a picture of some size. */
export function room(width: number, height: number, hasTitle: boolean): { width: number; height: number; top: number } {
  const top = MARGIN.top + (hasTitle ? 46 : 0);
  return { width: Math.max(width - MARGIN.left - MARGIN.right, 40), height: Math.max(height - top - MARGIN.foot, 40), top };
}

interface Ink { text: string; pale: string; line: string; coast: string; halo: string; curve: string }

function ink(isDark: boolean): Ink {
  return isDark
    ? { text: "#e8eaed", pale: "#9aa4b2", line: "#4a5463", coast: "#0b0d10", halo: "rgb(255 255 255 / .55)", curve: "#7cb5ff" }
    : { text: "#15202b", pale: "#5b6776", line: "#c3cad3", coast: "#101418", halo: "rgb(255 255 255 / .55)", curve: "#1f5fbf" };
}

export function draw(answer: Answer, scene: Scene): Drawn {
  const canvas = new OffscreenCanvas(Math.max(1, Math.round(scene.width * scene.scale)), Math.max(1, Math.round(scene.height * scene.scale)));
  const to = canvas.getContext("2d")!;
  to.scale(scene.scale, scene.scale);
  const colours = ink(scene.isDark);
  if (scene.title !== "") {
    to.fillStyle = scene.isDark ? "#11151a" : "#ffffff";
    to.fillRect(0, 0, scene.width, scene.height);
    to.fillStyle = colours.text;
    to.font = `600 16px ${FONT}`;
    to.fillText(scene.title, MARGIN.left, 24, scene.width - MARGIN.left - MARGIN.right);
    to.fillStyle = colours.pale;
    to.font = `12px ${FONT}`;
    to.fillText(scene.caption, MARGIN.left, 44, scene.width - MARGIN.left - MARGIN.right);
  }
  to.font = `12px ${FONT}`;
  const space = room(scene.width, scene.height, scene.title !== "");
  const { low, high, palette } = answer;
  if (answer.pixels === undefined) {
    const area = { x: MARGIN.left, y: space.top, width: space.width, height: space.height + 30 };
    const [values, shares] = [floats(answer.values), floats(answer.shares)];
    line(to, area, answer, values, shares, colours);
    return { canvas, area, about: { low, high, palette, isLine: true, values, shares, labels: answer.labels } };
  }
  const [width, height] = [answer.width / scene.scale, answer.height / scene.scale];
  const area = { x: MARGIN.left + (space.width - width) / 2, y: space.top + (space.height - height) / 2, width, height };
  field(to, area, answer, scene.scale, colours);
  bar(to, { x: MARGIN.left, y: area.y + height + 34, width: space.width, height: 12 }, answer, scene.units, colours);
  return { canvas, area, about: { low, high, palette, isLine: false } };
}

function floats(bytes: Uint8Array): Float64Array {
  return new Float64Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 8);
}

function field(to: OffscreenCanvasRenderingContext2D, area: Area, answer: Answer, scale: number, colours: Ink): void {
  const pixels = answer.pixels!;
  const data = new Uint8ClampedArray(pixels.buffer, pixels.byteOffset, pixels.byteLength);
  to.putImageData(new ImageData(data, answer.width, answer.height), Math.round(area.x * scale), Math.round(area.y * scale));
  to.save();
  to.beginPath();
  to.rect(area.x, area.y, area.width, area.height);
  to.clip();
  to.lineJoin = "round";
  const coasts = path(answer.coasts, area);
  to.strokeStyle = colours.halo;
  to.lineWidth = 2;
  to.stroke(coasts);
  to.strokeStyle = colours.coast;
  to.lineWidth = 0.8;
  to.stroke(coasts);
  to.strokeStyle = "rgb(128 128 128 / .6)";
  to.lineWidth = 0.6;
  to.stroke(path(answer.net, area));
  to.restore();
  to.strokeStyle = colours.line;
  to.lineWidth = 1;
  if (!answer.isRound) to.strokeRect(area.x - 0.5, area.y - 0.5, area.width + 1, area.height + 1);
  axes(to, area, answer, colours, false);
}

/** Lines as one path. NaN ends a line. */
function path(bytes: Uint8Array, area: Area): Path2D {
  const found = new Path2D();
  const points = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  let isStart = true;
  for (let at = 0; at < points.length; at += 2) {
    const [x, y] = [points[at]!, points[at + 1]!];
    if (Number.isNaN(x)) {
      isStart = true;
      continue;
    }
    if (isStart) found.moveTo(area.x + x * area.width, area.y + y * area.height);
    else found.lineTo(area.x + x * area.width, area.y + y * area.height);
    isStart = false;
  }
  return found;
}

function axes(to: OffscreenCanvasRenderingContext2D, area: Area, answer: Answer, colours: Ink, hasGrid: boolean): void {
  to.strokeStyle = colours.line;
  to.fillStyle = colours.pale;
  to.textBaseline = "middle";
  const foot = area.y + area.height;
  for (const [share, label] of answer.columns) {
    const x = area.x + share * area.width;
    stroke(to, x, hasGrid ? area.y : foot, x, foot + 4);
    to.textAlign = "center";
    to.fillText(label, x, foot + 13);
  }
  for (const [share, label] of answer.rows ?? []) {
    const y = area.y + share * area.height;
    stroke(to, area.x - 4, y, hasGrid ? area.x + area.width : area.x, y);
    to.textAlign = "right";
    to.fillText(label, area.x - 8, y);
  }
}

function stroke(to: OffscreenCanvasRenderingContext2D, x: number, y: number, toX: number, toY: number): void {
  to.beginPath();
  to.moveTo(x, y);
  to.lineTo(toX, toY);
  to.stroke();
}

function bar(to: OffscreenCanvasRenderingContext2D, area: Area, answer: Answer, units: string, colours: Ink): void {
  const wide = Math.min(area.width, 560);
  const x = area.x + (area.width - wide) / 2;
  const colour = to.createLinearGradient(x, 0, x + wide, 0);
  for (let step = 0; step < 256; step += 3) {
    const [red, green, blue] = answer.bar.subarray(3 * step, 3 * step + 3);
    colour.addColorStop(step / 255, `rgb(${red} ${green} ${blue})`);
  }
  to.fillStyle = colour;
  to.fillRect(x, area.y, wide, area.height);
  to.strokeStyle = colours.line;
  to.strokeRect(x - 0.5, area.y - 0.5, wide + 1, area.height + 1);
  to.fillStyle = colours.pale;
  to.textBaseline = "middle";
  for (const [share, label] of answer.barTicks) {
    const at = x + share * wide;
    stroke(to, at, area.y + area.height, at, area.y + area.height + 4);
    to.textAlign = "center";
    to.fillText(label, at, area.y + area.height + 13);
  }
  to.textAlign = "center";
  to.fillStyle = colours.text;
  to.fillText(units, x + wide / 2, area.y + area.height + 31);
  if (!answer.hasMissing) return;
  to.fillStyle = MISSING;
  to.fillRect(x, area.y + area.height + 25, 12, 12);
  to.fillStyle = colours.pale;
  to.textAlign = "left";
  to.fillText("missing", x + 18, area.y + area.height + 31);
}

function line(to: OffscreenCanvasRenderingContext2D, area: Area, answer: Answer, values: Float64Array, shares: Float64Array, colours: Ink): void {
  const span = answer.high - answer.low;
  const of = (value: number): number => (span > 0 ? (value - answer.low) / span : 0.5);
  const flipped: Tick[] = answer.barTicks.map(([share, label]) => [1 - share, label]);
  const turned = answer.isUpright ? { ...answer, rows: answer.columns, columns: answer.barTicks } : { ...answer, rows: flipped };
  axes(to, area, turned, colours, true);
  to.strokeRect(area.x, area.y, area.width, area.height);
  to.strokeStyle = colours.curve;
  to.fillStyle = colours.curve;
  to.lineWidth = 1.8;
  to.lineJoin = "round";
  to.beginPath();
  let isStart = true;
  for (let at = 0; at < values.length; at += 1) {
    const [value, share] = [values[at]!, shares[at]!];
    if (!Number.isFinite(value)) {
      isStart = true;
      continue;
    }
    const [x, y] = answer.isUpright ? [of(value), share] : [share, 1 - of(value)];
    const [left, top] = [area.x + x * area.width, area.y + y * area.height];
    if (isStart) to.moveTo(left, top);
    else to.lineTo(left, top);
    if (values.length <= 64) to.fillRect(left - 2, top - 2, 4, 4);
    isStart = false;
  }
  to.stroke();
  to.fillStyle = colours.text;
  to.textAlign = "center";
  to.fillText(answer.columnName, area.x + area.width / 2, area.y + area.height + 34);
}
