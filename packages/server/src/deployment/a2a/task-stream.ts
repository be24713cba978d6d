// The events of a task: first the task, then the agent's answer as it arrives, then the result and the final state.
import { Problem } from '@svc/contract/problem';
import type { Logger } from 'pino';
import { EventStreamResponse, type EventSink } from '../../api/handlers.ts';
import { rpcFailure, type RpcId, rpcResult } from '../../api/json-rpc.ts';
import type { RunEvent, RunSubscription } from '../../engine/streams/run-subscription.ts';
import { isRecord } from '../../json/is-record.ts';
import type { AgentTask, Dialect, TaskEvent } from './agent-task.ts';
import { contentText } from './task-reader.ts';
import { eventOf } from './wire.ts';

export interface TaskFeed {
  id: RpcId;
  dialect: Dialect;
  /** The task when the stream begins. */
  task: AgentTask;
  /** The newest run of the task. The artifact has the same id. */
  run_id: string;
  /** Undefined when nothing is in flight. */
  subscription: RunSubscription | undefined;
  /** Reads the task when its run has ended; undefined when it was deleted. */
  result: () => Promise<AgentTask | undefined>;
}

export const taskStream = (feed: TaskFeed, logger: Logger): EventStreamResponse =>
  new EventStreamResponse(async (sink, stop) => {
    const { id, dialect, task, run_id, subscription } = feed;
    const of = { id: task.id, contextId: task.contextId };
    const answer = new AnswerText();
    const write = (event: TaskEvent): boolean =>
      send(sink, rpcResult(id, JSON.stringify(eventOf(event, dialect))));
    const finish = (ended: AgentTask): void => {
      for (const artifact of ended.artifacts)
        write({ kind: 'artifact', of, artifact, append: false, isLast: true });
      write({ kind: 'status', of, status: ended.status, isFinal: true });
    };
    write({ kind: 'task', task });
    if (subscription === undefined) return finish(task);
    write({ kind: 'status', of, status: { ...task.status, state: 'working' }, isFinal: false });
    const reader = {
      send: ({ event, data }: RunEvent) => {
        const chunk = event === 'messages' ? answer.add(data) : undefined;
        if (chunk === undefined) return true;
        const artifact = { artifactId: run_id, parts: [{ kind: 'text' as const, text: chunk.text }] };
        return write({ kind: 'artifact', of, artifact, append: chunk.append, isLast: false });
      },
      drained: () => sink.drained(),
    };
    try {
      if (!(await subscription.read(reader, stop))) return;
      const ended = await feed.result();
      if (!ended) throw new Problem('not_found', `Task ${task.id} was deleted`);
      finish(ended);
    } catch (error) {
      send(
        sink,
        rpcFailure(id, error, (err) => logger.error({ err, run_id }, 'failed to stream a task')),
      );
    }
  }, 'none');

const send = (sink: EventSink, data: string): boolean => sink.send({ event: 'message', data });

const types: ReadonlySet<string> = new Set(['ai', 'AIMessageChunk']);

/** The texts of this many messages are kept. */
const messagesMax = 16;

interface AnswerChunk {
  text: string;
  /** False when the text replaces what was sent before. */
  append: boolean;
}

/**
 * The text of an agent's answer while models stream it. When nodes run in parallel, chunks of several messages alternate: each change to another
 * message sends the whole text of that message, so the texts are kept.
 */
class AnswerText {
  readonly #texts = new Map<string, string>();
  #current: string | undefined;

  /** `data` is a `messages` event of a run, as JSON text. Returns undefined for events without text of an AI message. */
  add(data: string): AnswerChunk | undefined {
    const [message] = JSON.parse(data) as unknown[];
    if (!isRecord(message)) return undefined;
    const { type, id, content, tool_call_chunks } = message;
    const text = contentText(content);
    if (text === '' || typeof id !== 'string' || !types.has(String(type))) return undefined;
    // Chunks of LangGraph.js have the type of whole messages.
    const isChunk = type === 'AIMessageChunk' || Array.isArray(tool_call_chunks);
    const whole = isChunk ? (this.#texts.get(id) ?? '') + text : text;
    this.#keep(id, whole);
    if (this.#current === id && isChunk) return { text, append: true };
    this.#current = id;
    return { text: whole, append: false };
  }

  #keep(id: string, text: string): void {
    this.#texts.delete(id);
    this.#texts.set(id, text);
    const [oldest] = this.#texts.keys();
    if (this.#texts.size > messagesMax && oldest !== undefined) this.#texts.delete(oldest);
  }
}
