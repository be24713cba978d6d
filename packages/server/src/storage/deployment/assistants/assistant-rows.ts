export interface AssistantRow {
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

/**
 * Columns that assistants and their versions have: lists read them from both tables. A version has no `updated_at`; its list reads `created_at`
 * instead.
 */
export const assistantColumns = [
  'assistant_id',
  'graph_id',
  'name',
  'description',
  'config',
  'context',
  'metadata',
  'version',
  'created_at',
  'updated_at',
] as const;
