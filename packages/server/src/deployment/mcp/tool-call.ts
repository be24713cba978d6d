// Runs an assistant for a call of its tool: a stateless run of the caller, which is cancelled when the client disconnects or cancels.
import { StatelessRunCreate } from '@svc/contract';
import type { Logger } from 'pino';
import { type Call, DeferredResponse, EventStreamResponse, type EventSink } from '../../api/handlers.ts';
import { rpcFailure, type RpcId, rpcResult } from '../../api/json-rpc.ts';
import { isRecord } from '../../json/is-record.ts';
import type { RunOutcome } from '../../engine/streams/run-event-hub.ts';
import type { RunEvent } from '../../engine/streams/run-subscription.ts';
import { everyRow } from '../../storage/postgres/row-filter.ts';
import type { RunCanceller } from '../runs/run-canceller.ts';
import type { RunGranter } from '../runs/run-grant.ts';
import { runIdOf } from '../runs/run-request.ts';
import type { RunOutcomeReader } from '../runs/run-outcome-reader.ts';
import type { Created, RunService } from '../runs/run-service.ts';

export interface ToolCallParts {
  runs: RunService;
  granter: RunGranter;
  outcomes: RunOutcomeReader;
  canceller: RunCanceller;
  logger: Logger;
}

export interface ToolCall {
  id: RpcId;
  assistant_id: string;
  input: unknown;
  context: unknown;
  session: string | undefined;
  /** Set when the client wants progress, and accepts a stream. */
  progressToken: RpcId | undefined;
}

/** The key of the run: within a session, the same request creates its run once, and a later message can cancel it. */
const keyOf = (session: string | undefined, id: RpcId): string | undefined =>
  session === undefined ? undefined : JSON.stringify(['mcp', session, id]);

export class ToolCaller {
  readonly #parts: ToolCallParts;

  constructor(parts: ToolCallParts) {
    this.#parts = parts;
  }

  async call(
    { id, assistant_id, input, context, session, progressToken }: ToolCall,
    call: Call,
  ): Promise<DeferredResponse | EventStreamResponse> {
    const { runs, granter, outcomes, canceller } = this.#parts;
    const body = StatelessRunCreate.parse({ assistant_id, input, context, stream_mode: ['updates'] });
    const granted = await granter.grantRequest(call, null, body, keyOf(session, id));
    const streamed = progressToken !== undefined;
    const created = await runs.create(null, granted, { awaited: true, streamed });
    const { run, stream } = created;
    canceller.cancelOnDisconnect(call.signal, run, everyRow);
    const text = outcomes.result(run, stream.outcome).then(
      async (values) => rpcResult(id, toolResult(values, (await stream.outcome).status)),
      (error: unknown) => this.#failure(id, run.run_id, error),
    );
    if (progressToken !== undefined) return this.#progress(created, text, progressToken);
    return new DeferredResponse(text);
  }

  /** Cancels the run of an earlier request of the session, wherever it executes. Ignores unknown requests, as the protocol demands. */
  async cancel(session: string, id: RpcId, call: Call): Promise<void> {
    const { user } = call.authorizer;
    const run_id = runIdOf(keyOf(session, id) ?? '', null, user?.identity);
    const requested = { thread_id: undefined, metadata: undefined, action: 'interrupt' } as const;
    const { access } = await call.authorizer.authorize('threads:update', requested);
    await this.#parts.canceller.cancelStateless(run_id, access);
  }

  /** A notification for each update of the run, then the response. */
  #progress(
    { isNew, stream, release }: Created,
    text: Promise<string>,
    progressToken: RpcId,
  ): EventStreamResponse {
    const subscription = stream.subscribe(isNew ? undefined : -1);
    release();
    let progress = 0;
    const notify = (sink: EventSink, { event, data }: RunEvent): boolean => {
      if (event !== 'updates') return true;
      const params = {
        progressToken,
        progress: ++progress,
        message: Object.keys(JSON.parse(data) as object).join(', '),
      };
      return send(sink, JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params }));
    };
    return new EventStreamResponse(async (sink, stop) => {
      const reader = {
        send: (event: RunEvent) => notify(sink, event),
        drained: () => sink.drained(),
      };
      if (await subscription.read(reader, stop)) send(sink, await text);
    }, 'none');
  }

  #failure(id: RpcId, run_id: string, error: unknown): string {
    return rpcFailure(id, error, (err) =>
      this.#parts.logger.error({ err, run_id }, 'failed to read the result of a tool call'),
    );
  }
}

const send = (sink: EventSink, data: string): boolean => sink.send({ event: 'message', data });

const result = (text: string, structured: string | undefined, isError: boolean): string => {
  const content = `"content":[{"type":"text","text":${JSON.stringify(text)}}]`;
  return `{${content}${structured === undefined ? '' : `,"structuredContent":${structured}`}${isError ? ',"isError":true' : ''}}`;
};

/**
 * JSON text of a CallToolResult. `values`: the response of `wait`, JSON text. A run that failed, was cancelled or was interrupted is an error of
 * the tool: a stateless run cannot be resumed.
 */
const toolResult = (values: string, status: RunOutcome['status']): string => {
  const value = JSON.parse(values) as unknown;
  const error = isRecord(value) ? value['__error__'] : undefined;
  if (isRecord(error)) {
    const { error: name, message } = error as { error: string; message: string };
    return result(`${name}: ${message}`, undefined, true);
  }
  const structured = isRecord(value) ? values : undefined;
  if (structured === undefined || !('__interrupt__' in (value as object)))
    return status === 'success'
      ? result(values, structured, false)
      : result(`The run was cancelled. Values so far: ${values}`, structured, true);
  const requested = JSON.stringify((value as { __interrupt__: unknown }).__interrupt__);
  const text = `The run was interrupted and waits for an answer, which this protocol cannot send. Interrupts: ${requested}`;
  return result(text, structured, true);
};
