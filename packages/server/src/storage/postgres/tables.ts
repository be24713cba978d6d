// Columns of the tables that are queried through Kysely. Hot statements are written out as SQL beside their noun.
import type { CronRow } from '../deployment/crons.ts';
import type { RunRow } from '../deployment/runs.ts';
import type { ThreadRow } from '../deployment/threads.ts';

export interface AssistantTable {
  assistant_id: string;
  graph_id: string;
  name: string;
  description: string | null;
  config: Record<string, unknown>;
  context: unknown;
  metadata: Record<string, unknown>;
  version: number;
  created_at: string;
  updated_at: string;
}

export interface StoreItemTable {
  namespace: string[];
  key: string;
  value: Record<string, unknown>;
  created_at: string;
  updated_at: string;
  ttl_minutes: number | null;
  expires_at: string | null;
}

export interface Tables {
  assistants: AssistantTable;
  assistant_versions: Omit<AssistantTable, 'updated_at'>;
  crons: CronRow;
  threads: ThreadRow;
  runs: RunRow;
  store_items: StoreItemTable;
}
