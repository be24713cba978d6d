// Validates a POST or PATCH for a trace run, and converts it to a write: columns that are searched are extracted from the payloads.
import { toExactJson, toExactText } from '../../storage/postgres/exact-text.ts';
import {
  metadataBit,
  sentStartBit,
  startTimeBit,
  type TraceField,
  traceFieldNames,
  traceFields,
} from '../../storage/tracing/trace-columns.ts';
import type { TraceWrite } from '../../storage/tracing/traces.ts';
import { addressOf, agentAddress } from '../projects/agent-address.ts';
import { parseDottedOrder, segmentOf } from './dotted-order.ts';
import { type Payload, RunRejected, type SentRun } from './sent-run.ts';
import { timeMs, toTime } from '../../api/time.ts';
import { isUuid } from '../../storage/postgres/uuid.ts';
import { usageOf } from './usage.ts';
import { isRecord } from '../../json/is-record.ts';

export interface ProjectOf {
  /** Name of the project; undefined when the run has a project id, or when a patch names no project. */
  session_name: string | undefined;
}

export type NewRunWrite = TraceWrite & ProjectOf;

type Fields = Record<string, unknown>;

/** Maximum length of a label, key and value, in characters of JSON. Longer entries of metadata stay in the payload. */
const labelCharsMax = 2_048;
const labelsMax = 200;
const defaultProject = 'default';

/** Throws RunRejected when a field is invalid or fields contradict each other. */
export const toRunWrite = (sent: SentRun): NewRunWrite => {
  const { operation, main, payloads } = sent;
  const id = asId(sent.id, 'id') ?? '';
  const start = asTime(main, 'start_time');
  const position = positionOf(main, id, start, operation);
  const end_time = asTime(main, 'end_time');
  const extra = splitExtra(payloads.extra);
  const isPatch = operation === 'patch';
  const fields: TraceWrite['fields'] = {
    session_id: asId(main['session_id'], 'session_id'),
    ...position.fields,
    name: asText(main, 'name'),
    run_type: asText(main, 'run_type'),
    end_time,
    error: errorOf(payloads.error),
    inputs: payloadOf(payloads.inputs),
    outputs: payloadOf(payloads.outputs),
    events: payloadOf(payloads.events),
    serialized: payloadOf(payloads.serialized),
    extra: extra.rest,
    tags: tagsOf(main),
    reference_example_id: asId(main['reference_example_id'], 'reference_example_id'),
    model: modelOf(extra.value, extra.metadata),
    first_token_time: firstTokenTime(payloads.events?.value),
    ...usageFields(main, payloads, extra.metadata),
  };
  const start_time = start ?? position.start_time;
  const session_name =
    typeof main['session_name'] === 'string' ? main['session_name'] : projectOfAddress(main);
  const isNamed = fields.session_id === null && session_name !== undefined && session_name !== '';
  const sentStart = start === null ? 0 : sentStartBit;
  const patched = isPatch
    ? bitsOf(fields) |
      (isNamed ? traceFields.session_id : 0) |
      (start === null ? 0 : startTimeBit) |
      (extra.labels === '{}' ? 0 : metadataBit)
    : 0;
  return {
    id,
    rank: isPatch ? Math.max(1, end_time === null ? 1 : timeMs(end_time)) : 0,
    patched: patched | sentStart,
    writes: [sent.hash],
    start_time,
    metadata: extra.labels,
    fields,
    session_name: isNamed ? session_name : isPatch || fields.session_id !== null ? undefined : defaultProject,
  };
};

/** The name of the project of the address; undefined without one. */
const projectOfAddress = ({ address }: Fields): string | undefined => {
  if (address === undefined || address === null) return undefined;
  const [, agent, environment] = (typeof address === 'string' && agentAddress.exec(address)) || [];
  if (agent === undefined || environment === undefined)
    throw new RunRejected('address is not lrn:agents/{id}/environments/{environment}');
  return addressOf(agent, environment);
};

const bitsOf = (fields: TraceWrite['fields']): number => {
  let bits = 0;
  for (const name of traceFieldNames) if ((fields[name] ?? null) !== null) bits |= traceFields[name];
  return bits;
};

const asId = (value: unknown, name: string): string | null => {
  if (value === undefined || value === null) return null;
  if (!isUuid(value)) throw new RunRejected(`${name} is not a UUID`);
  return value.toLowerCase();
};

const asTime = (main: Fields, name: string): string | null => {
  const value = main[name];
  if (value === undefined || value === null) return null;
  const time = toTime(value);
  if (time === undefined)
    throw new RunRejected(
      `${name} is not a time (ISO 8601, or milliseconds since 1970, in the years 1 to 9999)`,
    );
  return time;
};

const asText = (main: Fields, name: string): string | null => {
  const value = main[name];
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string') throw new RunRejected(`${name} is not a string`);
  return toExactText(value);
};

const tagsOf = ({ tags }: Fields): string | null => {
  if (tags === undefined || tags === null) return null;
  if (!Array.isArray(tags) || !tags.every((tag) => typeof tag === 'string'))
    throw new RunRejected('tags is not a list of strings');
  return toExactJson(tags);
};

interface TracePosition {
  fields: Pick<TraceWrite['fields'], 'trace_id' | 'parent_run_id' | 'dotted_order'>;
  start_time: string | null;
}

/** Reads trace_id, parent_run_id and dotted_order. Those that are given must agree. */
const positionOf = (
  main: Fields,
  id: string,
  start: string | null,
  operation: SentRun['operation'],
): TracePosition => {
  const sent = main['dotted_order'];
  const trace_id = asId(main['trace_id'], 'trace_id');
  const parent_run_id = asId(main['parent_run_id'], 'parent_run_id');
  if (sent === undefined || sent === null || sent === '') {
    const isRoot = operation === 'post' && parent_run_id === null;
    if (isRoot && trace_id !== null && trace_id !== id)
      throw new RunRejected('trace_id must equal its id, because it has neither a parent nor a dotted_order');
    return {
      fields: {
        trace_id: isRoot ? id : trace_id,
        parent_run_id,
        dotted_order: isRoot && start !== null ? segmentOf(start, id) : null,
      },
      start_time: null,
    };
  }
  const order = typeof sent === 'string' ? sent.toLowerCase().replaceAll('t', 'T').replaceAll('z', 'Z') : '';
  const path = parseDottedOrder(order);
  if (path === undefined) throw new RunRejected('dotted_order is not a list of start times and ids');
  const [root] = path.ids;
  const parent = path.ids.at(-2) ?? null;
  if (path.ids.at(-1) !== id) throw new RunRejected('dotted_order does not end with its id');
  if (trace_id !== null && trace_id !== root)
    throw new RunRejected('dotted_order does not begin with its trace_id');
  if (parent_run_id !== null && parent_run_id !== parent)
    throw new RunRejected('dotted_order contradicts its parent_run_id');
  return {
    fields: { trace_id: root ?? id, parent_run_id: parent, dotted_order: order },
    start_time: path.start_time,
  };
};

/** A payload `null` counts as absent. */
const payloadOf = (payload: Payload | undefined): Payload['text'] | null =>
  payload === undefined || payload.value === null ? null : payload.text;

const errorOf = (payload: Payload | undefined): string | null => {
  if (payload === undefined || payload.value === null) return null;
  return toExactText(typeof payload.value === 'string' ? payload.value : JSON.stringify(payload.value));
};

interface Extra {
  value: Fields;
  metadata: Fields;
  /** JSON text of the metadata that is short enough to be searched. */
  labels: string;
  /** JSON text of all other keys. Its first key is `metadata` when some metadata is too long for a label. */
  rest: string | null;
}

const splitExtra = (payload: Payload | undefined): Extra => {
  if (payload === undefined || payload.value === null)
    return { value: {}, metadata: {}, labels: '{}', rest: null };
  // Clients require an object.
  const { metadata: sent, ...rest } = asFields(payload.value);
  if (sent === undefined || sent === null)
    return { value: rest, metadata: {}, labels: '{}', rest: JSON.stringify(rest) };
  const metadata = asFields(sent);
  const text = toExactJson(metadata);
  if (text.length <= labelCharsMax && Object.keys(metadata).length <= labelsMax)
    return { value: rest, metadata, labels: text, rest: JSON.stringify(rest) };
  const labels: Fields = {};
  const long: Fields = {};
  let count = 0;
  for (const [key, value] of Object.entries(metadata)) {
    const isLabel = count < labelsMax && key.length + JSON.stringify(value).length <= labelCharsMax;
    if (isLabel) count++;
    define(isLabel ? labels : long, key, value);
  }
  return {
    value: rest,
    metadata,
    labels: toExactJson(labels),
    rest: JSON.stringify(Object.keys(long).length > 0 ? { metadata: long, ...rest } : rest),
  };
};

/** Assigns a key that a client has chosen; also defines `__proto__` as an ordinary key. */
const define = (target: Fields, key: string, value: unknown): void => {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
};

const asFields = (value: unknown): Fields => (isRecord(value) ? value : { value });

const modelOf = (extra: Fields, metadata: Fields): string | null => {
  const params = isRecord(extra['invocation_params']) ? extra['invocation_params'] : {};
  const found = [metadata['ls_model_name'], params['model'], params['model_name'], params['modelName']].find(
    (name): name is string => typeof name === 'string' && name !== '',
  );
  return found === undefined ? null : toExactText(found.slice(0, 512));
};

const firstTokenTime = (events: unknown): string | null => {
  if (!Array.isArray(events)) return null;
  const first: unknown = events.find((event: unknown) => isRecord(event) && event['name'] === 'new_token');
  return (isRecord(first) ? toTime(first['time']) : undefined) ?? null;
};

const usageFields = (
  main: Fields,
  payloads: SentRun['payloads'],
  metadata: Fields,
): Partial<Record<TraceField, string>> => {
  // The Python client sends null in a PATCH.
  const isModel = (main['run_type'] ?? 'llm') === 'llm';
  const usage = usageOf(payloads.outputs?.value, metadata, isModel);
  if (usage === undefined) return {};
  const { details, ...counted } = usage;
  const texts = Object.entries(counted).map(([name, value]) => [name, String(value)] as const);
  const detailed = Object.keys(details).length > 0 ? [['usage_details', toExactJson(details)] as const] : [];
  return Object.fromEntries([...texts, ...detailed]);
};
