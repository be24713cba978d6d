// Converts a span to a trace run. The id of the run is derived from the span id in the same way as LangSmith's tracers do, so their runs
// and spans can form one trace. The trace of the run follows from its ancestors, which may arrive later.
import { createHash } from 'node:crypto';
import type { JsonBudget } from '../../../json/json-limits.ts';
import { otelTraceKey } from '../../../storage/tracing/otel-traces.ts';
import { isUuid } from '../../../storage/postgres/uuid.ts';
import { RunRejected, type SentRun } from '../sent-run.ts';
import { invocationParamsOf, metadataOf, runTypeOf, textAt } from './conventions.ts';
import { payloadsOf } from './payloads.ts';
import type { Attributes, Origin, Span, SpanEvent } from './span.ts';

const traceIdForm = /^(?!0{32})[0-9a-f]{32}$/;
const spanIdForm = /^(?!0{16})[0-9a-f]{16}$/;
const errorCode = 2;
const okCode = 1;

const idPrefix = '00000000-0000-0000-';

/** True when the id is derived from a span id. */
export const isSpanRunId = (id: unknown): id is string => isUuid(id) && id.startsWith(idPrefix);

const uuidOf = (span_id: string): string => `${idPrefix}${span_id.slice(0, 4)}-${span_id.slice(4)}`;

/**
 * `project`: name of the project from the request. Throws RunRejected when the span is invalid, and a Problem when the budget is exceeded:
 * the attributes of the resource are copied to each of its spans.
 */
export const toRun = (
  span: Span,
  origin: Origin,
  project: string | undefined,
  budget: JsonBudget,
): SentRun => {
  const { attributes } = span;
  assertIds(span);
  budget.spend(origin.resource.size);
  const id = textAt(attributes, 'langsmith.span.id') ?? uuidOf(span.span_id);
  const { inputs, outputs, used } = payloadsOf(span, budget);
  const metadata = metadataOf(attributes, origin.resource, used, budget).set(otelTraceKey, span.trace_id);
  const main: SentRun['main'] = {
    id,
    ...positionOf(span),
    ...projectOf(attributes, origin.resource, project),
    name:
      textAt(attributes, 'langsmith.trace.name', 'traceloop.entity.name', 'tool.name', 'ai.toolCall.name') ??
      (span.name === '' ? 'span' : span.name),
    run_type: runTypeOf(attributes),
    start_time: toIso(span.start === 0n ? span.end : span.start),
    end_time: span.end === 0n ? undefined : toIso(span.end),
    tags: tagsOf(attributes),
  };
  const otel = {
    kind: span.kind,
    scope: origin.scope,
    ...(span.trace_state === '' ? {} : { trace_state: span.trace_state }),
    ...(span.links.length === 0
      ? {}
      : { links: span.links.map((link) => ({ ...link, attributes: Object.fromEntries(link.attributes) })) }),
  };
  const invocation_params = invocationParamsOf(attributes, budget);
  const values = {
    inputs,
    outputs,
    events: span.events.length === 0 ? undefined : span.events.map(toEvent),
    error: errorOf(span),
    extra: {
      metadata: Object.fromEntries(metadata),
      ...(invocation_params ? { invocation_params } : {}),
      otel,
    },
  };
  return toSent(id, main, values, budget);
};

const toSent = (
  id: string,
  main: SentRun['main'],
  values: Partial<Record<keyof SentRun['payloads'], unknown>>,
  budget: JsonBudget,
): SentRun => {
  const run: SentRun = { operation: 'post', id, main, payloads: {}, hash: '' };
  const hash = createHash('sha1').update(JSON.stringify(main));
  for (const [name, value] of Object.entries(values) as [keyof SentRun['payloads'], unknown][]) {
    if (value === undefined) continue;
    const text = JSON.stringify(value);
    budget.make(text.length);
    hash.update(name).update(text);
    run.payloads[name] = { text, value };
  }
  run.hash = hash.digest().readBigInt64LE().toString();
  return run;
};

const assertIds = ({ trace_id, span_id, parent_span_id }: Span): void => {
  if (!traceIdForm.test(trace_id))
    throw new RunRejected('its trace id does not have 16 bytes, or is all zero');
  if (!spanIdForm.test(span_id)) throw new RunRejected('its span id does not have 8 bytes, or is all zero');
  if (parent_span_id !== '' && !/^[0-9a-f]{16}$/.test(parent_span_id))
    throw new RunRejected('the id of its parent does not have 8 bytes');
  if (parent_span_id === span_id) throw new RunRejected('it is its own parent');
};

/** Position in the trace: from the parent span, or from attributes that LangSmith's tracers set. */
const positionOf = ({ attributes, parent_span_id }: Span): SentRun['main'] => {
  const traced = textAt(attributes, 'langsmith.traceable_parent_otel_span_id')?.toLowerCase() ?? '';
  const parent = spanIdForm.test(traced) ? traced : parent_span_id;
  const isRoot = !spanIdForm.test(parent) || attributes.get('langsmith.is_root') === true;
  const parent_run_id =
    textAt(attributes, 'langsmith.span.parent_id') ?? (isRoot ? undefined : uuidOf(parent));
  const dotted_order = textAt(attributes, 'langsmith.span.dotted_order');
  // The dotted_order also contains the parent. The id derived from the parent span could contradict it.
  if (dotted_order !== undefined) return { dotted_order };
  return { parent_run_id, trace_id: textAt(attributes, 'langsmith.trace.id') };
};

const nameCharsMax = 512;

const projectOf = (
  attributes: Attributes,
  resource: Attributes,
  header: string | undefined,
): SentRun['main'] => {
  const session_id = textAt(attributes, 'langsmith.trace.session_id');
  // Another text is no project: it stays in the metadata.
  if (isUuid(session_id)) return { session_id };
  const service = textAt(resource, 'service.name');
  // The default of OpenTelemetry SDKs when the service has no name.
  const named = service?.startsWith('unknown_service') === true ? undefined : service;
  const name = textAt(attributes, 'langsmith.trace.session_name') ?? header ?? named;
  const storable = name && Buffer.from(name.slice(0, nameCharsMax).replaceAll('\0', '')).toString().trim();
  return storable === undefined || storable === '' ? {} : { session_name: storable };
};

/** ISO 8601 with nanoseconds. */
const toIso = (nanos: bigint): string => {
  const seconds = new Date(Number(nanos / 1_000_000_000n) * 1_000).toISOString().slice(0, 19);
  return `${seconds}.${(nanos % 1_000_000_000n).toString().padStart(9, '0')}Z`;
};

const tagsOf = (attributes: Attributes): string[] | undefined => {
  const tags = attributes.get('langsmith.span.tags') ?? attributes.get('tag.tags');
  if (Array.isArray(tags)) return tags.filter((tag): tag is string => typeof tag === 'string');
  if (typeof tags !== 'string') return undefined;
  return tags
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
};

const toEvent = ({ name, time, attributes }: SpanEvent): object => ({
  name,
  time: toIso(time),
  ...(attributes.size === 0 ? {} : { kwargs: Object.fromEntries(attributes) }),
});

/** The error of a span: its error status, or its last exception event, unless the status is OK. */
const errorOf = ({ status, events }: Span): string | undefined => {
  if (status.code === okCode) return undefined;
  const exception = events.findLast(({ name }) => name === 'exception');
  if (status.code !== errorCode && exception === undefined) return undefined;
  const lines = exception === undefined ? [] : linesOf(exception.attributes);
  if (status.message !== '' && !lines.some((line) => line.includes(status.message)))
    lines.unshift(status.message);
  return lines.length > 0 ? lines.join('\n') : 'The span has the status error without a message.';
};

const linesOf = (attributes: Attributes): string[] => {
  const type = textAt(attributes, 'exception.type');
  const message = textAt(attributes, 'exception.message');
  const stack = textAt(attributes, 'exception.stacktrace');
  const head = [type, message].filter((text) => text !== undefined).join(': ');
  if (stack === undefined) return head === '' ? [] : [head];
  // Most stack traces begin with the message.
  return message !== undefined && stack.includes(message)
    ? [stack]
    : [head, stack].filter((text) => text !== '');
};
