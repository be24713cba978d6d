// Runs from JSON: one, or a batch.
import { createHash } from 'node:crypto';
import { Problem } from '@svc/contract/problem';
import { parseJson } from './json-text.ts';
import { type Batch, isSameId } from './read-parts.ts';
import { payloadNames, RunRejected, type SentRun } from './sent-run.ts';

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Throws a Problem when the body is no JSON object. */
const readObject = async (body: AsyncIterable<Uint8Array>): Promise<Fields> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  let value: unknown;
  try {
    value = parseJson(Buffer.concat(chunks), 'the body');
  } catch (cause) {
    if (cause instanceof RunRejected) throw new Problem('bad_request', `${cause.message}.`, { cause });
    throw cause;
  }
  if (!isFields(value)) throw new Problem('invalid', 'The body must be an object.');
  return value;
};

/** `{"post": [run], "patch": [run]}`. What is wrong with single runs is said beside the others. */
export const readBatch = async (body: AsyncIterable<Uint8Array>): Promise<Batch> => {
  const value = await readObject(body);
  const batch: Batch = { runs: [], attachments: [], rejections: [] };
  for (const operation of ['post', 'patch'] as const) {
    const runs = value[operation] ?? [];
    if (!Array.isArray(runs)) throw new Problem('invalid', `body.${operation} must be a list of runs.`);
    for (const run of runs as unknown[]) {
      if (!isFields(run) || typeof run['id'] !== 'string')
        batch.rejections.push({ id: null, message: `an item of ${operation} is no run with an id` });
      else batch.runs.push(toSentRun(operation, run['id'], run));
    }
  }
  return batch;
};

/** One run. `id`: that of the path, where it is there. */
export const readRun = async (
  body: AsyncIterable<Uint8Array>,
  operation: SentRun['operation'],
  id?: string,
): Promise<Batch> => {
  const run = await readObject(body);
  const said = run['id'];
  if (id !== undefined && !isSameId(said, id))
    throw new Problem('invalid', 'body.id is not the id in the path.');
  const known = id ?? said;
  if (typeof known !== 'string') throw new Problem('invalid', 'body.id must be a UUID.');
  return { runs: [toSentRun(operation, known, run)], attachments: [], rejections: [] };
};

const toSentRun = (operation: SentRun['operation'], id: string, run: Fields): SentRun => {
  const hash = createHash('sha1').update(`${operation}.${id}`).update(JSON.stringify(run));
  const sent: SentRun = {
    operation,
    id,
    main: run,
    payloads: {},
    hash: hash.digest().readBigInt64LE().toString(),
  };
  for (const name of payloadNames) {
    const value = run[name];
    if (value !== undefined) sent.payloads[name] = { text: JSON.stringify(value), value };
  }
  return sent;
};
