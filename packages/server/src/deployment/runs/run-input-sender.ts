// Sends inputs into runs. An input is a run of its own, which may not begin while the other run executes: that run takes its input, or else it follows.
import { RunCreate } from '@svc/contract';
import { notFound, Problem } from '@svc/contract/problem';
import type { Call } from '../../api/handlers.ts';
import { checkpointRefs, type RunKwargs } from '../../engine/dispatch/protocol.ts';
import type { RunStorage } from '../../storage/deployment/runs/runs.ts';
import { readAccess } from '../threads/read-access.ts';
import type { RunGranter } from './run-grant.ts';
import type { RunFields } from './run-record.ts';
import type { RunService } from './run-service.ts';

export interface SentInput {
  thread_id: string;
  run_id: string;
  input: Record<string, unknown>;
  metadata?: Record<string, unknown> | null | undefined;
}

/** Characters of an input as JSON text. */
const inputMax = 1_048_576;

interface Parts {
  runs: RunService;
  granter: RunGranter;
  storage: { runs: Pick<RunStorage, 'find'> };
}

export class RunInputSender {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The caller needs the permission to create a run on the thread. `key`: repeated requests send the input once. Returns the run that holds the input. */
  async send(
    call: Call,
    { thread_id, run_id, input, metadata }: SentInput,
    key?: string,
  ): Promise<RunFields> {
    const { runs, granter, storage } = this.#parts;
    const access = await readAccess(call.authorizer, { thread_id, run_id });
    if (JSON.stringify(input).length > inputMax)
      throw new Problem('too_large', `input must have at most ${inputMax} characters as JSON`);
    const target = await storage.runs.find(run_id, thread_id, access);
    if (!target) throw notFound('Run', run_id);
    const {
      input: _,
      command: _command,
      checkpoint: _checkpoint,
      stream_mode,
      ...options
    } = JSON.parse(target.kwargs) as RunKwargs;
    const body = RunCreate.parse({
      ...options,
      assistant_id: target.assistant_id,
      input,
      metadata,
      stream_mode: stream_mode.filter((mode) => mode !== checkpointRefs),
    });
    const granted = await granter.grantRequest(call, thread_id, body, key);
    const kwargs = {
      ...granted.request.kwargs,
      stream_mode: [
        ...granted.request.kwargs.stream_mode,
        ...stream_mode.filter((mode) => mode === checkpointRefs),
      ],
    };
    const request = { ...granted.request, kwargs, inputOf: run_id };
    const { run, release } = await runs.create(thread_id, { ...granted, request });
    release();
    return run;
  }
}
