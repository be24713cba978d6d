import type { runReadRoutes } from '@svc/contract';
import { type Call, type Handlers, RawBytes, RawJson, type Reply } from '../../api/handlers.ts';
import { pageReply } from '../../api/pagination.ts';
import { readerOf } from './attachment-service.ts';
import type { TraceRunPage } from './run-page.ts';
import { dayAgo, type RunReadService } from './run-read-service.ts';

export const runReadHandlers = (runs: RunReadService): Handlers<typeof runReadRoutes> => ({
  querySelectedRuns: async ({ body }, call) => {
    const { project_ids, ids, trace_id, max_start_time, selects, cursor, page_size } = body;
    const isNamed = ids !== undefined || trace_id !== undefined;
    const selection = {
      session: project_ids,
      id: ids,
      trace: trace_id,
      run_type: body.run_type?.toLowerCase(),
      is_root: body.is_root,
      error: body.has_error,
      reference_example: body.reference_examples,
      start_time: body.min_start_time ?? (isNamed ? undefined : dayAgo()),
      end_time: max_start_time,
      filter: body.filter,
      trace_filter: body.trace_filter,
      tree_filter: body.tree_filter,
    };
    const page = { selects, cursor, page_size, withTotals: body.include_subtree_usage === true };
    return asRequested(await runs.query(readerOf(call), selection, page), call);
  },

  getSelectedRun: async ({ params, query }, call) =>
    new RawJson(await runs.get(readerOf(call), params.id, query.project_id, query.selects)),

  queryTraces: async ({ body }, call) => {
    const { project_id, trace_ids, max_start_time, trace_filter, tree_filter } = body;
    const selection = {
      session: [project_id],
      id: trace_ids,
      start_time: body.min_start_time ?? (trace_ids === undefined ? dayAgo() : undefined),
      end_time: max_start_time,
      filter: trace_filter,
      filter_name: 'trace_filter',
      tree_filter,
    };
    return asRequested(await runs.traces(readerOf(call), selection, body), call);
  },

  listTraceRuns: async ({ params, query }, call) => {
    const { project_id, filter, min_start_time, max_start_time } = query;
    const selection = {
      session: [project_id],
      trace: params.trace_id,
      filter,
      start_time: min_start_time,
      end_time: max_start_time,
    };
    const { text, isCut } = await runs.ofTrace(readerOf(call), selection, query);
    return pageReply(new RawJson(text), { hasMore: false, isCut });
  },
});

/** The page as JSON, or as the events of the client's streaming methods: a JSON Patch that adds it at the root, and the end. */
export const asRequested = ({ text, isCut }: TraceRunPage, call: Call): Reply<RawJson | RawBytes> => {
  const isStream = call.header('accept')?.toLowerCase().includes('text/event-stream') === true;
  const body = isStream ? new RawBytes('text/event-stream', Buffer.from(asEvents(text))) : new RawJson(text);
  return pageReply(body, { hasMore: false, isCut });
};

/** Payloads are JSON as it was sent, possibly with newlines between its tokens, which would end the event's data. */
const asEvents = (text: string): string => {
  const patch = `[{"op":"add","path":"","value":${text.replaceAll(/[\r\n]/g, ' ')}}]`;
  return `event: data\ndata: ${patch}\n\nevent: end\ndata: {}\n\n`;
};
