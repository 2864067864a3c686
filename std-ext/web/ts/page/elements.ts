/** Elements of the page. */

/** An element with attributes and what is in it. Texts stay texts. */
export function element<K extends keyof HTMLElementTagNameMap>(kind: K, attributes: Record<string, string>, ...inside: (Node | string)[]): HTMLElementTagNameMap[K] {
  const found = document.createElement(kind);
  for (const [name, value] of Object.entries(attributes)) found.setAttribute(name, value);
  found.append(...inside);
  return found;
}

/** Fills a table of two columns. */
export function rows(table: HTMLElement, lines: [string, string][]): void {
  table.replaceChildren(...lines.map(([name, value]) => element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, value))));
}

/** A value of metadata as text. */
export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (Array.isArray(value) && value.length > 12) return `${value.slice(0, 12).map(textOf).join(", ")}, … (${value.length})`;
  if (Array.isArray(value)) return value.map(textOf).join(", ");
  if (typeof value === "object" && value !== null) return Object.entries(value).map(([key, inner]) => `${key}: ${textOf(inner)}`).join(", ");
  return String(value);
}

function svg(kind: string, attributes: Record<string, string | number>, text = ""): SVGElement {
  const found = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const [name, value] of Object.entries(attributes)) found.setAttribute(name, String(value));
  found.textContent = text;
  return found;
}

function drawing(label: string, ...inside: SVGElement[]): SVGElement {
  const found = svg("svg", { viewBox: "0 0 280 120", role: "img", "aria-label": label });
  found.append(...inside);
  return found;
}

/** A histogram, with the values at both ends. */
export function bars(counts: number[], low: string, high: string): SVGElement {
  const most = Math.max(...counts, 1);
  const wide = 280 / counts.length;
  const made = counts.map((count, at) => {
    const tall = count === 0 ? 0 : Math.max((count / most) * 100, 1);
    return svg("rect", { x: at * wide, y: 102 - tall, width: Math.max(wide - 0.5, 0.5), height: tall });
  });
  return drawing(`Histogram of the values from ${low} to ${high}`, ...made, svg("text", { x: 0, y: 115 }, low), svg("text", { x: 280, y: 115, "text-anchor": "end" }, high));
}

/** A curve with a dot at one of its points. */
export function curve(values: Float64Array, labels: string[], dot: number, short: (value: number) => string): SVGElement {
  const finite = [...values].filter((value) => Number.isFinite(value));
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  const x = (at: number): number => 4 + (values.length > 1 ? (at / (values.length - 1)) * 272 : 136);
  const y = (value: number): number => (high > low ? 98 - ((value - low) / (high - low)) * 84 : 56);
  const runs: string[][] = [[]];
  values.forEach((value, at) => {
    if (Number.isFinite(value)) runs[runs.length - 1]!.push(`${x(at).toFixed(1)},${y(value).toFixed(1)}`);
    else runs.push([]);
  });
  const made = runs.filter((run) => run.length > 0).map((run) => svg("polyline", { points: run.join(" ") }));
  if (Number.isFinite(values[dot])) made.push(svg("circle", { cx: x(dot), cy: y(values[dot]!), r: 3.5 }));
  const end = (text: string | undefined): string => (text ?? "").replace("T", " ");
  return drawing(`Values from ${short(low)} to ${short(high)}`, ...made, svg("text", { x: 0, y: 10 }, short(high)), svg("text", { x: 0, y: 108 }, short(low)),
    svg("text", { x: 0, y: 119 }, end(labels[0])), svg("text", { x: 280, y: 119, "text-anchor": "end" }, end(labels[labels.length - 1])));
}
