// Reads trace runs from JSON bodies: a single run, or a batch.
import { createHash, randomUUID } from 'node:crypto';
import { Problem } from '@svc/contract/problem';
import type { JsonBudget } from '../../parsing/json-limits.ts';
import { afterSpace, itemsOf, membersOf, payloadsIn, type Slice } from './json-slices.ts';
import { readJson } from './json-text.ts';
import { type Batch, emptyBatch, isSameId } from './read-parts.ts';
import { assertRuns, RunRejected, type SentRun } from './sent-run.ts';

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Throws a Problem when the body is not a JSON object. */
const readObject = (body: Uint8Array, budget: JsonBudget): { text: string; value: Fields } => {
  let read: ReturnType<typeof readJson>;
  try {
    read = readJson(body, 'the body', budget);
  } catch (cause) {
    if (cause instanceof RunRejected) throw new Problem('bad_request', `${cause.message}.`, { cause });
    throw cause;
  }
  const { text, value } = read;
  if (!isFields(value)) throw new Problem('invalid', 'The body must be an object.');
  return { text, value };
};

/** Reads `{"post": [run], "patch": [run]}`. Invalid single runs are added to the rejections. */
export const readBatch = (body: Uint8Array, budget: JsonBudget): Batch => {
  const { text, value } = readObject(body, budget);
  const members = membersOf(text, afterSpace(text, 0));
  const batch = emptyBatch();
  for (const operation of ['post', 'patch'] as const) {
    const runs = value[operation] ?? [];
    if (!Array.isArray(runs)) throw new Problem('invalid', `body.${operation} must be a list of runs.`);
    assertRuns(batch.runs.length + runs.length);
    const [start = 0] = members.get(operation) ?? [];
    const slices = runs.length > 0 ? itemsOf(text, start) : [];
    for (const [at, run] of (runs as unknown[]).entries()) {
      const slice = slices[at] ?? [0, 0];
      if (!isFields(run) || typeof run['id'] !== 'string')
        batch.rejections.add(null, `an item of ${operation} is not an object with an id`);
      else batch.runs.push(toSentRun(operation, run['id'], run, text, slice));
    }
  }
  return batch;
};

/** Reads a single run. `id`: the id in the path of the request, if it has one. */
export const readRun = (
  body: Uint8Array,
  operation: SentRun['operation'],
  id: string | undefined,
  budget: JsonBudget,
): Batch => {
  const { text, value: run } = readObject(body, budget);
  const sentId = run['id'];
  if (id !== undefined && !isSameId(sentId, id))
    throw new Problem('invalid', 'body.id must equal the id in the path.');
  // As on the stock server, a POST without an id creates a run that the sender does not name again.
  const runId = id ?? sentId ?? (operation === 'post' ? randomUUID() : undefined);
  if (typeof runId !== 'string') throw new Problem('invalid', 'body.id must be a UUID.');
  const slice: Slice = [afterSpace(text, 0), text.length];
  const batch = emptyBatch();
  batch.runs.push(toSentRun(operation, runId, run, text, slice));
  return batch;
};

/** Payloads keep the text that was sent, because parsing loses digits of numbers. */
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
