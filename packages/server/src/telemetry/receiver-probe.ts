// Asks a receiver of OTLP whether it would accept what a server sends: a request with the same headers and encoding, but without records.
import { gzipSync } from 'node:zlib';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { request } from 'undici';
import type { OtlpReceiver } from '../config/settings/telemetry-settings.ts';
import { otlpHeaders } from './otlp-headers.ts';

export type ProbeResult =
  /** `type`: media type. `text`: the message of the receiver, shortened. */
  | { kind: 'responded'; status: number; type: string; text: string; location: string | undefined }
  /** `code`: of Node, or the name of the error. */
  | { kind: 'failed'; code: string | undefined; message: string };

const bodyBytesMax = 65_536;
const textMax = 200;

/** Follows no redirect, as the exporters do not. */
export const probeReceiver = async (receiver: OtlpReceiver, limitMs: number): Promise<ProbeResult> => {
  const secrets = Object.values(receiver.headers).flatMap((secret) => secretsOf(secret.reveal()));
  // The receiver may repeat what it has got.
  const masked = (text: string): string =>
    secrets.reduce((shown, secret) => shown.replaceAll(secret, '[redacted]'), text);
  try {
    const { statusCode, headers, body } = await request(receiver.url, {
      method: 'POST',
      headers: { ...otlpHeaders(receiver), 'content-encoding': 'gzip' },
      body: gzipSync(new Uint8Array()),
      signal: AbortSignal.timeout(limitMs),
    });
    const type = String(headers['content-type'] ?? '').split(';', 1)[0] ?? '';
    const text = messageOf(await readSome(body), type);
    return {
      kind: 'responded',
      status: statusCode,
      type: type.trim().toLowerCase(),
      text: masked(text).slice(0, textMax),
      location: headers['location'] === undefined ? undefined : masked(headers['location'].toString()),
    };
  } catch (error) {
    return failureOf(error);
  }
};

/** Shorter parts are words such as `Bearer`, which would be masked inside other words. */
const secretCharsMin = 6;

/** The value of a header and its parts, such as a token behind its scheme, and the user and the password of `Basic`. */
const secretsOf = (value: string): string[] => {
  const parts = value.split(/\s+/);
  const basic = parts[0]?.toLowerCase() === 'basic' ? Buffer.from(parts[1] ?? '', 'base64').toString() : '';
  return [value, ...parts, basic, ...basic.split(':')].filter(({ length }) => length >= secretCharsMin);
};

const readSome = async (body: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= bodyBytesMax) break;
  }
  return Buffer.concat(chunks);
};

const messageOf = (body: Buffer, type: string): string => {
  const text = type === 'application/x-protobuf' ? statusMessage(body) : body.toString();
  return text.replaceAll(/\s+/g, ' ').trim();
};

/** The field `message` of google.rpc.Status, which errors of OTLP are. */
const statusMessage = (body: Uint8Array): string => {
  try {
    const reader = new BinaryReader(body);
    while (reader.pos < reader.len) {
      const [field, wire] = reader.tag();
      if (field === 2 && wire === WireType.LengthDelimited) return reader.string();
      reader.skip(wire);
    }
  } catch {
    // Other bytes than the media type says: there is no message to show.
  }
  return '';
};

const failureOf = (error: unknown): ProbeResult => {
  // An address with several IP addresses fails with one error for each.
  const first = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  const { code, name, message } = first as { code?: unknown; name?: string; message?: string };
  return {
    kind: 'failed',
    code: typeof code === 'string' ? code : name,
    message: message ?? String(error),
  };
};
