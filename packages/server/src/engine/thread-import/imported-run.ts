// An ended run of the dev server as a row.
import { isRecord } from '../../json/is-record.ts';
import type { RunImport } from '../../storage/deployment/threads/thread-imports.ts';
import type { RunKwargs, ImportThreadAnswer } from '../dispatch/protocol.ts';
import { isUuid } from '../../storage/postgres/uuid.ts';

type Fields = Record<string, unknown>;

const ended = new Set<unknown>(['success', 'error', 'interrupted', 'timeout']);
const strategies = new Set<unknown>(['reject', 'interrupt', 'rollback', 'enqueue']);

/** The user of a request, which the dev server stores with runs and checkpoints. Here it is stored nowhere in clear. */
const userKeys = ['langgraph_auth_user', 'langgraph_auth_user_id', 'langgraph_auth_permissions'];

/** Leaves out the user of a request, and the owner, whom only this server may set. */
export const withoutUser = (fields: unknown): Fields => {
  if (!isRecord(fields)) return {};
  const kept = Object.entries(fields).filter(
    ([key, value]) => value !== undefined && !userKeys.includes(key) && key !== 'svc_auth_user_id',
  );
  return Object.fromEntries(kept);
};

/** The dev server copies these headers of each request into `configurable`; here only those that the project selects get there. */
const withoutHeaders = (configurable: Fields): Fields =>
  Object.fromEntries(Object.entries(configurable).filter(([key]) => !/^x-|^user-agent$/i.test(key)));

/** Leaves the user of a request and its headers out of a config. */
export const configWithoutUser = (config: unknown): Fields => {
  if (!isRecord(config)) return {};
  const { configurable, metadata, ...rest } = config;
  return {
    ...rest,
    ...(isRecord(configurable) ? { configurable: withoutHeaders(withoutUser(configurable)) } : {}),
    ...(isRecord(metadata) ? { metadata: withoutUser(metadata) } : {}),
  };
};

/**
 * Keys of the run's `configurable` that are no metadata. The dev server stores them with every checkpoint, also headers of requests and
 * keys of model providers. Undefined when the run does not show its `configurable`.
 */
export const configurableKeys = (run: Fields): string[] | undefined => {
  const { metadata, kwargs } = run;
  const config = isRecord(kwargs) ? kwargs['config'] : undefined;
  if (!isRecord(config)) return undefined;
  const configurable = config['configurable'];
  const kept = new Set(['run_id', 'thread_id', 'graph_id', 'assistant_id', ...Object.keys(metadata ?? {})]);
  return Object.keys(configurable ?? {}).filter((key) => !kept.has(key));
};

const list = (value: unknown): string[] | undefined =>
  Array.isArray(value) && value.every((one) => typeof one === 'string') ? (value as string[]) : undefined;

const kwargsOf = (given: Fields): RunKwargs => {
  const { input, command, config, context, stream_mode, interrupt_before, interrupt_after } = given;
  const before = interrupt_before === '*' ? '*' : list(interrupt_before);
  const after = interrupt_after === '*' ? '*' : list(interrupt_after);
  return {
    ...(input === null || input === undefined ? {} : { input }),
    ...(isRecord(command) ? { command } : {}),
    config: configWithoutUser(config),
    ...(context === null || context === undefined ? {} : { context }),
    stream_mode: list(stream_mode) ?? ['values'],
    stream_subgraphs: given['subgraphs'] === true,
    ...(before === undefined ? {} : { interrupt_before: before }),
    ...(after === undefined ? {} : { interrupt_after: after }),
    durability: 'async',
  };
};

const isoOf = (time: string | undefined): string => new Date(time ?? '').toISOString();

/** The caller has checked the times. Undefined when the run has not ended, or is no run. */
export const toRun = (given: unknown): Omit<RunImport, 'found_head' | 'final_head'> | undefined => {
  if (!isRecord(given) || !ended.has(given['status'])) return undefined;
  const { metadata, kwargs } = given;
  const { run_id, assistant_id, status, multitask_strategy, created_at, updated_at } = given as Record<
    string,
    string
  >;
  if (!isUuid(run_id) || !isUuid(assistant_id)) return undefined;
  const graph_id = isRecord(metadata) ? metadata['graph_id'] : undefined;
  return {
    run_id,
    assistant_id,
    graph_id: typeof graph_id === 'string' ? graph_id : null,
    status: status ?? '',
    metadata: withoutUser(metadata),
    kwargs: JSON.stringify(kwargsOf(isRecord(kwargs) ? kwargs : {})),
    multitask_strategy: strategies.has(multitask_strategy) ? (multitask_strategy ?? '') : 'enqueue',
    created_at: isoOf(created_at),
    updated_at: isoOf(updated_at ?? created_at),
  };
};

/** Names a run that `toRun` does not take. */
export const unfinishedOf = (read: unknown): { run_id: string; status: string } => {
  const { run_id, status } = isRecord(read) ? read : {};
  return { run_id: String(run_id), status: String(status) };
};

/** The answer before anything of the thread was read. */
export const emptyAnswer = (outcome: ImportThreadAnswer['outcome']): ImportThreadAnswer => ({
  outcome,
  checkpoints: 0,
  runs: 0,
  unfinished: [],
  undescribed: { count: 0, message: '' },
});
