// Reads trace runs from JSON bodies: a single run, or a batch.
import { createHash, randomUUID } from 'node:crypto';
import { Problem } from '@svc/contract/problem';
import type { JsonBudget } from '../../json/json-limits.ts';
import type { JsonPlace } from '../../json/json-places.ts';
import { type Batch, emptyBatch, isSameId } from './read-parts.ts';
import { readJson } from './sent-json.ts';
import { assertRuns, payloadsIn, RunRejected, type SentRun } from './sent-run.ts';
import { isRecord } from '../../json/is-record.ts';

type Fields = Record<string, unknown>;

/** Throws a Problem when the body is not a JSON object. */
const readObject = (
  body: Uint8Array,
  budget: JsonBudget,
  levels: number,
): { text: string; value: Fields; place: JsonPlace } => {
  let read: ReturnType<typeof readJson>;
  try {
    read = readJson(body, 'the body', budget, levels);
  } catch (cause) {
    if (cause instanceof RunRejected) throw new Problem('bad_request', `${cause.message}.`, { cause });
    throw cause;
  }
  const { value } = read;
  if (!isRecord(value)) throw new Problem('invalid', 'The body must be an object.');
  return { ...read, value };
};

/** Reads `{"post": [run], "patch": [run]}`. Invalid single runs are added to the rejections. */
export const readBatch = (body: Uint8Array, budget: JsonBudget): Batch => {
  const { text, value, place } = readObject(body, budget, 3);
  const batch = emptyBatch();
  for (const operation of ['post', 'patch'] as const) {
    const runs = value[operation] ?? [];
    if (!Array.isArray(runs)) throw new Problem('invalid', `body.${operation} must be a list of runs.`);
    assertRuns(batch.runs.length + runs.length);
    const places = place.inner.get(operation)?.inner;
    for (const [at, run] of (runs as unknown[]).entries()) {
      if (!isRecord(run) || typeof run['id'] !== 'string')
        batch.rejections.add(null, `an item of ${operation} is not an object with an id`);
      else batch.runs.push(toSentRun(operation, run['id'], run, text, places?.get(at) ?? place));
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
  const { text, value: run, place } = readObject(body, budget, 1);
  const sentId = run['id'];
  if (id !== undefined && !isSameId(sentId, id))
    throw new Problem('invalid', 'body.id must equal the id in the path.');
  // As on the stock server, a POST without an id creates a run that the sender does not name again.
  const runId = id ?? sentId ?? (operation === 'post' ? randomUUID() : undefined);
  if (typeof runId !== 'string') throw new Problem('invalid', 'body.id must be a UUID.');
  const batch = emptyBatch();
  batch.runs.push(toSentRun(operation, runId, run, text, place));
  return batch;
};

/** Payloads keep the text that was sent, because parsing loses digits of numbers. */
const toSentRun = (
  operation: SentRun['operation'],
  id: string,
  run: Fields,
  text: string,
  place: JsonPlace,
): SentRun => {
  const hash = createHash('sha1').update(`${operation}.${id}`).update(text.slice(place.start, place.end));
  return {
    operation,
    id,
    main: run,
    payloads: payloadsIn(run, text, place),
    hash: hash.digest().readBigInt64LE().toString(),
  };
};
