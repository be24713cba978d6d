import type { Owner } from '../../storage/deployment/checkpoints/checkpoint-rows.ts';
import type { ValueCodec } from '../codec/value-codec.ts';
import type { Committer } from './commit-queue.ts';
import type { RecentBlobs } from './recent-blobs.ts';

export interface SessionOptions {
  owner: Owner;
  thread_id: string;
  blob_space: string;
  /** The root head when the session began; null for a thread without checkpoints; undefined when not known. */
  head: string | null | undefined;
  run_id: string | null;
  /** Added to the metadata of every checkpoint: graph_id, assistant_id, and the run's metadata. */
  metadata: Record<string, unknown>;
  /** Whether a put waits for its flush. */
  sync: boolean;
  /** Stores everything together with the end: nothing is stored before. */
  isAtomic?: boolean;
  committer: Committer;
  codec: ValueCodec;
  /** Shared by the sessions of an executor. */
  recent: RecentBlobs;
  /** Called once when a flush that no caller awaits has failed. */
  onFailure: (error: Error) => void;
}
