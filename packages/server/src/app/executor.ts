// The program of an executor process, which executes the runs of the project's graphs. It holds no leases and serves no HTTP.
import { pathToFileURL } from 'node:url';
import * as documents from '@langchain/core/documents';
import * as messages from '@langchain/core/messages';
import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons';
import * as langgraph from '@langchain/langgraph';
import * as checkpoint from '@langchain/langgraph-checkpoint';
import { exposeEnvironment, processEnvironment } from '../config/environment.ts';
import { LoadedModules } from '../config/project/loaded-modules.ts';
import type { StoreIndexConfig } from '../config/project/store-index.ts';
import { releaseMemoryWhenIdle } from './idle-memory.ts';
import { optimizeEarly } from './process-flags.ts';
import { isPython } from '../config/project/python-modules.ts';
import type { PythonLaunch } from '../config/project/python.ts';
import { createTextCodec } from '../engine/codec/text-codec.ts';
import { createCodec } from '../engine/codec/value-codec.ts';
import type { PythonGraphs } from '../engine/python/python-graphs.ts';
import { retry } from '../backoff.ts';
import { openDatabase, type Database } from '../storage/postgres/database.ts';
import { isUnavailable } from '../storage/postgres/sql-state.ts';
import { MessageEvents } from '../deployment/thread-protocol/translation/message-events.ts';
import { checkpointStorage } from '../storage/deployment/checkpoints/checkpoints.ts';
import { noAnswerLimits } from '../storage/postgres/answer-limits.ts';
import { storeItemStorage } from '../storage/deployment/store/store-items.ts';
import { storeVectorStorage } from '../storage/deployment/store/store-vectors.ts';
import { runInputStorage } from '../storage/deployment/runs/run-inputs.ts';
import { threadImportStorage } from '../storage/deployment/threads/thread-imports.ts';
import { CommitQueue } from '../engine/checkpoints/commit-queue.ts';
import { RecentBlobs } from '../engine/checkpoints/recent-blobs.ts';
import { openParentChannel } from '../jobs/process-channel.ts';
import type { TracingSetup, ExecutorSetup, ToExecutor } from '../engine/dispatch/protocol.ts';
import { Embedder } from '../engine/executor/store/embedder.ts';
import {
  type EmbeddingModel,
  loadEmbeddingModel,
  type PythonEmbedSource,
} from '../engine/executor/store/embedding-model.ts';
import { waitForOperations, keepIndexOfPuts } from '../engine/executor/store/batched-store.ts';
import { StoreIndex } from '../engine/executor/store/store-index.ts';
import { EventBudget } from '../engine/executor/events/event-budget.ts';
import { Executor } from '../engine/executor/executor.ts';
import { GraphRegistry } from '../engine/executor/graphs/graph-registry.ts';
import { OwnAddress } from '../engine/executor/own-address.ts';
import { exposeLogger, exposeServer } from '../engine/executor/server-globals.ts';
import { deferRunTrees } from '../engine/executor/runs/deferred-run-trees.ts';
import type { SendToServer } from '../engine/executor/runs/run-tools.ts';
import { SvcStore } from '../engine/executor/store/svc-store.ts';
import { TraceOutbox } from '../engine/executor/tracing/trace-outbox.ts';
import { LogRateLimit } from '../telemetry/log-rate-limit.ts';
import { linesOf } from '../telemetry/log-lines.ts';
import { createLogger, type Logger } from '../telemetry/logger.ts';

interface Parts {
  send: SendToServer;
  modules: LoadedModules;
  logger: Logger;
  notices: readonly string[];
  address: OwnAddress;
}

const setUp = async (
  setup: ExecutorSetup,
  { send, modules, logger, notices, address }: Parts,
): Promise<Executor> => {
  exposeEnvironment(setup.env);
  exposeLogger(logger);
  exposeServer(address);
  waitForOperations(checkpoint.AsyncBatchedStore);
  deferRunTrees(AsyncLocalStorageProviderSingleton);
  // Before the database is open: the imports of a Python process take most of the start.
  const pythonGraphs = setup.graphs.filter(([, { file }]) => isPython(file));
  const pythonIds = new Set<string | undefined>(pythonGraphs.map(([graph_id]) => graph_id));
  const launch = setup.python && { python: setup.python, ...pythonParts(logger, modules) };
  const python =
    launch && pythonGraphs.length > 0 ? await startPython(launch, pythonGraphs, address) : undefined;
  // An outage ends the leases of runs, and with them their executors. The next ones wait for its end.
  const database = await retry(() => openDatabase(setup.database), {
    when: isUnavailable,
    forMs: Infinity, // the server process ends this one when it stops itself
    onError: (err) => logger.warn({ err }, 'no connection to the database yet, retrying'),
  });
  const checkpoints = checkpointStorage(database);
  const storeIndex =
    setup.storeIndex && openStoreIndex(setup.storeIndex, { database, modules, logger, launch });
  const codec = createCodec({ messages, langgraph, checkpoint, documents });
  const textCodec = createTextCodec();
  return new Executor({
    graphs: new GraphRegistry(new Map(setup.graphs), modules.afterImport, { notices, python }),
    checkpoints,
    inputs: runInputStorage(database),
    queue: new CommitQueue(checkpoints, {
      onTrouble: (trouble) => send({ kind: 'flush_trouble', trouble }),
    }),
    recentBlobs: new RecentBlobs(),
    imports: threadImportStorage(database),
    budget: new EventBudget(),
    codecOf: (graph_id) => (pythonIds.has(graph_id) ? textCodec : codec),
    translateMessages: () => new MessageEvents('javascript'),
    store: new SvcStore(storeItemStorage(database, noAnswerLimits), storeIndex),
    storeIndex,
    send,
    pythonLoop: python?.loop,
    tracing: setup.tracing && (await openTracing(setup.tracing, database, logger)),
  });
};

/** What a Python process of this executor is started with, besides its interpreter. */
const pythonParts = (logger: Logger, modules: LoadedModules) => ({
  env: processEnvironment(),
  logger,
  onModules: (files: string[]) => files.forEach((file) => modules.add(pathToFileURL(file).href)),
});

type PythonOptions = ReturnType<typeof pythonParts> & { python: PythonLaunch };

/** Imports the modules here: an executor without Python graphs starts faster without them. */
const startPython = async (
  launch: PythonOptions,
  graphs: ExecutorSetup['graphs'],
  address: OwnAddress,
): Promise<PythonGraphs> => {
  const { PythonGraphs: Graphs } = await import('../engine/python/python-graphs.ts');
  return new Graphs({
    ...launch,
    sources: Object.fromEntries(graphs),
    address,
    onLost: (reason) => {
      launch.logger.fatal(
        { reason },
        'the Python process of this executor has ended, so the executor ends too',
      );
      process.exit(1);
    },
  });
};

const openStoreIndex = (
  config: StoreIndexConfig,
  {
    database,
    modules,
    logger,
    launch,
  }: { database: Database; modules: LoadedModules; logger: Logger; launch: PythonOptions | undefined },
): StoreIndex => {
  keepIndexOfPuts(checkpoint.AsyncBatchedStore);
  const loadPython = async (source: PythonEmbedSource): Promise<EmbeddingModel> => {
    if (launch === undefined) throw new Error('the project has no Python interpreter');
    // Imported here, because most projects have no such model.
    const { loadPythonEmbeddings } = await import('../engine/python/python-embeddings.ts');
    return loadPythonEmbeddings(source, launch);
  };
  const embedder = new Embedder({
    load: () => loadEmbeddingModel(config, modules.afterImport, loadPython),
    dims: config.dims,
    onError: (err) => logger.error({ err }, 'the embedding function of store.index failed'),
  });
  return new StoreIndex(config, embedder, storeVectorStorage(database));
};

/** Imports the storage of traces here: an executor that stores no traces starts faster without it. */
const openTracing = async ({ project, daysKept }: TracingSetup, database: Database, logger: Logger) => {
  const { ownTraces } = await import('../tracing/traces/own-traces.ts');
  const warn = (text: string): void => logger.warn(text);
  return { project, outbox: new TraceOutbox({ store: ownTraces(database, daysKept, warn), warn }) };
};

const sendLog = (logger: Logger, send: Parts['send']): void => {
  const limit = new LogRateLimit();
  linesOf(logger)?.read((line) => {
    const sent = limit.take(line);
    if (sent) send({ kind: 'log', ...sent });
  });
};

/**
 * Executes commands of the server process until that process ends. Call the returned function with the URL of every module that is
 * loaded.
 * `notices`: what the operator should know of how modules are loaded.
 */
export const startExecutor = (notices: readonly string[]): ((url: string) => void) => {
  let executor: Promise<Executor> | undefined;
  const address = new OwnAddress();

  const begin = (setup: ExecutorSetup): void => {
    const logger = createLogger(setup.log).child({ process: 'executor' });
    if (setup.sendsLog === true) sendLog(logger, send);
    // A promise rejection that a graph does not handle concerns one run: the other runs continue.
    process.on('unhandledRejection', (err) => logger.error({ err }, 'unhandled promise rejection'));
    executor = setUp(setup, { send, modules, logger, notices, address });
    executor.then(
      () => {
        optimizeEarly();
        releaseMemoryWhenIdle();
        send({ kind: 'ready' });
      },
      (err: unknown) => {
        logger.fatal({ err }, 'executor failed to start');
        process.exit(1);
      },
    );
  };

  const channel = openParentChannel({
    onMessage: (value) => {
      const message = value as ToExecutor;
      if (message.kind === 'setup') begin(message.setup);
      else if (message.kind === 'address') address.set(message.url);
      else void executor?.then((ready) => ready.receive(message));
    },
    // The server process has ended.
    onClose: () => process.exit(0),
  });
  const send: SendToServer = (message, isUrgent) => channel.send(message, isUrgent);
  const modules = new LoadedModules((files) => send({ kind: 'modules', files }));
  // The server process decides when executors end. A Ctrl-C in the terminal, or a service manager that signals all processes,
  // reaches the executor too.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => undefined);
  return modules.add;
};
