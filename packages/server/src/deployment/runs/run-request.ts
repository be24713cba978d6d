// Converts the validated body of a run into a RunRequest.
import type { RunCreate, StatelessRunCreate } from '@svc/contract';
import type { RunKwargs } from '../../engine/dispatch/protocol.ts';
import { createHash } from 'node:crypto';

/** A validated request for a run. */
export interface RunRequest {
  assistant_id: string;
  kwargs: RunKwargs;
  metadata: Record<string, unknown>;
  multitask_strategy: 'enqueue' | 'reject' | 'interrupt' | 'rollback';
  if_not_exists: 'create' | 'reject';
  /** Whether the run is cancelled when its client disconnects. */
  cancelOnDisconnect: boolean;
  /** Milliseconds before the run may start. */
  delayMs: number;
  /** For stateless runs: whether the thread that is created for the run is kept. */
  keep: boolean;
  /** URL of the webhook. */
  webhook: string | null;
  /** For a run that answers interrupts: `state_updated_at` of the thread in which they were read. */
  answeredStateAt?: string;
  /** The run that takes the input of this one, if it is in flight. */
  inputOf?: string;
  /** The Idempotency-Key: repeated requests create the run once. */
  key?: string | undefined;
}

type Body = RunCreate | StatelessRunCreate;

const durability = (body: Body): 'sync' | 'async' | 'exit' => {
  if (body.durability) return body.durability;
  return body.checkpoint_during === false ? 'exit' : 'async';
};

/** The checkpoint where the run starts. A thread id in it is ignored, since the path names the thread. */
const startingPoint = (body: Partial<Pick<RunCreate, 'checkpoint' | 'checkpoint_id'>>) => {
  const { checkpoint_id, checkpoint_ns, checkpoint_map } = body.checkpoint ?? {};
  const id = checkpoint_id ?? body.checkpoint_id;
  if (!id && !checkpoint_ns && !checkpoint_map) return undefined;
  return {
    ...(id ? { checkpoint_id: id } : {}),
    ...(checkpoint_ns ? { checkpoint_ns } : {}),
    ...(checkpoint_map ? { checkpoint_map } : {}),
  };
};

type Present<T> = { [K in keyof T]?: NonNullable<T[K]> };

const present = <T extends object>(fields: T): Present<T> =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  ) as Present<T>;

/** `key`: the Idempotency-Key. */
export const toRunRequest = (body: Body, key?: string): RunRequest => {
  const strategy = 'multitask_strategy' in body ? body.multitask_strategy : 'enqueue';
  return {
    assistant_id: body.assistant_id,
    metadata: body.metadata ?? {},
    multitask_strategy: strategy ?? 'enqueue',
    if_not_exists: ('if_not_exists' in body ? body.if_not_exists : undefined) ?? 'reject',
    cancelOnDisconnect: body.on_disconnect === 'cancel',
    delayMs: (body.after_seconds ?? 0) * 1000,
    keep: 'on_completion' in body && body.on_completion === 'keep',
    webhook: body.webhook ?? null,
    key,
    kwargs: {
      input: body.input ?? null,
      stream_mode: body.stream_mode,
      stream_subgraphs: body.stream_subgraphs ?? false,
      stream_resumable: body.stream_resumable ?? false,
      durability: durability(body),
      ...present({
        command: body.command,
        config: body.config,
        context: body.context,
        interrupt_before: body.interrupt_before,
        interrupt_after: body.interrupt_after,
        feedback_keys: body.feedback_keys?.length ? body.feedback_keys : undefined,
        checkpoint: startingPoint(body as Partial<RunCreate>),
      }),
    },
  };
};

/**
 * The run id for a client's Idempotency-Key, a UUID of version 8. The same key of the same user on the same thread gives the same id.
 */
export const runIdOf = (key: string, thread_id: string | null, identity = ''): string => {
  const hash = createHash('sha256')
    .update(JSON.stringify([thread_id ?? 'no thread', key, identity]))
    .digest('hex');
  const variant = ((Number.parseInt(hash.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `${variant}${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join('-');
};
