// A graph whose node executes the action that its input names: throw, wait, read its config, return a value that JSON cannot represent.
import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Annotation, START, StateGraph, type LangGraphRunnableConfig } from '@langchain/langgraph';

const State = Annotation.Root({
  do: Annotation<string>,
  ms: Annotation<number>,
  out: Annotation<unknown>,
});

const abortReasons: string[] = [];

const circle = (): unknown => {
  const a: Record<string, unknown> = {};
  a['self'] = a;
  return a;
};

const actions: Record<string, (state: typeof State.State, config: LangGraphRunnableConfig) => unknown> = {
  throw: () => {
    throw new TypeError('the graph failed on purpose');
  },
  bigint: () => 10n,
  circle,
  function: () => () => 1,
  undefined: () => undefined,
  date: () => new Date(0),
  nul: () => 'a\u0000b\ud800',
  sleep: ({ ms }) => new Promise((resolve) => setTimeout(() => resolve('slept'), ms)),
  pid: () => process.pid,
  /** Emits an event after `ms`. */
  write: async ({ ms }, { writer }) => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    writer?.('written');
    return 'wrote';
  },
  /** Creates the file `<out>.begun`, waits until the file `out` exists, and emits an event. */
  writeWhen: async ({ out }, { writer }) => {
    writeFileSync(`${String(out)}.begun`, '');
    while (!existsSync(String(out))) await sleep(10);
    writer?.('written');
    return 'wrote';
  },
  /** Waits until its signal is aborted, and records the reason. */
  waitForAbort: (_, { signal, writer }) =>
    new Promise((_resolve, reject) => {
      writer?.('waiting');
      signal?.addEventListener('abort', () => {
        abortReasons.push(String(signal.reason));
        reject(signal.reason as Error);
      });
    }),
  abortReasons: () => abortReasons.splice(0),
  hang: () => new Promise(() => undefined),
  /** Its first attempt never ends. */
  hangOnce: (_, { metadata }) =>
    metadata?.['run_attempt'] === 1 ? new Promise(() => undefined) : 'continued',
  spin: ({ ms }) => {
    for (const untilMs = performance.now() + ms; performance.now() < untilMs;);
    return 'spun';
  },
  /** Creates the file `<out>.begun`, and blocks the event loop of its executor until the file `out` exists. */
  spinUntil: ({ out }) => {
    writeFileSync(`${String(out)}.begun`, '');
    while (!existsSync(String(out)));
    return 'spun';
  },
  /** Blocks the event loop of its executor for `ms` once its signal is aborted. */
  blockOnAbort: ({ ms }, { signal }) =>
    new Promise(() =>
      signal?.addEventListener('abort', () => {
        for (const untilMs = performance.now() + ms; performance.now() < untilMs;);
      }),
    ),
  exit: () => process.exit(0),
  abort: () => process.abort(),
  hog: () => {
    const kept: unknown[] = [];
    for (;;) kept.push(Array.from({ length: 1_000_000 }, () => ({ n: kept.length })));
  },
  /** Emits `ms` events at once. */
  flood: ({ ms }, { writer }) => {
    for (let at = 0; at < ms; at++) writer?.({ at, text: 'x'.repeat(1_000) });
    return 'flooded';
  },
  /** Emits an event twice, 30 ms apart, and waits in the same turn of the event loop, at most `ms`, until the file `out` exists. */
  emitUntil: async ({ out, ms }, { writer }) => {
    const startMs = performance.now();
    for (const afterMs of [0, 30]) {
      while (performance.now() < startMs + afterMs);
      writer?.({ afterMs });
      // The engine passes an event on in microtasks.
      for (let hop = 0; hop < 1_000; hop++) await Promise.resolve();
    }
    while (!existsSync(String(out)) && performance.now() < startMs + ms) await Promise.resolve();
    return existsSync(String(out)) ? 'read' : 'not read';
  },
  /** Emits an event every few milliseconds; returns how many of them were read. */
  read: async ({ ms }, { writer }) => {
    let read = 0;
    for (let at = 0; at < ms; at++) {
      writer?.({
        get at() {
          read += 1;
          return at;
        },
      });
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return read;
  },
  /** Emits an event every few milliseconds. */
  tick: async ({ ms }, { writer }) => {
    for (let at = 0; at < ms; at++) {
      writer?.({ at });
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return 'ticked';
  },
  /** Emits events; its first attempt then ends its executor. */
  exitOnce: async ({ ms }, { writer, metadata }) => {
    for (let at = 0; at < ms; at++) {
      writer?.({ at });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    if (metadata?.['run_attempt'] === 1) process.exit(1);
    return 'done';
  },
  config: (_, { configurable, metadata, context }: LangGraphRunnableConfig & { context?: unknown }) => ({
    configurable: Object.fromEntries(
      Object.entries(configurable ?? {}).filter(([key]) => !key.startsWith('__')),
    ),
    metadata,
    context,
  }),
  remember: async (_, { store }) => {
    await store?.put(['notes'], 'one', { text: 'from the graph' });
    return (await store?.get(['notes'], 'one'))?.value;
  },
};

export const probe = new StateGraph(State)
  .addNode('act', async (state, config) => ({ out: await actions[state.do]?.(state, config) }))
  .addEdge(START, 'act')
  .compile();
