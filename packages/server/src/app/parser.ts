// The program of a parser thread: executes one task after the other for the main thread.
import { parentPort } from 'node:worker_threads';
import { extract, match, missingOf, readValue, render } from '../deployment/threads/state-rendering.ts';
import { ingestTask } from '../tracing/ingest/ingest-task.ts';
import { buffersOf } from '../parsing/byte-blocks.ts';
import { garbageCollector } from '../parsing/collect-garbage.ts';
import { textBytes } from '../parsing/json-bytes.ts';
import { readJsonBody } from '../parsing/json-task.ts';
import { fromProblemData, type FromThread, toProblemData, type ToThread } from '../parsing/tasks.ts';
import type { ParserTasks } from './parser-tasks.ts';

type Ask = (question: unknown, transfer?: ArrayBuffer[]) => Promise<unknown>;

/** The output, and the buffers that are transferred with it. */
interface Done {
  output: unknown;
  transfer: ArrayBuffer[];
}

const tasks: {
  [N in keyof ParserTasks]: (input: ParserTasks[N]['input'], ask: Ask) => Promise<Done> | Done;
} = {
  json: (input) => ({ output: readJsonBody(input), transfer: [] }),
  states: (input) => {
    const output = render(input, textBytes);
    return { output, transfer: output.flatMap(({ blocks }) => buffersOf(blocks)) };
  },
  match: (input) => ({ output: match(input), transfer: [] }),
  extract: (input) => ({ output: extract(input), transfer: [] }),
  missing: (input) => ({ output: missingOf(input), transfer: [] }),
  value: (input) => ({ output: readValue(input), transfer: [] }),
  ingest: ingestTask,
};

const port = parentPort;
if (!port) throw new Error('This program must run in a worker thread');

let onReply: ((reply: Extract<ToThread, { kind: 'reply' }>) => void) | undefined;

const send = (message: FromThread, transfer: ArrayBuffer[] = []): void => port.postMessage(message, transfer);

const ask: Ask = (question, transfer) =>
  new Promise((resolve, reject) => {
    onReply = ({ value, problem }) => (problem ? reject(fromProblemData(problem)) : resolve(value));
    send({ kind: 'ask', question }, transfer);
  });

// An idle thread would keep the garbage of its last task.
const collectGarbage = garbageCollector({ bytesMin: 8_388_608, timeShareMax: 1 });

const run = async (name: keyof ParserTasks, input: unknown): Promise<void> => {
  try {
    const { output, transfer } = await tasks[name](input as never, ask);
    send({ kind: 'done', output }, transfer);
  } catch (error) {
    send({ kind: 'done', problem: toProblemData(error) });
  }
};

port.on('message', (message: ToThread) => {
  // Collected in a later turn of the event loop, when the task's own values are garbage.
  if (message.kind === 'reply') return onReply?.(message);
  const { name, input } = message;
  message.input = undefined; // it would be kept until the next message
  void run(name as keyof ParserTasks, input).then(() => setImmediate(collectGarbage));
});
