// Runs from the parts of a multipart body, in whatever order those come.
import { createHash } from 'node:crypto';
import type { Attachment } from '../../storage/traces.ts';
import { afterSpace, payloadsIn } from './json-slices.ts';
import { parseJson, readJson } from './json-text.ts';
import { MultipartReader, type Part } from './multipart.ts';
import { type PayloadName, payloadNames, type Rejection, RunRejected, type SentRun } from './sent-run.ts';

export interface Batch {
  runs: SentRun[];
  attachments: Attachment[];
  rejections: Rejection[];
}

interface Raw {
  operation: SentRun['operation'];
  id: string;
  main: Buffer | undefined;
  payloads: Map<PayloadName, Buffer>;
  /** What is wrong with one of its parts. */
  fault: string | undefined;
}

const runPart = /^(post|patch)\.([^.]+)(?:\.([a-z]+))?$/;
const attachmentPart = /^attachment\.([^.]+)\.(.+)$/s;

const isPayloadName = (name: string): name is PayloadName =>
  (payloadNames as readonly string[]).includes(name);

/** Throws a Problem when the body is no multipart; what is wrong with single runs is said beside the others. */
export const readParts = async (body: AsyncIterable<Uint8Array>, boundary: string): Promise<Batch> => {
  const raws = new Map<string, Raw>();
  const batch: Batch = { runs: [], attachments: [], rejections: [] };
  const reader = new MultipartReader(boundary, (part) => sortPart(part, raws, batch));
  for await (const chunk of body) reader.push(chunk);
  const cut = reader.end();
  if (cut !== undefined) rejectCut(cut, raws, batch);
  for (const raw of raws.values()) {
    try {
      batch.runs.push(toSentRun(raw));
    } catch (error) {
      if (!(error instanceof RunRejected)) throw error;
      batch.rejections.push({ id: raw.id, message: error.message });
    }
  }
  return batch;
};

const sortPart = (part: Part, raws: Map<string, Raw>, batch: Batch): void => {
  const { name, content_type, content, announced } = part;
  const fault =
    announced === undefined || announced === content.length
      ? undefined
      : `the part ${JSON.stringify(name.slice(0, 200))} has ${content.length} bytes, not ${announced} as its Content-Length says`;
  const attached = attachmentPart.exec(name);
  if (attached) {
    const [, run_id = '', file = ''] = attached;
    if (fault !== undefined) return void batch.rejections.push({ id: run_id, message: fault });
    batch.attachments.push({ run_id: run_id.toLowerCase(), name: file, content_type, content });
    return;
  }
  const [, operation, id = '', field] = runPart.exec(name) ?? [];
  if ((operation !== 'post' && operation !== 'patch') || (field !== undefined && !isPayloadName(field))) {
    batch.rejections.push({
      id: null,
      message: `the part ${JSON.stringify(name.slice(0, 200))} is not known`,
    });
    return;
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

/** The part that was under way is lost, and its run with it; what came before stands. */
const rejectCut = (name: string, raws: Map<string, Raw>, batch: Batch): void => {
  const [, operation = '', id = null] = runPart.exec(name) ?? [];
  raws.delete(`${operation}.${id}`);
  const where = name === '' ? 'between two parts' : `in the part ${JSON.stringify(name.slice(0, 200))}`;
  batch.rejections.push({ id, message: `the body ends ${where}, before its closing boundary` });
};

/** Whether what a run says of itself, if anything, is what was said of it elsewhere. */
export const isSameId = (said: unknown, id: string): boolean =>
  said === undefined || (typeof said === 'string' && said.toLowerCase() === id.toLowerCase());

const toSentRun = ({ operation, id, main, payloads, fault }: Raw): SentRun => {
  if (fault !== undefined) throw new RunRejected(fault);
  const hash = createHash('sha1').update(`${operation}.${id}`);
  const { text: mainText, value: fields } =
    main === undefined ? { text: '{}', value: {} } : readJson(main, 'the run');
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields))
    throw new RunRejected('the run is not an object');
  const said = fields as Record<string, unknown>;
  if (!isSameId(said['id'], id)) throw new RunRejected('its id is not the one that its part names');
  if (main) hash.update(main);
  const inMain = payloadsIn(said, mainText, afterSpace(mainText, 0));
  const run: SentRun = { operation, id, main: said, payloads: inMain, hash: '' };
  for (const name of payloadNames) {
    // What is in its own part comes before what is among the other fields.
    const text = payloads.get(name);
    if (text !== undefined) {
      run.payloads[name] = { text, value: parseJson(text, name) };
      hash.update(name).update(text);
    }
  }
  run.hash = hash.digest().readBigInt64LE().toString();
  return run;
};
