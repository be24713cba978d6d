// Graphs of nodes and edges, without subgraphs.
import {
  Annotation,
  Command,
  DeltaChannel,
  END,
  interrupt,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
  StateSchema,
  UntrackedValue,
} from '@langchain/langgraph';
import { AIMessage } from '@langchain/core/messages';
import type { RunnableConfig } from '@langchain/core/runnables';
import * as z from 'zod';
import { asks, logChannel, says, State, step, type Update } from './state.ts';

export const chain = new StateGraph(State)
  .addNode('first', says('first'))
  .addNode('second', says('second'))
  .addNode('third', says('third'))
  .addEdge(START, 'first')
  .addEdge('first', 'second')
  .addEdge('second', 'third')
  .addEdge('third', END)
  .compile();

export const fanOut = new StateGraph(State)
  .addNode('plan', says('plan'))
  .addNode('left', says('left'))
  .addNode('middle', says('middle'))
  .addNode('right', says('right'))
  .addNode('join', says('join'))
  .addEdge(START, 'plan')
  .addEdge('plan', 'left')
  .addEdge('plan', 'middle')
  .addEdge('plan', 'right')
  .addEdge(['left', 'middle', 'right'], 'join')
  .addEdge('join', END)
  .compile();

export const loop = new StateGraph(State)
  .addNode(
    'turn',
    step(({ count }: typeof State.State): Update => ({ log: [`turn ${count}`], count: (count ?? 0) + 1 })),
  )
  .addNode('rest', says('rest'))
  .addEdge(START, 'turn')
  .addConditionalEdges('turn', ({ count }) => ((count ?? 0) % 3 === 0 ? 'rest' : 'turn'), ['turn', 'rest'])
  .addEdge('rest', END)
  .compile();

/** Ends at the recursion limit, unless its topic is plain. */
export const endless = new StateGraph(State)
  .addNode('again', says('again'))
  .addEdge(START, 'again')
  .addConditionalEdges('again', ({ topic }) => (topic === 'plain' ? END : 'again'), ['again', END])
  .compile({ name: 'endless' })
  .withConfig({ recursionLimit: 4 });

export const severalQuestions = new StateGraph(State)
  .addNode('ask', asks('First?', 'Second?'))
  .addNode('after', says('after'))
  .addEdge(START, 'ask')
  .addEdge('ask', 'after')
  .addEdge('after', END)
  .compile();

export const parallelQuestions = new StateGraph(State)
  .addNode('one', asks('One?'))
  .addNode('two', asks('Two?', 'Really?'))
  .addNode('fast', says('fast'))
  .addNode('join', says('join'))
  .addEdge(START, 'one')
  .addEdge(START, 'two')
  .addEdge(START, 'fast')
  .addEdge(['one', 'two', 'fast'], 'join')
  .addEdge('join', END)
  .compile();

interface Part extends Record<string, unknown> {
  part: number;
}

export const sends = new StateGraph(State)
  .addNode('plan', says('plan'))
  .addNode(
    'each',
    step(({ part }: Part): Update => ({ log: [`part ${part}`] })),
  )
  .addNode('reduce', says('reduce'))
  .addEdge(START, 'plan')
  .addConditionalEdges('plan', () => [1, 2, 3].map((part) => new Send('each', { part })), ['each'])
  .addEdge('each', 'reduce')
  .addEdge('reduce', END)
  .compile();

export const sendQuestions = new StateGraph(State)
  .addNode('plan', says('plan'))
  .addNode(
    'each',
    step(({ part }: Part): Update => {
      const answer: unknown = part === 2 ? 'not asked' : interrupt(`Part ${part}?`);
      return { log: [`part ${part}: ${JSON.stringify(answer)}`] };
    }),
  )
  .addNode('reduce', says('reduce'))
  .addEdge(START, 'plan')
  .addConditionalEdges('plan', () => [1, 2, 3].map((part) => new Send('each', { part })), ['each'])
  .addEdge('each', 'reduce')
  .addEdge('reduce', END)
  .compile();

const DeltaState = Annotation.Root({
  log: logChannel(),
  topic: Annotation<string>,
  words: new DeltaChannel(
    ((words: string[] | undefined, writes: string[][]) => (words ?? []).concat(...writes)) as never,
    { snapshotFrequency: 3 },
  ) as never as ReturnType<typeof Annotation<string[]>>,
});

export const delta = new StateGraph(DeltaState)
  .addNode(
    'speak',
    step(({ words, topic }: typeof DeltaState.State) => ({ words: [`${topic} ${words?.length ?? 0}`] })),
  )
  .addNode(
    'ask',
    step(({ topic, words }: typeof DeltaState.State) =>
      topic === 'plain'
        ? { log: [`${words.length} words`] }
        : { words: [`said ${interrupt<string, string>('Ok?')}`] },
    ),
  )
  .addEdge(START, 'speak')
  .addEdge('speak', 'ask')
  .addEdge('ask', END)
  .compile();

const Untracked = new StateSchema({
  log: z.array(z.string()).default([]),
  topic: z.string().optional(),
  note: new UntrackedValue(z.string()),
});

export const untracked = new StateGraph(Untracked)
  .addNode(
    'write',
    step(({ log, topic }: { log: string[]; topic?: string }) => ({
      log: [...log, 'write'],
      note: `note on ${topic}`,
    })),
  )
  .addNode(
    'read',
    step(({ log, note }: { log: string[]; note?: string }) => ({ log: [...log, `read ${note}`] })),
  )
  .addNode(
    'ask',
    step(({ log, note, topic }: { log: string[]; note?: string; topic?: string }) => ({
      log: [
        ...log,
        topic === 'plain' ? 'not asked' : `said ${interrupt<string, string>('Ok?')} with ${note}`,
      ],
    })),
  )
  .addEdge(START, 'write')
  .addEdge('write', 'read')
  .addEdge('read', 'ask')
  .addEdge('ask', END)
  .compile();

export const commands = new StateGraph(State)
  .addNode(
    'route',
    step(
      ({ topic, count }: typeof State.State) =>
        new Command({
          update: { log: [`route ${topic}`], count: (count ?? 0) + 1 },
          goto: topic === 'plain' ? 'short' : ['long', new Send('short', { topic: 'sent', log: [] })],
        }),
    ),
    { ends: ['short', 'long'] },
  )
  .addNode('short', says('short'))
  .addNode(
    'long',
    step(() => new Command({ update: { log: ['long'], topic: 'plain' }, goto: END })),
    { ends: [END] },
  )
  .addEdge(START, 'route')
  .compile();

export const deferred = new StateGraph(State)
  .addNode('quick', says('quick'))
  .addNode('slow', says('slow'))
  .addNode('slower', says('slower'))
  .addNode('last', says('last'), { defer: true })
  .addEdge(START, 'quick')
  .addEdge(START, 'slow')
  .addEdge('slow', 'slower')
  .addEdge('quick', 'last')
  .addEdge('slower', 'last')
  .addEdge('last', END)
  .compile();

/** By the namespace of a task, which is the same in each of its tries. */
const tries = new Map<string, number>();

const taskOf = (config: RunnableConfig): string =>
  `${String(config.configurable?.['thread_id'])} ${String(config.configurable?.['checkpoint_ns'])}`;

export const failing = new StateGraph(State)
  .addNode('before', says('before'))
  .addNode(
    'retried',
    step((_: typeof State.State, config): Update => {
      const count = (tries.get(taskOf(config)) ?? 0) + 1;
      tries.set(taskOf(config), count);
      if (count < 3) throw new Error(`try ${count} failed`);
      return { log: ['retried'] };
    }),
    { retryPolicy: { maxAttempts: 3, initialInterval: 1, jitter: false, logWarning: false } },
  )
  .addNode(
    'fails',
    step(({ topic, log }: typeof State.State): Update => {
      if (topic === 'fail') throw new Error(`failed after ${log.length}`);
      return { log: ['did not fail'] };
    }),
  )
  .addNode('beside', says('beside'))
  .addEdge(START, 'before')
  .addEdge('before', 'retried')
  .addEdge('retried', 'fails')
  .addEdge('retried', 'beside')
  .addEdge('fails', END)
  .addEdge('beside', END)
  .compile();

export const messages = new StateGraph(MessagesAnnotation)
  .addNode(
    'answer',
    step(({ messages: given }: typeof MessagesAnnotation.State) => ({
      messages: [new AIMessage(`${given.length} messages, the last is ${given.at(-1)?.text}`)],
    })),
  )
  .addNode(
    'ask',
    step(({ messages: given }: typeof MessagesAnnotation.State) =>
      given.at(-2)?.text === 'plain'
        ? {}
        : { messages: [{ role: 'assistant', content: `said ${interrupt<string, string>('Ok?')}` }] },
    ),
  )
  .addEdge(START, 'answer')
  .addEdge('answer', 'ask')
  .addEdge('ask', END)
  .compile();
