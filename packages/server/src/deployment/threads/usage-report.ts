import type { ThreadStorageReport } from '@svc/contract';
import type { ThreadUsage } from '../../storage/deployment/threads/thread-usage.ts';

/** What `GET /threads/{id}/storage` returns. */
export const usageReport = (thread_id: string, usage: ThreadUsage): ThreadStorageReport => ({
  thread_id,
  total_bytes: usage.checkpoint_bytes + usage.values_bytes + usage.writes_bytes,
  checkpoints: { count: usage.checkpoints, bytes: usage.checkpoint_bytes },
  channel_values: {
    count: usage.values,
    bytes: usage.values_bytes,
    by_channel: Object.fromEntries(usage.channels.map(({ channel, ...of }) => [channel, of])),
  },
  pending_writes: { count: usage.writes, bytes: usage.writes_bytes },
});
