// Builds the command with which an executor executes a run. Configs are merged in the order assistant, thread, run: later
// ones override earlier ones, and the server's own keys override all.
import { isRecord } from '../../json/is-record.ts';
import type { RunRow, RunSetting } from '../../storage/deployment/runs/run-rows.ts';
import type { ParsedRunCommand, RunCommand, RunDelivery, RunKwargs, RunError } from './protocol.ts';
import type { RunEventStream } from '../streams/run-event-hub.ts';
import type { ClaimedSetting } from '../../storage/deployment/runs/run-leases.ts';

type Config = Record<string, unknown> & { configurable?: Record<string, unknown> };

/** Keys of `configurable` that only the server may set. Keys that begin with `__` belong to the engine. */
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

/** The key with which RunUsers passes the credential of a run. Graphs do not get it in `configurable`. */
export const credentialKey = '__svc_credential';

const isClientKey = (key: string): boolean => !key.startsWith('__') && !serverKeys.has(key);

/** A client's `configurable` without the keys that clients may not set. */
export const clientConfigurable = (configurable: Record<string, unknown> = {}): Record<string, unknown> =>
  Object.fromEntries(Object.entries(configurable).filter(([key]) => isClientKey(key)));

const mergeContext = (assistant: unknown, run: unknown): unknown => {
  if (run === undefined || run === null)
    return isRecord(assistant) && Object.keys(assistant).length === 0 ? undefined : assistant;
  return isRecord(assistant) && isRecord(run) ? { ...assistant, ...run } : run;
};

/** Merges the configs of an assistant, a thread and a run into the config of a graph. */
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

type StartedRun = Pick<
  RunRow,
  'run_id' | 'assistant_id' | 'metadata' | 'kwargs' | 'temporary' | 'attempt' | 'lease_token' | 'log'
> & { webhook: string | null };

/**
 * The flags of RunDelivery that depend on the readers on this node when the run starts. The executor creates nothing that
 * has no reader.
 */
export type Audience = Partial<Pick<RunDelivery, 'awaited' | 'streamed'>>;

/** `keys`: the user of the run, for the graph. `firstId`: the event id that follows those of earlier attempts. */
export const toRunCommand = (
  run: StartedRun,
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
    checkpoint_metadata: { ...run.metadata, graph_id, assistant_id },
    kwargs: run.kwargs,
    awaited: audience.awaited ?? false,
    streamed: (audience.streamed ?? false) || run.log === 'events',
    logged: run.log === 'events',
    values_kept: isKept,
    first_event_id: firstId,
    has_inputs: setting.has_inputs,
  };
};

/** `config.metadata`: the graph gets it, below the metadata of the run and of the server. */
const configMetadata = (configs: readonly (Config | null | undefined)[]): Record<string, unknown> =>
  Object.assign(
    {},
    ...configs.map((config) =>
      isRecord(config?.['metadata']) ? clientConfigurable(config['metadata']) : {},
    ),
  ) as Record<string, unknown>;

/** In the executor: parses the texts of the command and merges its configs. */
export const parseRunCommand = (command: RunCommand): ParsedRunCommand => {
  const { configs, assistant_context, server_keys, ...rest } = command;
  const { [credentialKey]: credential, ...keys } = server_keys;
  const kwargs = JSON.parse(command.kwargs) as RunKwargs;
  const context = mergeContext(assistant_context, kwargs.context);
  return {
    ...rest,
    metadata: { ...configMetadata([...configs, kwargs.config]), ...rest.metadata },
    config: mergeConfigs(keys, ...configs, kwargs.config),
    ...(context === undefined ? {} : { context }),
    ...(typeof credential === 'string' ? { credential } : {}),
    kwargs,
  };
};

// Builds the command that starts a claimed run, or the error with which the run ends because it cannot start.

/** Decrypts the stored user of a run and returns it as keys of `configurable`. Throws when it cannot be decrypted. */
export interface UserKeys {
  open(
    sealed: string | null,
    run: Pick<RunRow, 'run_id' | 'lease_token' | 'metadata'>,
  ): Record<string, unknown>;
}

export const claimedCommand = (
  run: RunRow,
  setting: ClaimedSetting | undefined,
  stream: RunEventStream | undefined,
  users: UserKeys,
): RunCommand | RunError => {
  if (!setting) return { error: 'AssistantGone', message: 'The assistant of this run was deleted' };
  let keys: Record<string, unknown>;
  try {
    keys = users.open(setting.sealed_user, run);
  } catch (error) {
    // A run is never executed without the user that created it.
    return {
      error: 'UserUnreadable',
      message: `The user of this run cannot be decrypted: ${(error as Error).message}`,
    };
  }
  const firstId = Math.max(stream?.nextId ?? 0, setting.next_event_id ?? 0);
  const { log, webhook } = setting;
  return toRunCommand({ ...run, log, webhook }, setting, stream ?? {}, { keys, firstId });
};

/** A claim has returned the row. Undefined for a run that was given back without a lost attempt: the start of its wait is not stored. */
export const waitedMsOf = ({
  lease_token,
  lost_attempts,
  created_at,
  updated_at,
}: RunRow): number | undefined => {
  const lost = lost_attempts.at(-1);
  const since = lease_token === 1 ? created_at : lost?.lease_token === lease_token - 1 ? lost.at : undefined;
  return since === undefined ? undefined : Math.max(0, Date.parse(updated_at) - Date.parse(since));
};
