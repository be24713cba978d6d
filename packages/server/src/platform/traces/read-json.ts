// Runs from JSON: one, or a batch.
import { createHash } from 'node:crypto';
import { Problem } from '@svc/contract/problem';
import { afterSpace, itemsOf, membersOf, payloadsIn, type Slice } from './json-slices.ts';
import { readJson } from './json-text.ts';
import { type Batch, isSameId } from './read-parts.ts';
import { RunRejected, type SentRun } from './sent-run.ts';

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Throws a Problem when the body is no JSON object. */
const readObject = async (body: AsyncIterable<Uint8Array>): Promise<{ text: string; value: Fields }> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  let read: ReturnType<typeof readJson>;
  try {
    read = readJson(Buffer.concat(chunks), 'the body');
  } catch (cause) {
    if (cause instanceof RunRejected) throw new Problem('bad_request', `${cause.message}.`, { cause });
    throw cause;
  }
  const { text, value } = read;
  if (!isFields(value)) throw new Problem('invalid', 'The body must be an object.');
  return { text, value };
};

/** `{"post": [run], "patch": [run]}`. What is wrong with single runs is said beside the others. */
export const readBatch = async (body: AsyncIterable<Uint8Array>): Promise<Batch> => {
  const { text, value } = await readObject(body);
  const members = membersOf(text, afterSpace(text, 0));
  const batch: Batch = { runs: [], attachments: [], rejections: [] };
  for (const operation of ['post', 'patch'] as const) {
    const runs = value[operation] ?? [];
    if (!Array.isArray(runs)) throw new Problem('invalid', `body.${operation} must be a list of runs.`);
    const [start = 0] = members.get(operation) ?? [];
    const slices = runs.length > 0 ? itemsOf(text, start) : [];
    for (const [at, run] of (runs as unknown[]).entries()) {
      const slice = slices[at] ?? [0, 0];
      if (!isFields(run) || typeof run['id'] !== 'string')
        batch.rejections.push({ id: null, message: `an item of ${operation} is no run with an id` });
      else batch.runs.push(toSentRun(operation, run['id'], run, text, slice));
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
  const { text, value: run } = await readObject(body);
  const said = run['id'];
  if (id !== undefined && !isSameId(said, id))
    throw new Problem('invalid', 'body.id is not the id in the path.');
  const known = id ?? said;
  if (typeof known !== 'string') throw new Problem('invalid', 'body.id must be a UUID.');
  const slice: Slice = [afterSpace(text, 0), text.length];
  return { runs: [toSentRun(operation, known, run, text, slice)], attachments: [], rejections: [] };
};

/** Payloads are kept as they were sent: numbers have digits that JavaScript's have not. */
const toSentRun = (
  operation: SentRun['operation'],
  id: string,
  run: Fields,
  text: string,
  [start, end]: Slice,
): SentRun => {
  const hash = createHash('sha1').update(`${operation}.${id}`).update(text.slice(start, end));
  return {
    operation,
    id,
    main: run,
    payloads: payloadsIn(run, text, start),
    hash: hash.digest().readBigInt64LE().toString(),
  };
};
