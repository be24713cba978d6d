// Reads trace runs and feedback from the parts of a multipart body. Parts may come in any order.
import { createHash } from 'node:crypto';
import type { JsonBudget } from '../../json/json-limits.ts';
import type { Attachment } from '../../storage/tracing/traces.ts';
import { MultipartReader, type Part } from './multipart.ts';
import {
  FeedbackParts,
  type Payload,
  type PayloadName,
  payloadNames,
  payloadsIn,
  Rejections,
  RunRejected,
  type SentRun,
} from './sent-run.ts';
import { parseJson, readJson } from './sent-json.ts';
import { isRecord } from '../../json/is-record.ts';

export interface Batch {
  runs: SentRun[];
  attachments: Attachment[];
  feedback: FeedbackParts;
  rejections: Rejections;
}

export const emptyBatch = (): Batch => ({
  runs: [],
  attachments: [],
  feedback: new FeedbackParts(),
  rejections: new Rejections(),
});

/** The parts of one write, before they are parsed. */
interface RawRun {
  operation: SentRun['operation'];
  id: string;
  main: Buffer | undefined;
  payloads: Map<PayloadName, Buffer>;
  /** The error of one of its parts. */
  fault: string | undefined;
}

const runPart = /^(post|patch)\.([^.]+)(?:\.([a-z]+))?$/;
const feedbackPart = /^feedback\.([^.]+)$/;
const attachmentPart = /^attachment\.([^.]+)\.(.+)$/s;

const isPayloadName = (name: string): name is PayloadName =>
  (payloadNames as readonly string[]).includes(name);

/**
 * Throws a Problem when the body is not valid multipart. Invalid single runs are added to the rejections. Removes the chunks from the
 * list while it reads them, to free their memory.
 */
export const readParts = (chunks: Uint8Array[], boundary: string, budget: JsonBudget): Batch => {
  const raws = new Map<string, RawRun>();
  const batch = emptyBatch();
  const reader = new MultipartReader(boundary, (part) => sortPart(part, raws, batch));
  for (let chunk = chunks.shift(); chunk; chunk = chunks.shift()) reader.push(chunk);
  const truncated = reader.end();
  if (truncated !== undefined) rejectTruncated(truncated, raws, batch);
  for (const [key, raw] of raws) {
    raws.delete(key);
    try {
      batch.runs.push(toSentRun(raw, budget));
    } catch (error) {
      if (!(error instanceof RunRejected)) throw error;
      batch.rejections.add(raw.id, error.message);
    }
  }
  return batch;
};

const sortPart = (part: Part, raws: Map<string, RawRun>, batch: Batch): void => {
  const { name, content_type, content } = part;
  const fault = faultOf(part);
  const attached = attachmentPart.exec(name);
  if (attached) {
    const [, run_id = '', file = ''] = attached;
    if (fault !== undefined) return batch.rejections.add(run_id, fault);
    batch.attachments.push({ run_id: run_id.toLowerCase(), name: file, content_type, content });
    return;
  }
  const [, feedbackId] = feedbackPart.exec(name) ?? [];
  if (feedbackId !== undefined) {
    const refusal = fault ?? batch.feedback.add({ id: feedbackId, content });
    if (refusal !== undefined) batch.rejections.add(feedbackId, refusal);
    return;
  }
  const [, operation, id = '', field] = runPart.exec(name) ?? [];
  if ((operation !== 'post' && operation !== 'patch') || (field !== undefined && !isPayloadName(field))) {
    return batch.rejections.add(null, `the part ${JSON.stringify(name.slice(0, 200))} is not known`);
  }
  const key = `${operation}.${id}`;
  const raw = raws.get(key) ?? {
    operation,
    id,
    main: undefined,
    payloads: new Map<PayloadName, Buffer>(),
    fault,
  };
  raws.set(key, raw);
  raw.fault ??= fault;
  if (field === undefined) raw.main = content;
  else raw.payloads.set(field, content);
};

const faultOf = ({ name, announced, hasControls, content }: Part): string | undefined => {
  const part = `the part ${JSON.stringify(name.slice(0, 200))}`;
  if (hasControls) return `${part} has a control character in its headers`;
  return announced === undefined || announced === content.length
    ? undefined
    : `${part} has ${content.length} bytes, not ${announced} as its Content-Length says`;
};

/** The body ends within a part: the run of that part is rejected, earlier runs are kept. */
const rejectTruncated = (name: string, raws: Map<string, RawRun>, batch: Batch): void => {
  const [, operation = '', id = null] = runPart.exec(name) ?? [];
  raws.delete(`${operation}.${id}`);
  const where = name === '' ? 'between two parts' : `in the part ${JSON.stringify(name.slice(0, 200))}`;
  batch.rejections.add(id, `the body ends ${where}, before its closing boundary`);
};

/** True when the id within a run is absent, or equals the id in the name of its part or in the path. */
export const isSameId = (sent: unknown, id: string): boolean =>
  sent === undefined || (typeof sent === 'string' && sent.toLowerCase() === id.toLowerCase());

/** A payload that is not valid JSON is stored as text: without it, a lost PATCH would leave its run pending forever. */
const readPayload = (
  bytes: Buffer,
  name: PayloadName,
  budget: JsonBudget,
  note: (text: string) => void,
): Payload => {
  try {
    return { text: bytes, value: parseJson(bytes, name, budget) };
  } catch (error) {
    if (!(error instanceof RunRejected)) throw error;
    note(`${error.message}; it is stored as text`);
    const value = bytes.toString('utf8');
    return { text: JSON.stringify(value), value };
  }
};

const noFields = Buffer.from('{}');

const toSentRun = ({ operation, id, main, payloads, fault }: RawRun, budget: JsonBudget): SentRun => {
  if (fault !== undefined) throw new RunRejected(fault);
  const hash = createHash('sha1').update(`${operation}.${id}`);
  const { text: mainText, value: sent, place } = readJson(main ?? noFields, 'the run', budget, 1);
  if (!isRecord(sent)) throw new RunRejected('the run is not an object');
  if (!isSameId(sent['id'], id))
    throw new RunRejected('its id does not equal the id in the name of its part');
  if (main) hash.update(main);
  const inMain = payloadsIn(sent, mainText, place);
  const run: SentRun = { operation, id, main: sent, payloads: inMain, hash: '' };
  for (const name of payloadNames) {
    // A payload in a part of its own replaces one in the main part.
    const text = payloads.get(name);
    if (text !== undefined) {
      run.payloads[name] = readPayload(
        text,
        name,
        budget,
        (note) => (run.notes = [...(run.notes ?? []), note]),
      );
      hash.update(name).update(text);
    }
  }
  run.hash = hash.digest().readBigInt64LE().toString();
  return run;
};
