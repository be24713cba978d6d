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
  /** The engine cannot read it. */
  isUnreadable?: true;
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
  const isShown = ([key, value]: [string, unknown]): boolean =>
    key === 'content' || !(isEmpty(value) || (key === 'example' && value === false));
  return Object.fromEntries(Object.entries(message).filter(isShown));
};

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

const isMessage = (value: Fields): boolean => messageTypes.has(value['type']) && 'content' in value;

/** Deep agents store when they wrote a file. */
const timePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** Plain JSON with messages in their common form, and without times. */
export const common = (value: unknown): unknown => {
  if (typeof value === 'string') return timePattern.test(value) ? 'a time' : value;
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

/** Ids differ on both sides, because they contain the time or are derived from one that does. */
const idPattern = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b/g;

const isGenerated = (id: unknown): boolean => typeof id === 'string' && id.replaceAll(idPattern, '') === '';

const withoutGeneratedIds = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutGeneratedIds);
  if (!isFields(value)) return value;
  const hasNoId = isMessage(value) && isGenerated(value['id']);
  const kept = Object.entries(value).filter(([key]) => !(hasNoId && key === 'id'));
  return Object.fromEntries(kept.map(([key, part]) => [key, withoutGeneratedIds(part)]));
};

/**
 * The state of an event, without generated ids of messages in the results of tasks: the engine adds them to these messages when it applies them,
 * which may be before or after it reports them.
 */
export const withoutResultIds = (state: SeenState): SeenState => ({
  ...state,
  tasks: state.tasks.map((task) => ({ ...task, result: withoutGeneratedIds(task.result) })),
});

/** The state without what its tasks have written. */
export const withoutWrites = (state: SeenState): SeenState => ({
  ...state,
  tasks: state.tasks.map((task) => ({ ...task, error: null, interrupts: [], result: null })),
});

/**
 * The value with the ancestors of each state as its only parents. A run at a checkpoint of a subgraph names the graphs around that checkpoint as parents
 * of all checkpoints that it makes. The attempt after a kill continues from the newest checkpoint, and does not.
 */
export const withAncestors = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withAncestors);
  if (!isFields(value)) return value;
  const fields = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withAncestors(part)]));
  if (!isState(fields)) return fields;
  const { metadata, namespace } = fields;
  const isAncestor = ([ns]: [string, unknown]): boolean =>
    namespace !== '' && (ns === '' || namespace.startsWith(`${ns}|`));
  const parents = Object.fromEntries(Object.entries(metadata.parents ?? {}).filter(isAncestor));
  return { ...fields, metadata: { ...metadata, parents } };
};

/** Whether the engine has aborted the task of the subgraph with this namespace, or one around it, because another task has failed. */
const abortedIn = (events: readonly SeenEvent[]): ((namespace: string) => boolean) => {
  const subgraphs = events.flatMap(({ mode, namespace, data }) => {
    if (mode !== 'tasks') return [];
    const { id, name, error } = data as { id: string; name: string; error?: { name: string } | null };
    if (error?.name !== 'AbortError') return [];
    const path = namespace === '' ? name : `${namespace}|${name}`;
    // The namespace of a subgraph with a memory of its own has no id.
    return [path, `${path}:${id}`];
  });
  return (namespace) => subgraphs.some((ns) => namespace === ns || namespace.startsWith(`${ns}|`));
};

/** The events of subgraphs that the engine has aborted, and the others. */
export const splitAborted = (events: readonly SeenEvent[]): { aborted: SeenEvent[]; others: SeenEvent[] } => {
  const isAborted = abortedIn(events);
  return {
    aborted: events.filter(({ namespace }) => isAborted(namespace)),
    others: events.filter(({ namespace }) => !isAborted(namespace)),
  };
};

interface NamedEvents {
  events: readonly SeenEvent[];
  names: Names;
}

/** The first events of each namespace, as many as both sides have. */
export const commonStarts = (server: NamedEvents, engine: NamedEvents): Sides<SeenEvent[]> => {
  const startOf = ({ events, names }: NamedEvents, others: NamedEvents): SeenEvent[] => {
    const left = countBy(others.events, ({ namespace }) => others.names.known(namespace));
    return events.filter(({ namespace }) => {
      const name = names.known(namespace);
      const count = left.get(name) ?? 0;
      left.set(name, count - 1);
      return count > 0;
    });
  };
  return { server: startOf(server, engine), engine: startOf(engine, server) };
};

const countBy = <T>(all: readonly T[], keyOf: (one: T) => string): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const one of all) counts.set(keyOf(one), (counts.get(keyOf(one)) ?? 0) + 1);
  return counts;
};

const newId = 'new at each read';

/**
 * What the engine has read, with a mark in place of the ids that differ at its next read: it gives them to the messages of writes without ids that it
 * applies while it reads. The server shows one id, or what the task has written (docs/compatibility.md).
 */
export const markNewIds = <T>(read: T, next: unknown): T => {
  const marked = (one: unknown, other: unknown): unknown => {
    if (!isFields(one) || !isFields(other)) return one;
    if (Array.isArray(one)) return one.map((part, index) => marked(part, other[index]));
    const fields = Object.entries(one).map(([key, part]) => [key, marked(part, other[key])]);
    const isNew = isMessage(one) && isGenerated(one['id']) && one['id'] !== other['id'];
    return { ...Object.fromEntries(fields), ...(isNew ? { id: newId } : {}) };
  };
  return marked(read, next) as T;
};

/**
 * Both sides without the differences that are allowed at the same place:
 * - ids that the engine makes anew at each read;
 * - the values and tasks of a checkpoint that the engine cannot read;
 * - the parents of checkpoints, as `parents` returns them.
 */
export const aligned = (server: unknown, engine: unknown, parents: Parents): Sides<unknown> => {
  if (!isFields(server) || !isFields(engine)) return { server, engine };
  const keys = [...new Set([...Object.keys(server), ...Object.keys(engine)])];
  const parts = keys.map((key) => [key, aligned(server[key], engine[key], parents)] as const);
  const sideOf = (side: 'server' | 'engine', of: Fields): Fields => {
    const present = parts.flatMap(([key, part]) => (key in of ? [[key, part[side]] as const] : []));
    return Array.isArray(of) ? (present.map(([, part]) => part) as never) : Object.fromEntries(present);
  };
  const both = { server: sideOf('server', server), engine: sideOf('engine', engine) };
  if (
    isMessage(engine) &&
    engine['id'] === newId &&
    (server['id'] === undefined || isGenerated(server['id']))
  )
    return { ...both, server: { ...both.server, id: newId } };
  if (!isState(server) || !isState(engine)) return both;
  const { values, next, tasks, isUnreadable } = engine;
  const parent = parents({ server, engine });
  return {
    server: {
      ...both.server,
      parent: parent.server,
      ...(isUnreadable ? { values, next, tasks, isUnreadable } : {}),
    },
    engine: { ...both.engine, parent: parent.engine },
  };
};

export interface Sides<T> {
  server: T;
  engine: T;
}

/** Returns the parents to be compared of the same checkpoint on both sides. */
export type Parents = (states: Sides<SeenState>) => Sides<string | null>;

const isState = (value: unknown): value is SeenState =>
  isFields(value) && 'checkpoint' in value && 'parent' in value && 'tasks' in value;

/** Names ids in the order in which they appear; the same id keeps its name in the whole sequence. */
export class Names {
  readonly #names = new Map<string, string>();
  readonly #ids: string[] = [];

  /** The value with names instead of ids. */
  name<T>(value: T): T {
    const text = JSON.stringify(value) ?? 'null';
    return JSON.parse(text.replaceAll(idPattern, (id) => this.#nameOf(id))) as T;
  }

  /** The name of an id that has one. */
  find(id: string | null): string | undefined {
    return id === null ? undefined : this.#names.get(id);
  }

  /** The value as text, with the names of the ids that have one. */
  known(value: unknown): string {
    return JSON.stringify(value).replaceAll(idPattern, (id) => this.#names.get(id) ?? '#');
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

export const withoutIds = (value: unknown): string => JSON.stringify(value).replaceAll(idPattern, '#');

const compareTexts = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/**
 * Sorts by the text of the keys without ids. Tasks that ask the same question differ in their ids only. Their starts come in one order, which names
 * the ids, and what has the same text later is sorted by these names.
 */
const inOrder = <T, R>(
  all: readonly T[],
  names: Names,
  { keyOf, resultOf }: { keyOf: (one: T) => unknown; resultOf: (one: T) => R },
): R[] => {
  const byText = new Map<string, T[]>();
  for (const one of all) {
    const text = withoutIds(keyOf(one));
    byText.set(text, [...(byText.get(text) ?? []), one]);
  }
  const nameOf = (one: T): string => names.known(keyOf(one));
  return [...byText]
    .toSorted(([one], [other]) => compareTexts(one, other))
    .flatMap(([, same]) => {
      const ordered = same.toSorted((a, b) => compareTexts(nameOf(a), nameOf(b)));
      names.name(ordered.map(keyOf));
      return ordered.map(resultOf);
    });
};

/** Also the `values` that a task emits when it asks: they have its question only. */
const isOfTask = ({ mode, data }: SeenEvent): boolean =>
  mode === 'updates' ||
  mode === 'tasks' ||
  (mode === 'values' && typeof data === 'object' && data !== null && '__interrupt__' in data);

/** Tasks of a step run at the same time: which ends first depends on the saver, so their events are sorted. */
const sortedTasks = (events: SeenEvent[], names: Names): SeenEvent[] => {
  const sorted: SeenEvent[] = [];
  let ofTasks: SeenEvent[] = [];
  const flush = (): void => {
    sorted.push(...inOrder(ofTasks, names, { keyOf: (event) => event, resultOf: (event) => event }));
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
export const byNamespace = (events: SeenEvent[], names: Names): SeenEvent[][] => {
  const groups = new Map<string, SeenEvent[]>();
  for (const event of events) groups.set(event.namespace, [...(groups.get(event.namespace) ?? []), event]);
  return inOrder([...groups], names, {
    keyOf: ([namespace]) => namespace,
    resultOf: ([, group]) => sortedTasks(group, names),
  });
};

/** Metadata of a task is that of its run, which has other keys on the server (docs/compatibility.md). */
const taskData = (task: unknown): unknown => {
  const { metadata: _, ...rest } = task as Fields;
  return 'result' in rest ? { ...rest, result: withoutGeneratedIds(rest['result']) } : rest;
};

/**
 * The data of an event as JSON. The engine adds ids to the messages of a result when it applies it, which may be before or after it reports
 * it as a task or update.
 */
export const eventData = (mode: string, data: unknown): unknown =>
  mode === 'tasks' ? taskData(data) : mode === 'updates' ? withoutGeneratedIds(data) : data;
