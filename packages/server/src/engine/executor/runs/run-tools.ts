// What the runs of an executor share.
import type { BaseStore } from '@langchain/langgraph-checkpoint';
import type { CheckpointStorage } from '../../../storage/deployment/checkpoints/checkpoints.ts';
import type { RunInputStorage } from '../../../storage/deployment/runs/run-inputs.ts';
import type { ThreadImportStorage } from '../../../storage/deployment/threads/thread-imports.ts';
import type { CommitQueue } from '../../checkpoints/commit-queue.ts';
import type { RecentBlobs } from '../../checkpoints/recent-blobs.ts';
import type { ValueCodec } from '../../codec/value-codec.ts';
import type { FromExecutor } from '../../dispatch/protocol.ts';
import type { OtherLoop } from '../event-loop-monitor.ts';
import type { EventBudget } from '../events/event-budget.ts';
import type { StoreIndex } from '../store/store-index.ts';
import type { MessageTranslator } from '../events/stream-transformers.ts';
import type { GraphRegistry } from '../graphs/graph-registry.ts';
import type { TraceOutbox } from '../tracing/trace-outbox.ts';

/** An urgent message does not wait for the end of the turn of the event loop. */
export type SendToServer = (message: FromExecutor, isUrgent?: boolean) => void;

export interface RunTools {
  graphs: GraphRegistry;
  checkpoints: CheckpointStorage;
  inputs: RunInputStorage;
  queue: CommitQueue;
  recentBlobs: RecentBlobs;
  /** Threads of other servers. */
  imports: ThreadImportStorage;
  /** Bounds the events of all runs of this executor. */
  budget: EventBudget;
  /** The codec of a graph: the values of Python graphs stay texts. */
  codecOf: (graph_id: string | undefined) => ValueCodec;
  /** Translates the messages of one run for its stream transformers. */
  translateMessages: () => MessageTranslator;
  store: BaseStore;
  /** Undefined when items are not searched by meaning. */
  storeIndex: StoreIndex | undefined;
  send: SendToServer;
  /** Undefined without Python graphs. */
  pythonLoop: OtherLoop | undefined;
  /** Undefined when runs are not traced. */
  tracing: { project: string; outbox: TraceOutbox } | undefined;
}
