/** Requests to S3, signed with AWS Signature Version 4. */

export interface SigV4Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
  region: string;
  service?: string;
}

export interface SigV4Input {
  method: string;
  url: URL;
  headers: Headers;
  payloadHash: string;
  timestamp: Date;
  includeContentSha256?: boolean;
}

export interface SigV4Result {
  authorization: string;
  headers: Headers;
}

export interface AwsSigV4FetchOptions {
  fetchImpl?: typeof globalThis.fetch;
}

const ALGORITHM = "AWS4-HMAC-SHA256";
const EMPTY_BODY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const utf8 = new TextEncoder();

const hex = (bytes: ArrayBuffer): string =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");

async function sha256(text: string): Promise<string> {
  return hex(await crypto.subtle.digest("SHA-256", utf8.encode(text)));
}

async function hmac(key: BufferSource, text: string): Promise<ArrayBuffer> {
  const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return crypto.subtle.sign("HMAC", imported, utf8.encode(text));
}

/** A text with all but unreserved characters as %XX. What is such already stays. */
function escaped(text: string): string {
  let plain = text;
  try {
    plain = decodeURIComponent(text);
  } catch {
    // A lone % stands for itself.
  }
  return encodeURIComponent(plain).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

const order = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);

function canonicalQuery(url: URL): string {
  const pairs = url.search.replace(/^\?/, "").split("&").filter((part) => part !== "").map((part) => {
    const at = part.indexOf("=");
    const [name, value] = at < 0 ? [part, ""] : [part.slice(0, at), part.slice(at + 1)];
    return [escaped(name), escaped(value)] as const;
  });
  pairs.sort(([name, value], [otherName, otherValue]) => order(name, otherName) || order(value, otherValue));
  return pairs.map(([name, value]) => `${name}=${value}`).join("&");
}

/** Signs a request. */
export async function signAwsV4Request(input: SigV4Input, credentials: SigV4Credentials): Promise<SigV4Result> {
  const { method, url, payloadHash, timestamp, includeContentSha256 = true } = input;
  const { accessKeyId, secretAccessKey, sessionToken, region, service = "s3" } = credentials;
  const time = timestamp.toISOString().replace(/[-:]|\.\d+/g, "");
  const headers = new Headers(input.headers);
  headers.set("x-amz-date", time);
  if (includeContentSha256) headers.set("x-amz-content-sha256", payloadHash);
  if (sessionToken !== undefined) headers.set("x-amz-security-token", sessionToken);
  headers.delete("authorization");

  const signed = [...headers].map(([name, value]) => [name.toLowerCase(), value.trim().replace(/ +/g, " ")] as const);
  if (!headers.has("host")) signed.push(["host", url.host]);
  signed.sort(([name], [other]) => order(name, other));
  const names = signed.map(([name]) => name).join(";");
  const canonical = [
    method.toUpperCase(),
    url.pathname.split("/").map(escaped).join("/") || "/",
    canonicalQuery(url),
    ...signed.map(([name, value]) => `${name}:${value}`),
    "",
    names,
    payloadHash,
  ].join("\n");

  const day = time.slice(0, 8);
  const scope = `${day}/${region}/${service}/aws4_request`;
  const toSign = [ALGORITHM, time, scope, await sha256(canonical)].join("\n");
  let key: BufferSource = utf8.encode(`AWS4${secretAccessKey}`);
  for (const part of [day, region, service, "aws4_request"]) key = await hmac(key, part);
  const signature = hex(await hmac(key, toSign));
  const authorization = `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  headers.set("authorization", authorization);
  return { authorization, headers };
}

/** A `fetch` that signs its requests, which have no body. */
export function createAwsSigV4Fetch(credentials: SigV4Credentials, options: AwsSigV4FetchOptions = {}): typeof globalThis.fetch {
  const fetchImpl = options.fetchImpl ?? globalThis.fetch;
  if (typeof fetchImpl !== "function") throw new Error("createAwsSigV4Fetch needs a fetch function");
  return async (input, init) => {
    const request = typeof Request !== "undefined" && input instanceof Request ? input : undefined;
    const url = new URL(request === undefined ? String(input) : request.url);
    const headers = new Headers(request?.headers);
    new Headers(init?.headers).forEach((value, name) => headers.set(name, value));
    const method = init?.method ?? request?.method ?? "GET";
    const unsigned = { method, url, headers, payloadHash: EMPTY_BODY, timestamp: new Date() };
    const signed = await signAwsV4Request(unsigned, credentials);
    const signal = init?.signal ?? request?.signal;
    return fetchImpl(request?.url ?? (input as string | URL), { ...init, method, headers: signed.headers, ...(signal ? { signal } : {}) });
  };
}
