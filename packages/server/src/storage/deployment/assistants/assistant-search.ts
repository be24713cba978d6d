// Lists of assistants and of their versions.
import type { AnswerLimits } from '../../postgres/answer-limits.ts';
import { type BoundedPage, readPage, readSortedPage, type SortedPage } from '../../postgres/bounded-page.ts';
import type { Database } from '../../postgres/database.ts';
import { containsMetadata, passes, type RowFilter } from '../../postgres/row-filter.ts';
import { count, type Sql, sql } from '../../postgres/sql.ts';
import { assistantColumns, type AssistantRow } from './assistant-rows.ts';

export interface AssistantFilter {
  metadata?: Record<string, unknown> | undefined;
  graph_id?: string | undefined;
  /** A substring of the name, case-insensitive. */
  name?: string | undefined;
  /** Leaves out default assistants of graphs that are not in `graphs` and that no worker has executed within this time. */
  served?: { graphs: readonly string[]; withinMs: number } | undefined;
}

export interface AssistantPage extends SortedPage {
  sort_by: 'assistant_id' | 'graph_id' | 'name' | 'created_at' | 'updated_at';
}

/** Escapes `%` and `_` in a LIKE pattern. */
const literal = (text: string): string => text.replaceAll(/[\\%_]/g, String.raw`\$&`);

const conditions = ({ metadata, graph_id, name, served }: AssistantFilter, access: RowFilter): Sql[] => [
  ...passes(access),
  ...containsMetadata(metadata),
  ...(served
    ? [
        sql`(not is_default or graph_id = any (${[...served.graphs]}::text[])
          or is_graph_served(graph_id, ${served.withinMs} * interval '1 ms'))`,
      ]
    : []),
  ...(graph_id === undefined ? [] : [sql`graph_id = ${graph_id}`]),
  ...(name === undefined || name === '' ? [] : [sql`name ilike ${`%${literal(name)}%`}`]),
];

/** Columns of an assistant in a list; JSON is text. */
const listColumns: Record<string, string> = {
  ...Object.fromEntries(assistantColumns.map((column) => [column, `r.${column}`])),
  config: 'r.config::text',
  context: 'r.context::text',
  metadata: 'r.metadata::text',
};
export const assistantTexts = ['config', 'context', 'metadata'];

/** The selected columns, and the id. */
const listed = (select: readonly string[] | undefined) => {
  const chosen = Object.fromEntries(
    Object.entries(listColumns).filter(
      ([name]) => name === 'assistant_id' || (select?.includes(name) ?? true),
    ),
  );
  return {
    columns: chosen,
    long: ['description', ...assistantTexts].filter((name) => name in chosen),
  };
};

/** An assistant in a list: columns that were not selected are absent, and JSON is text. */
export type ListedAssistant = Pick<AssistantRow, 'assistant_id'> &
  Partial<Record<keyof AssistantRow, unknown>>;

export const assistantSearches = (db: Database, answers: AnswerLimits) => ({
  /** Newest first. */
  versions: (
    assistant_id: string,
    page: { metadata?: object | undefined; limit: number; offset: number },
    access: RowFilter,
  ): Promise<BoundedPage<ListedAssistant>> =>
    readPage(db, {
      keys: {
        text: `select v.assistant_id, v.version from assistant_versions v join assistants a using (assistant_id)
            where v.assistant_id = $1 and a.metadata @@ $5::jsonpath and v.metadata @@ $5::jsonpath
              and ($2::jsonb is null or v.metadata @> $2)
            order by v.version desc limit $3 offset $4`,
        values: [
          assistant_id,
          page.metadata === undefined ? null : JSON.stringify(page.metadata),
          page.limit + 1,
          page.offset,
          access.jsonpath,
        ],
      },
      order: 'k.version desc',
      columns: { ...listColumns, updated_at: 'r.created_at' },
      long: ['description', ...assistantTexts],
      from: 'assistant_versions r',
      where: 'r.assistant_id = k.assistant_id and r.version = k.version',
      limit: page.limit,
      answers,
    }),

  search(
    filter: AssistantFilter,
    page: AssistantPage,
    access: RowFilter,
    select?: readonly string[],
  ): Promise<BoundedPage<ListedAssistant>> {
    const table = { table: 'assistants', id: 'assistant_id', conditions: conditions(filter, access) };
    return readSortedPage(db, table, page, { ...listed(select), answers });
  },

  count: (filter: AssistantFilter, access: RowFilter): Promise<number> =>
    count(db, 'assistants', conditions(filter, access)),
});
