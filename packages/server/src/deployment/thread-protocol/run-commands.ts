// Commands that start runs: run.start, input.respond and state.fork.
import { type commandParams, RunCreate } from '@svc/contract';
import { invalid, Problem } from '@svc/contract/problem';
import type { z } from 'zod';
import type { Call } from '../../api/handlers.ts';
import { settledWithin } from '../../backoff.ts';
import { checkpointRefs } from '../../engine/dispatch/protocol.ts';
import type { RunStorage } from '../../storage/deployment/runs/runs.ts';
import type { ThreadRow, ThreadStorage } from '../../storage/deployment/threads/threads.ts';
import type { RowFilter } from '../../storage/postgres/row-filter.ts';
import type { GrantedRun, RunGranter } from '../runs/run-grant.ts';
import type { RunInputSender } from '../runs/run-input-sender.ts';
import type { RunOutcomeReader } from '../runs/run-outcome-reader.ts';
import type { RunRequest } from '../runs/run-request.ts';
import { InterruptsAnswered, type RunService } from '../runs/run-service.ts';
import { readAccess } from '../threads/read-access.ts';
import type { StateService } from '../threads/state-service.ts';
import { unlessGone } from '../unless-gone.ts';
import { CommandError, parsed } from './command-error.ts';
import { pendingIds } from './translation/interrupt-events.ts';
import { type CommandKey, commandKey } from './repeated-commands.ts';

export interface RunCommandParts {
  runs: RunService;
  granter: RunGranter;
  inputs: RunInputSender;
  states: Pick<StateService, 'get'>;
  outcomes: Pick<RunOutcomeReader, 'untilEnded'>;
  storage: {
    runs: Pick<RunStorage, 'listRepeatable' | 'findCurrent'>;
    threads: Pick<ThreadStorage, 'find'>;
  };
}

/** A command and its caller. */
export interface CommandCall {
  thread_id: string;
  id: number;
  method: string;
  /** As the client sent them. */
  params: unknown;
  call: Call;
  /** The Idempotency-Key of the request. */
  key?: () => string | undefined;
}

type Params<M extends keyof typeof commandParams> = z.output<(typeof commandParams)[M]>;

/** What a run stores for its feed. */
const streamModes = ['values', 'updates', 'messages-tuple', 'custom', 'tasks', 'tools'];
/** Attempts to start a run while others answer the interrupts of its thread. */
const startTries = 3;
/** How long an answer waits for the end of the run that is interrupted. */
const endingMs = 10_000;

export class RunCommands {
  readonly #parts: RunCommandParts;

  constructor(parts: RunCommandParts) {
    this.#parts = parts;
  }

  /** When the thread waits at interrupts, the input is their answer. */
  async start(command: CommandCall, params: Params<'run.start'>): Promise<{ run_id: string }> {
    const { assistant_id, input, metadata, multitask_strategy, multitaskStrategy, langsmith_tracer } = params;
    const { config, checkpoint } = splitCheckpoint(params.config);
    const body = {
      assistant_id,
      input,
      config,
      metadata,
      checkpoint,
      langsmith_tracer,
      multitask_strategy: multitask_strategy ?? multitaskStrategy,
      if_not_exists: 'create',
    };
    const repeated = await this.#repeated(command);
    const prepare = async ({ request, grant: { access } }: GrantedRun): Promise<RunRequest> => {
      if (checkpoint?.checkpoint_id) {
        await this.#assertCheckpoint(command.thread_id, checkpoint.checkpoint_id, access);
        return request;
      }
      const { kwargs } = request;
      if (kwargs.input === null) return request;
      const thread = await this.#parts.storage.threads.find(command.thread_id, access);
      if (thread?.status !== 'interrupted' || pendingIds(thread.interrupts).size === 0) return request;
      const resume = { ...kwargs, input: null, command: { resume: kwargs.input } };
      return { ...request, kwargs: resume, answeredStateAt: thread.state_updated_at };
    };
    for (let tries = 1; ; tries++) {
      try {
        return await this.#create(command, body, repeated, prepare);
      } catch (error) {
        if (!(error instanceof InterruptsAnswered) || tries === startTries) throw error;
      }
    }
  }

  async respond(command: CommandCall, params: Params<'input.respond'>): Promise<object> {
    const { thread_id, call } = command;
    const answers = 'responses' in params ? params.responses : [params];
    const access = await readAccess(call.authorizer, { thread_id });
    const repeated = await this.#repeated(command);
    if (repeated.run_id !== undefined) return {};
    const ids = answers.map(({ interrupt_id }) => interrupt_id);
    if (new Set(ids).size < ids.length)
      throw new CommandError('invalid_argument', 'params.responses: each interrupt may be answered once');
    const thread = await this.#interrupted(thread_id, ids, access);
    const resume = Object.fromEntries(
      answers.map(({ interrupt_id, response }) => [interrupt_id, response ?? null]),
    );
    const { update, goto, metadata } = params;
    const { config } = splitCheckpoint(params.config);
    const body = {
      assistant_id: assistantOf(thread),
      command: { resume, update, goto },
      config,
      metadata,
      // Of two answers one starts a run.
      multitask_strategy: 'reject',
    };
    try {
      await this.#create(command, body, repeated, ({ request }) =>
        Promise.resolve({ ...request, answeredStateAt: thread.state_updated_at }),
      );
    } catch (error) {
      if (error instanceof Problem && error.code === 'conflict') throw noSuchInterrupt(ids);
      throw error;
    }
    return {};
  }

  /** Sends the message into the run in flight. Without one, it starts a run of the thread's assistant. */
  async inject(command: CommandCall, { namespace, message }: Params<'input.inject'>): Promise<object> {
    const { thread_id, call } = command;
    const access = await readAccess(call.authorizer, { thread_id });
    if (namespace && namespace.length > 0)
      throw new CommandError(
        'invalid_argument',
        'params.namespace: messages are sent to the root graph only',
      );
    const repeated = await this.#repeated(command);
    if (repeated.run_id !== undefined) return {};
    const input = { messages: [message] };
    const current = await this.#parts.storage.runs.findCurrent(thread_id, access);
    if (current) {
      const { run_id } = current;
      await this.#parts.inputs.send(call, { thread_id, run_id, input }, repeated.key);
      return {};
    }
    const assistant_id = assistantOf(await this.#thread(thread_id, access));
    await this.#create(command, { assistant_id, input }, repeated);
    return {};
  }

  async fork(
    command: CommandCall,
    params: Params<'state.fork'>,
  ): Promise<{ run_id: string; thread_id: string }> {
    const { thread_id, call } = command;
    const { checkpoint_id, input } = params;
    const access = await readAccess(call.authorizer, { thread_id });
    await this.#assertCheckpoint(thread_id, checkpoint_id, access);
    const thread = await this.#thread(thread_id, access);
    const { config } = splitCheckpoint(params.config);
    const body = { assistant_id: assistantOf(thread), checkpoint_id, input, config };
    return { ...(await this.#create(command, body, await this.#repeated(command))), thread_id };
  }

  /** `prepare` may change the request after it was authorized. */
  async #create(
    { thread_id, call }: CommandCall,
    body: object,
    { key, run_id }: CommandKey,
    prepare = ({ request }: GrantedRun): Promise<RunRequest> => Promise.resolve(request),
  ): Promise<{ run_id: string }> {
    const { runs, granter } = this.#parts;
    const sent = parsed(
      RunCreate,
      { ...body, stream_mode: streamModes, stream_subgraphs: true, stream_resumable: true },
      'params',
    );
    const granted = await granter.grantRequest(call, thread_id, sent, key);
    if (run_id !== undefined) return { run_id };
    const request = await prepare(granted);
    const kwargs = { ...request.kwargs, stream_mode: [...request.kwargs.stream_mode, checkpointRefs] };
    const { run, release } = await runs.create(thread_id, { ...granted, request: { ...request, kwargs } });
    release();
    return { run_id: run.run_id };
  }

  async #repeated({ thread_id, id, method, params, call, key }: CommandCall): Promise<CommandKey> {
    const given = key?.();
    const identity = call.authorizer.user?.identity;
    return commandKey(this.#parts.storage.runs, { thread_id, identity, id, method, params, given });
  }

  /** The thread that waits at these interrupts. An answer may arrive while the run that was interrupted ends. */
  async #interrupted(thread_id: string, ids: string[], access: RowFilter): Promise<ThreadRow> {
    const isAnswerable = (thread: ThreadRow): boolean => {
      const pending = pendingIds(thread.interrupts);
      return thread.status === 'interrupted' && ids.every((id) => pending.has(id));
    };
    const thread = await this.#thread(thread_id, access);
    if (isAnswerable(thread)) return thread;
    const left = pendingIds(thread.interrupts);
    // The interrupts of the last run, while another run is in flight: they are being answered.
    if (thread.status !== 'busy' || ids.some((id) => left.has(id))) throw noSuchInterrupt(ids);
    const { storage, outcomes } = this.#parts;
    const current = await storage.runs.findCurrent(thread_id, access);
    if (current) await settledWithin(outcomes.untilEnded(current.run_id), endingMs);
    const settled = await this.#thread(thread_id, access);
    if (!isAnswerable(settled)) throw noSuchInterrupt(ids);
    return settled;
  }

  async #thread(thread_id: string, access: RowFilter): Promise<ThreadRow> {
    const thread = await this.#parts.storage.threads.find(thread_id, access);
    if (!thread) throw new CommandError('invalid_argument', `Thread ${thread_id} not found`);
    return thread;
  }

  async #assertCheckpoint(thread_id: string, checkpoint_id: string, access: RowFilter): Promise<void> {
    const at = { checkpoint_id };
    const found = await this.#parts.states
      .get(thread_id, at, access, { select: ['checkpoint'] })
      .catch(unlessGone);
    if (found === undefined)
      throw new CommandError('no_such_checkpoint', `Checkpoint ${checkpoint_id} not found`);
  }
}

const noSuchInterrupt = (ids: string[]): CommandError =>
  new CommandError(
    'no_such_interrupt',
    `The thread does not wait at ${ids.join(', ')}: not found, or answered already`,
  );

/** The assistant of the thread's newest run, or the graph for which the thread was created. */
const assistantOf = ({ metadata, thread_id }: ThreadRow): string => {
  const assistant_id = metadata['assistant_id'] ?? metadata['graph_id'];
  if (typeof assistant_id === 'string') return assistant_id;
  throw new CommandError('invalid_argument', `Thread ${thread_id} has no runs`);
};

/** Clients name the checkpoint of a fork in the configuration. */
const splitCheckpoint = (config: Params<'run.start'>['config']) => {
  const { checkpoint_id, checkpoint_ns, checkpoint_map, ...configurable } = config?.configurable ?? {};
  if (!checkpoint_id) return { config, checkpoint: undefined };
  if (typeof checkpoint_id !== 'string')
    throw invalid(['params', 'config', 'configurable', 'checkpoint_id'], 'must be a string');
  return {
    config: { ...config, configurable },
    checkpoint: { checkpoint_id, checkpoint_ns, checkpoint_map },
  };
};
