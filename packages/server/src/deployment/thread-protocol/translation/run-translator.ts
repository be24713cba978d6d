// Translates the log of one run into events of thread protocol v2. Pure and deterministic: the same log gives the same events with the same
// ids, on every node and for every reader of the same dialect.
//
// Ids and numbers. `event_id` is `<first_seq of the run>:<id in the log>:<key>`, without the id for what a run reports once. The ids of the first and the last `lifecycle` event of a run
// are `synth:<run_id>:<key>`: clients read there to which run they belong. `seq` is first_seq + 16 * (id in the log + 1), plus one for each further event of the same logged event; when
// there are more than 16 of these, the following events are pushed back as far as needed.
// Numbers are not consecutive: events of channels that a reader does not read have numbers too.
//
// The oldest events of a long log are deleted while the run still executes. Then a message whose beginning is missing is left out: only a
// message of a task whose start is in the log is translated. All other events keep their ids. Their numbers stay between those of the logged
// events before and after them.
import { JsonText } from '../../../api/json-text.ts';
import { checkpointTimeMs } from '../../../engine/checkpoints/checkpoint-ids.ts';
import { isRecord } from '../../../json/is-record.ts';
import { checkpointEvents, plainValues, taskEvents, updatesEvents, valuesEvents } from './state-json.ts';
import type { Dialect } from './dialect.ts';
import { InterruptEvents } from './interrupt-events.ts';
import { isTaskResult, LifecycleEvents, taskNamespace } from './lifecycle-events.ts';
import { MessageEvents } from './message-events.ts';
import type { JsonRecord, LoggedEvent, NumberedEvent, ProtocolEvent } from './protocol-event.ts';
import { toolEvents } from './tool-events.ts';

/** Numbers for each logged event. */
const stride = 16;

export interface TranslatedRun {
  run_id: string;
  first_seq: number;
  graph_id: string;
}

/** How a run ended; undefined when its row was deleted by a rollback. */
export type RunEnd = { status: string; error: string | null } | undefined;

export class RunTranslator {
  readonly #run: TranslatedRun;
  readonly #messages: MessageEvents;
  readonly #lifecycle: LifecycleEvents;
  readonly #interrupts = new InterruptEvents();
  #seq: number;
  #nextId = 0;
  #isCut = false;
  /** Runs of the thread protocol log references to checkpoints. In the logs of other runs, events of tools have the namespace of the graph. */
  #namesTasks = false;
  #timeMs: number;

  readonly #dialect: Dialect;
  readonly #unread: ReadonlySet<string>;

  /** `unread`: channels that the reader has not selected. Their events may have no data, but count. */
  constructor(run: TranslatedRun, dialect: Dialect, unread: ReadonlySet<string> = new Set()) {
    this.#run = run;
    this.#dialect = dialect;
    this.#messages = new MessageEvents(dialect);
    this.#lifecycle = new LifecycleEvents(dialect);
    this.#unread = unread;
    this.#seq = run.first_seq - 1;
    this.#timeMs = firstSeqMs(run.first_seq);
  }

  /** The first events of the run. `answered`: ids of the interrupts that it answers. */
  begin(answered: readonly string[] = []): NumberedEvent[] {
    const data = { event: 'running', graph_name: this.#run.graph_id };
    const events = [
      rootLifecycle(data, 'begin'),
      ...(answered.length === 0 ? [] : [inputAnswered(answered)]),
    ];
    return events.map((event) => this.#number(0, 'begin', event));
  }

  /** The events for one logged event. */
  take(id: number, name: string, text: string): NumberedEvent[] {
    if (id !== this.#nextId) this.#isCut = true;
    this.#nextId = id + 1;
    const [kind = '', ...namespace] = name.split('|');
    const begun = this.#lifecycle.beginGraph(kind, namespace);
    const events = this.#unparsed(kind, namespace, text) ?? this.#parsed(kind, namespace, text);
    return [...begun, ...events].map((event) => this.#number(stride * (id + 1), String(id), event));
  }

  /**
   * The last events of the run. Tasks and messages that have not ended will not end any more. `isFollowed`: the end is replayed while the
   * thread has a newer run. Clients take the end of any run for the end of what they have started, so only readers that continue within
   * the run get its end.
   */
  end(ended: RunEnd, isFollowed = false): NumberedEvent[] {
    const data = this.#outcome(ended);
    const { event, error } = data;
    const left = event === 'completed' ? 'interrupted' : event;
    return [
      ...this.#messages.abandon('The run has ended before the message'),
      ...this.#lifecycle.endAll({ event: left, ...(error === undefined ? {} : { error }) }),
      rootLifecycle({ ...data, graph_name: this.#run.graph_id }, 'end'),
    ].map((last) => {
      const numbered = this.#number(stride * (this.#nextId + 1), 'end', last);
      return isFollowed && last.isSynthesized ? { ...numbered, minSince: this.#run.first_seq } : numbered;
    });
  }

  /** The events of a text that need not be parsed; undefined for others. */
  #unparsed(kind: string, namespace: readonly string[], text: string): ProtocolEvent[] | undefined {
    if (kind !== 'custom' && kind !== 'values') return undefined;
    // States are large. Without an interrupt, one is translated to one event.
    const given = this.#unread.has(kind) && !text.includes('"__interrupt__"') ? '{}' : text;
    return kind === 'custom' ? customEvents(namespace, given, this.#dialect) : plainValues(namespace, given);
  }

  #parsed(name: string, namespace: readonly string[], text: string): ProtocolEvent[] {
    const logged = { name, namespace, text, data: JSON.parse(text) as unknown };
    this.#timeMs = Math.max(this.#timeMs, checkpointMs(logged) ?? 0);
    return this.#translate(logged);
  }

  #translate(logged: LoggedEvent): ProtocolEvent[] {
    switch (logged.name) {
      case 'metadata':
        // Of the first attempt nothing is open yet.
        return this.#messages.abandon('The attempt was lost; the run continues with another one');
      case 'values':
        return [...valuesEvents(logged), ...this.#interrupts.take(logged)];
      case 'updates':
        return [...updatesEvents(logged), ...this.#interrupts.take(logged)];
      case 'messages':
        return this.#messages.take(logged, (task) => !this.#isCut || this.#lifecycle.isOpen(task));
      case 'tasks':
        return this.#task(logged);
      case 'tools':
        return toolEvents(logged, this.#graphOf(logged), this.#dialect);
      case 'checkpoint_refs':
        this.#namesTasks = true;
        return checkpointEvents(logged);
      default:
        return [];
    }
  }

  /** The graph whose task has called a tool. */
  #graphOf({ namespace }: LoggedEvent): readonly string[] {
    return this.#namesTasks || this.#isCut ? namespace.slice(0, -1) : namespace;
  }

  #task(logged: LoggedEvent): ProtocolEvent[] {
    const task = taskNamespace(logged);
    const ended = task && isTaskResult(logged) ? this.#messages.endTask(task) : [];
    return [
      ...ended,
      ...taskEvents(logged),
      ...this.#interrupts.take(logged),
      ...this.#lifecycle.take(logged),
    ];
  }

  #outcome(ended: RunEnd): { event: string; error?: string; reason?: string } {
    if (ended === undefined) return { event: 'interrupted', reason: 'rollback' };
    if (ended.status === 'success')
      return { event: this.#interrupts.isInterrupted ? 'interrupted' : 'completed' };
    if (ended.status === 'interrupted') return { event: 'interrupted', reason: 'cancelled' };
    const { message = ended.status } = JSON.parse(ended.error ?? '{}') as { message?: string };
    return { event: 'failed', error: message };
  }

  #number(offset: number, id: string, event: ProtocolEvent): NumberedEvent {
    const { first_seq, run_id } = this.#run;
    this.#seq = Math.max(this.#seq + 1, first_seq + offset);
    const { channel, method, namespace, graph, node, data, key, isOnce, isSynthesized } = event;
    const event_id = isSynthesized
      ? `synth:${run_id}:${key}`
      : isOnce
        ? `${first_seq}:${key}`
        : `${first_seq}:${id}:${key}`;
    // All numbered events have the same fields in the same order: copying events of different forms takes several times longer.
    return {
      channel,
      method,
      namespace: this.#dialect === 'python' ? (graph ?? namespace) : namespace,
      node,
      data,
      isOnce,
      event_id,
      seq: this.#seq,
      minSince: -1,
      timestamp: this.#timeMs,
    };
  }
}

const rootLifecycle = (data: object, key: 'begin' | 'end'): ProtocolEvent => ({
  channel: 'lifecycle',
  method: 'lifecycle',
  namespace: [],
  data,
  key,
  isSynthesized: true,
});

const inputAnswered = (interrupt_ids: readonly string[]): ProtocolEvent => ({
  channel: 'input',
  method: 'input.answered',
  namespace: [],
  data: { interrupt_ids },
  key: 'input.answered',
});

/**
 * Channel `custom`: what a node writes. A node names an event by writing an object with a `name`. `text`: the JSON text of what was written. Only a
 * text that may have a name is parsed.
 */
const customEvents = (namespace: readonly string[], text: string, dialect: Dialect): ProtocolEvent[] => {
  const named = namedData(text);
  const plain = new JsonText(dialect === 'python' ? text : `{"payload":${text}}`);
  const data = named === undefined ? plain : dialect === 'python' ? named : withPayload(named);
  return [{ channel: 'custom', method: 'custom', namespace, data, key: 'custom' }];
};

const namedData = (text: string): JsonRecord | undefined => {
  if (!text.startsWith('{') || !text.includes('"name"')) return undefined;
  const data: unknown = JSON.parse(text);
  return isRecord(data) && typeof data['name'] === 'string' ? data : undefined;
};

/** The JavaScript client reads only `payload`. */
const withPayload = (data: JsonRecord): JsonRecord => ('payload' in data ? data : { ...data, payload: data });

// The time of an event comes from what the log contains, because readers at any time must get the same. It is the time of the newest checkpoint
// before the event, or of the run's first claim.
const epochMs = Date.UTC(2025, 0, 1);
/** Units of first_seq in a millisecond (functions/runs/new_first_seq.sql). */
const seqPerMs = 4096;

const firstSeqMs = (first_seq: number): number => epochMs + Math.floor(first_seq / seqPerMs);

const checkpointMs = ({ name, data }: LoggedEvent): number | undefined =>
  name === 'checkpoint_refs' && isRecord(data) && typeof data['id'] === 'string'
    ? checkpointTimeMs(data['id'])
    : undefined;
