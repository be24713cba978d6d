// The graphs, and what operations on them can be given.
import type { Send } from '@langchain/langgraph';
import { agent, approvals } from './agent-graphs.ts';
import * as basic from './basic-graphs.ts';
import * as nested from './nested-graphs.ts';

export interface GraphCase {
  graph: object;
  /** Of the copy of the engine that has made the graph, if it is another one: the engine takes no other. */
  Send?: typeof Send;
  inputs: readonly unknown[];
  /** Values of updates, and of the updates of commands. */
  updates: readonly unknown[];
  /** For updates as a node, and for `goto`. */
  nodes: readonly string[];
  /** For a `goto` with an input, which adds a task beside the others; by default all nodes. */
  sends?: readonly string[];
  /** What answers interrupts. */
  answers: readonly unknown[];
}

const topics = [{ topic: 'plain' }, { topic: 'other' }, {}];
const logs = [{ log: ['updated'] }, { topic: 'plain', log: 'one' }, { topic: null }];
const words = [{ words: ['updated'] }, { topic: 'plain' }, { words: ['two', 'words'], log: 'one' }];

const state = (graph: object, nodes: string[], more: Partial<GraphCase> = {}): GraphCase => ({
  graph,
  inputs: topics,
  updates: logs,
  nodes,
  answers: ['yes', { text: 'no' }, false, 0, '', null, []],
  ...more,
});

const user = (content: string) => ({ messages: [{ role: 'user', content }] });
const questions = ['plain', 'weather', 'both', 'broken', 'letter', 'mixed'].map(user);
const spoken = [user('updated'), { messages: [{ role: 'assistant', content: 'one' }] }, user('weather')];

export const cases: Record<string, GraphCase> = {
  chain: state(basic.chain, ['first', 'second', 'third']),
  fanOut: state(basic.fanOut, ['plan', 'left', 'middle', 'join']),
  loop: state(basic.loop, ['turn', 'rest'], { updates: [...logs, { count: 1 }] }),
  endless: state(basic.endless, ['again']),
  severalQuestions: state(basic.severalQuestions, ['ask', 'after']),
  parallelQuestions: state(basic.parallelQuestions, ['one', 'two', 'fast', 'join']),
  sends: state(basic.sends, ['plan', 'each', 'reduce']),
  sendQuestions: state(basic.sendQuestions, ['plan', 'each', 'reduce']),
  delta: state(basic.delta, ['speak', 'ask'], { inputs: [...topics, { words: ['given'] }], updates: words }),
  untracked: state(basic.untracked, ['write', 'read', 'ask'], {
    updates: [{ topic: 'plain' }, { note: 'updated' }, { log: ['updated'] }],
  }),
  commands: state(basic.commands, ['route', 'short', 'long']),
  deferred: state(basic.deferred, ['quick', 'slow', 'slower', 'last']),
  failing: state(basic.failing, ['before', 'retried', 'fails', 'beside'], {
    inputs: [...topics, { topic: 'fail' }],
    updates: [...logs, { topic: 'fail' }],
  }),
  messages: state(basic.messages, ['answer', 'ask'], {
    inputs: [
      { messages: [{ role: 'user', content: 'plain' }] },
      { messages: [{ role: 'user', content: 'other', id: 'given' }] },
      { messages: 'text' },
    ],
    updates: [
      { messages: [{ role: 'user', content: 'updated' }] },
      { messages: [{ role: 'user', content: 'replaced', id: 'given' }] },
      {
        messages: {
          role: 'assistant',
          content: 'one',
          tool_calls: [{ name: 'tool', args: { a: 1 }, id: 'call' }],
        },
      },
    ],
  }),
  subgraph: state(nested.subgraph, ['before', 'inner', 'after'], {
    updates: [{ log: ['updated'] }, { topic: 'plain' }],
  }),
  nested: state(nested.nested, ['middle', 'end'], { updates: [{ log: ['updated'] }, { topic: 'plain' }] }),
  memory: state(nested.memory, ['helper', 'end'], {
    updates: [{ log: ['updated'] }, { topic: 'plain' }],
    // Two tasks of a subgraph with a memory would write to one namespace at once: which is last depends on the saver.
    sends: ['end'],
  }),
  parallelSubgraphs: state(nested.parallelSubgraphs, ['left', 'right', 'join']),
  parentCommand: state(nested.parentCommand, ['inner', 'near', 'far']),
  functional: state(nested.functional, ['functional'], { updates: [['saved']] }),
  agent: state(agent.graph, ['counting.before_model', 'model_request', 'tools'], {
    inputs: questions,
    updates: spoken,
  }),
  approvals: state(approvals.graph, ['model_request', 'HumanInTheLoopMiddleware.after_model', 'tools'], {
    inputs: questions,
    updates: spoken,
    answers: [
      { decisions: [{ type: 'approve' }] },
      { decisions: [{ type: 'reject', message: 'not now' }] },
      { decisions: [{ type: 'edit', editedAction: { name: 'send_letter', args: { to: 'Eve' } } }] },
      { decisions: [] },
      'yes',
    ],
  }),
};
