// What is compared: a form that the answers of the engine and of the server have in common.

type Fields = Record<string, unknown>;

/** A state, or a task in it, with its subgraphs. */
export interface SeenTask {
  id: string;
  name: string;
  path: unknown;
  error: string | null;
  interrupts: unknown;
  result: unknown;
  /** The state of a subgraph, or its namespace. */
  subgraph: SeenState | string | null;
}

export interface SeenState {
  values: unknown;
  next: unknown;
  tasks: SeenTask[];
  metadata: { source: unknown; step: unknown; parents: unknown };
  namespace: string;
  checkpoint: string | null;
  parent: string | null;
}

export interface SeenEvent {
  namespace: string;
  mode: string;
  data: unknown;
}

export interface Outcome {
  /** The message of the error by which an operation has failed. */
  error: string | null;
  events: SeenEvent[];
}

const messageTypes: ReadonlySet<unknown> = new Set(['human', 'ai', 'system', 'tool', 'remove']);

const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  (Array.isArray(value) && value.length === 0) ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/**
 * The server gives messages all fields of their type, with null, false or an empty list for those that have no value
 * (docs/compatibility.md), so these are left out on both sides.
 */
const withoutEmptyFields = (message: Fields): Fields => {
  const { example: _, ...fields } = message;
  return Object.fromEntries(
    Object.entries(fields).filter(([key, value]) => key === 'content' || !isEmpty(value)),
  );
};

const isMessage = (value: Fields): boolean => messageTypes.has(value['type']) && 'content' in value;

/** Plain JSON with messages in their common form. */
export const common = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(common);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, common(part)]));
  return isMessage(fields) ? withoutEmptyFields(fields) : fields;
};

/**
 * Tasks of a state are sorted: the engine has another order while it runs than when it reads the state later. Sends to the same node are
 * distinguished by their paths.
 */
export const byName = (a: SeenTask, b: SeenTask): number => {
  const [one, other] = [`${a.name} ${withoutIds(a.path)}`, `${b.name} ${withoutIds(b.path)}`];
  return one < other ? -1 : one > other ? 1 : 0;
};

/** The state without the parents of checkpoints, which are null on the server once they are deleted. */
export const withoutParents = (state: SeenState): SeenState => ({
  ...state,
  parent: null,
  tasks: state.tasks.map((task) => ({
    ...task,
    subgraph:
      typeof task.subgraph === 'object' && task.subgraph ? withoutParents(task.subgraph) : task.subgraph,
  })),
});

/** Ids differ on both sides, because they contain the time or are derived from one that does. */
const idPattern = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b/g;

/**
 * The result of a task in a state, without generated ids of messages. When the engine reads a state with the writes of finished tasks, their
 * messages get new ids at each read; the server shows what the task has written (docs/compatibility.md).
 */
export const resultIn = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(resultIn);
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Fields;
  const isGenerated = isMessage(fields) && String(fields['id']).replaceAll(idPattern, '') === '';
  const kept = Object.entries(fields).filter(([key]) => !(isGenerated && key === 'id'));
  return Object.fromEntries(kept.map(([key, part]) => [key, resultIn(part)]));
};

/** Names ids in the order in which they appear; the same id keeps its name in the whole sequence. */
export class Names {
  readonly #names = new Map<string, string>();
  readonly #ids: string[] = [];

  /** The value with names instead of ids. */
  name<T>(value: T): T {
    const text = JSON.stringify(value) ?? 'null';
    return JSON.parse(text.replaceAll(idPattern, (id) => this.#nameOf(id))) as T;
  }

  /** The id that has this name. */
  idOf(name: string): string | undefined {
    return this.#ids[Number(name.slice(1))];
  }

  #nameOf(id: string): string {
    const known = this.#names.get(id);
    if (known !== undefined) return known;
    const name = `#${this.#ids.length}`;
    this.#ids.push(id);
    this.#names.set(id, name);
    return name;
  }
}

const withoutIds = (value: unknown): string => JSON.stringify(value).replaceAll(idPattern, '#');

const byText = (a: unknown, b: unknown): number => {
  const [one, other] = [withoutIds(a), withoutIds(b)];
  return one < other ? -1 : one > other ? 1 : 0;
};

/** Also the `values` that a task emits when it asks: they have its question only. */
const isOfTask = ({ mode, data }: SeenEvent): boolean =>
  mode === 'updates' ||
  mode === 'tasks' ||
  (mode === 'values' && typeof data === 'object' && data !== null && '__interrupt__' in data);

/** Tasks of a step run at the same time: which ends first depends on the saver, so their events are sorted. */
const sortedTasks = (events: SeenEvent[]): SeenEvent[] => {
  const sorted: SeenEvent[] = [];
  let ofTasks: SeenEvent[] = [];
  const flush = (): void => {
    sorted.push(...ofTasks.toSorted(byText));
    ofTasks = [];
  };
  for (const event of events) {
    if (isOfTask(event)) ofTasks.push(event);
    else {
      flush();
      sorted.push(event);
    }
  }
  flush();
  return sorted;
};

/**
 * Graphs that run at the same time interleave their events by how long the saver takes, so events are compared by
 * namespace. Within one namespace their order counts.
 */
export const byNamespace = (events: SeenEvent[]): SeenEvent[][] => {
  const groups = new Map<string, SeenEvent[]>();
  for (const event of events) groups.set(event.namespace, [...(groups.get(event.namespace) ?? []), event]);
  return [...groups.values()].map(sortedTasks).toSorted(byText);
};

/** As many of the events as there are of `others`. */
export const earliest = (events: SeenEvent[], others: SeenEvent[]): SeenEvent[] =>
  events.slice(0, others.length);

/** Metadata of a task is that of its run, which has other keys on the server (docs/compatibility.md). */
export const withoutMetadata = (task: unknown): unknown => {
  const { metadata: _, ...rest } = task as Fields;
  return rest;
};
