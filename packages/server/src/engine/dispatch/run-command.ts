// What an executor gets to execute a run. Of the configs of assistant, thread and run later ones win, and the server's own keys
// are on top.
import type { RunRow, RunSetting } from '../../storage/deployment/runs.ts';
import type { RunCommand, RunKwargs, ParsedRunCommand } from './protocol.ts';

type Config = Record<string, unknown> & { configurable?: Record<string, unknown> };

/** Keys of `configurable` that only the server may set. `__` is the engine's own. */
const serverKeys = new Set([
  'thread_id',
  'run_id',
  'graph_id',
  'assistant_id',
  'checkpoint_id',
  'checkpoint_ns',
  'checkpoint_map',
  'svc_auth_user',
  'svc_auth_user_id',
  'svc_auth_permissions',
  'langgraph_auth_user',
  'langgraph_auth_user_id',
  'langgraph_auth_permissions',
]);

const isClientKey = (key: string): boolean => !key.startsWith('__') && !serverKeys.has(key);

/** A client's `configurable` without the keys that are not theirs to set. */
export const clientConfigurable = (configurable: Record<string, unknown> = {}): Record<string, unknown> =>
  Object.fromEntries(Object.entries(configurable).filter(([key]) => isClientKey(key)));

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const mergeContext = (assistant: unknown, run: unknown): unknown => {
  if (run === undefined || run === null)
    return isObject(assistant) && Object.keys(assistant).length === 0 ? undefined : assistant;
  return isObject(assistant) && isObject(run) ? { ...assistant, ...run } : run;
};

/** The config of a graph for an assistant and whatever a thread or a run adds to it. */
export const mergeConfigs = (
  ids: Record<string, unknown>,
  ...configs: (Config | null | undefined)[]
): ParsedRunCommand['config'] => {
  const present = configs.filter((config) => config !== null && config !== undefined);
  const { recursion_limit, tags, max_concurrency } = Object.assign({}, ...present) as Config;
  return {
    ...(tags === undefined ? {} : { tags }),
    ...(recursion_limit === undefined ? {} : { recursionLimit: recursion_limit }),
    ...(max_concurrency === undefined ? {} : { maxConcurrency: max_concurrency }),
    configurable: {
      ...Object.assign({}, ...present.map((config) => clientConfigurable(config.configurable))),
      ...ids,
    },
  };
};

type ClaimedRun = Pick<
  RunRow,
  'run_id' | 'assistant_id' | 'metadata' | 'kwargs' | 'temporary' | 'attempt' | 'lease_token' | 'log'
> & { webhook: string | null };

/** Who receives results of the run when it starts: the executor produces nothing that nobody receives. */
export interface Audience {
  /** Someone waits for the final values. */
  awaited?: boolean;
  /** Someone reads the events, or may read them later. */
  streamed?: boolean;
}

/** `keys`: what the graph sees of the user it acts for. `firstId`: where the ids of an earlier attempt ended. */
export const toRunCommand = (
  run: ClaimedRun,
  setting: RunSetting,
  audience: Audience,
  { keys = {}, firstId = 0 }: { keys?: Record<string, unknown>; firstId?: number } = {},
): RunCommand => {
  const { run_id, assistant_id, temporary, attempt, lease_token } = run;
  const { thread_id, graph_id } = setting;
  const ids = { run_id, thread_id, graph_id, assistant_id };
  const isKept = run.webhook !== null || (temporary && run.log !== 'nothing');
  return {
    run_id,
    thread_id,
    assistant_id,
    graph_id,
    attempt,
    lease_token,
    temporary,
    blob_space: setting.blob_space ?? thread_id,
    head: setting.head,
    configs: [setting.assistant_config, setting.thread_config],
    assistant_context: setting.assistant_context,
    server_keys: { ...ids, ...keys },
    metadata: {
      ...setting.assistant_metadata,
      ...setting.thread_metadata,
      ...run.metadata,
      ...ids,
      run_attempt: attempt,
    },
    checkpoint_metadata: { ...run.metadata, graph_id },
    kwargs: run.kwargs,
    awaited: audience.awaited ?? false,
    streamed: (audience.streamed ?? false) || run.log === 'events',
    logged: run.log === 'events',
    values_kept: isKept,
    first_event_id: firstId,
  };
};

/** In the executor: parses the texts of the command and merges its configs. */
export const parseRunCommand = (command: RunCommand): ParsedRunCommand => {
  const { configs, assistant_context, server_keys, ...rest } = command;
  const kwargs = JSON.parse(command.kwargs) as RunKwargs;
  const context = mergeContext(assistant_context, kwargs.context);
  return {
    ...rest,
    config: mergeConfigs(server_keys, ...configs, kwargs.config),
    ...(context === undefined ? {} : { context }),
    kwargs,
  };
};
