/** A server of this machine for tests of the page: the folder of the page, and data beside it by ranges. */

import { createReadStream, existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const KINDS = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm", ".css": "text/css", ".gz": "application/gzip" };
/** The browsers that the page is driven in: the files that may be theirs, and what starts them. Debian's Firefox is driven by WebDriver BiDi. */
const BROWSERS = {
  chromium: { files: [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/google-chrome"], args: ["--no-sandbox"] },
  firefox: { files: [process.env.FIREFOX, "/usr/bin/firefox-esr", "/usr/bin/firefox"], channel: "moz-firefox" },
};
/** The browser of this run: `chromium`, or what `BROWSER` names. */
export const browser = process.env.BROWSER ?? "chromium";
const { files, ...options } = BROWSERS[browser];
const executablePath = files.find((path) => path && existsSync(path));
/** Why tests in a browser are skipped: false if they are not. */
export const skip = executablePath === undefined ? `there is no ${browser}: skipped` : false;

/** Starts the browser. */
export async function launch() {
  const types = await import("playwright-core");
  return types[browser].launch({ executablePath, ...options });
}

/** What `tgm serve` allows its page. */
const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; " +
  "worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Serves `page` at `/` and each of `data`, folders by names, below `/NAME/`. Gives the address, and what ends it. */
export async function serve(page, data) {
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://x").pathname)).slice(1) || "index.html";
    const [folder, ...rest] = path.split("/");
    const file = folder in data ? join(data[folder], ...rest) : join(page, path);
    const size = (await stat(file).catch(() => undefined))?.size;
    response.setHeader("Content-Security-Policy", POLICY);
    if (size === undefined) return void response.writeHead(404).end();
    response.setHeader("Content-Type", KINDS[extname(file)] ?? "application/octet-stream");
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
    if (range === null) return void createReadStream(file).pipe(response);
    const [start, end] = [Number(range[1]), Math.min(Number(range[2]), size - 1)];
    if (start >= size) return void response.writeHead(416, { "Content-Range": `bytes */${size}` }).end();
    response.writeHead(206, { "Content-Range": `bytes ${start}-${end}/${size}`, "Content-Length": end - start + 1, ETag: `"${size}"` });
    createReadStream(file, { start, end }).pipe(response);
  });
  await new Promise((go) => server.listen(0, "127.0.0.1", go));
  return { address: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}
