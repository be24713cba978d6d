// Entry of an executor process. It runs the users' graphs; it holds no leases and answers no HTTP.
import * as documents from '@langchain/core/documents';
import * as messages from '@langchain/core/messages';
import * as langgraph from '@langchain/langgraph';
import * as checkpoint from '@langchain/langgraph-checkpoint';
import { ownTraces } from '../tracing/traces/own-traces.ts';
import { createCodec } from '../engine/codec/value-codec.ts';
import { openDatabase, type Database } from '../storage/postgres/database.ts';
import { checkpointStorage } from '../storage/deployment/checkpoints.ts';
import { noAnswerLimits } from '../storage/postgres/answer-limits.ts';
import { storeItemStorage } from '../storage/deployment/store-items.ts';
import { CommitQueue } from '../engine/checkpoints/commit-queue.ts';
import { openParentChannel } from '../jobs/process-channel.ts';
import type { TracingSetup, ExecutorSetup, FromExecutor, ToExecutor } from '../engine/dispatch/protocol.ts';
import { EventBudget } from '../engine/executor/event-budget.ts';
import { Executor } from '../engine/executor/executor.ts';
import { GraphRegistry } from '../engine/executor/graph-registry.ts';
import { SvcStore } from '../engine/executor/svc-store.ts';
import { TraceOutbox } from '../engine/executor/trace-outbox.ts';

const setUp = async (setup: ExecutorSetup, send: (message: FromExecutor) => void): Promise<Executor> => {
  for (const [name, value] of Object.entries(setup.env)) process.env[name] ??= value;
  const database = await openDatabase(setup.database);
  const checkpoints = checkpointStorage(database);
  return new Executor({
    graphs: new GraphRegistry(new Map(setup.graphs)),
    checkpoints,
    queue: new CommitQueue(checkpoints),
    budget: new EventBudget(),
    codec: createCodec({ messages, langgraph, checkpoint, documents }),
    store: new SvcStore(storeItemStorage(database, noAnswerLimits)),
    send,
    tracing: setup.tracing && openTracing(setup.tracing, database),
  });
};

const openTracing = ({ project, daysKept }: TracingSetup, database: Database) => {
  const warn = (text: string): void => void process.stderr.write(`executor: ${text}\n`);
  return { project, outbox: new TraceOutbox({ store: ownTraces(database, daysKept, warn), warn }) };
};

/** Executes runs for the server process that started this one, until that process ends. */
export const serveRuns = (): void => {
  let executor: Promise<Executor> | undefined;

  const receive = (message: ToExecutor): void => {
    if (message.kind !== 'setup') return void executor?.then((ready) => ready.receive(message));
    executor = setUp(message.setup, (reply) => channel.send(reply));
    executor.then(
      () => channel.send({ kind: 'ready' }),
      (error: unknown) => {
        process.stderr.write(`executor: ${String(error)}\n`);
        process.exit(1);
      },
    );
  };

  const channel = openParentChannel({
    onMessage: (message) => receive(message as ToExecutor),
    // The server process has ended.
    onClose: () => process.exit(0),
  });

  // A promise that a graph forgot, or that the engine awaits only when the run ends, must not end the other runs.
  process.on('unhandledRejection', (reason) => {
    process.stderr.write(`executor: unhandled promise rejection: ${String(reason)}\n`);
  });
  // The server process decides when executors end. A Ctrl-C in the terminal, or a service manager that signals all
  // processes, reaches executors too.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => undefined);
};
