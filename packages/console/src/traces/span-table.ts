// A trace as flat rows in the order of its tree, so that a list can show any part of 10,000 spans without a walk.
import type { RunTree, TraceRun } from '@svc/sdk';

/** A trace run without payloads, as the tree of a trace has it. */
export type TreeRun = Pick<
  TraceRun,
  'id' | 'name' | 'run_type' | 'status' | 'start_time' | 'end_time' | 'error' | 'total_tokens' | 'total_cost'
>;

export interface Span {
  run: TreeRun;
  depth: number;
  /** Index of the parent; -1 at the top. */
  parent: number;
  /** The index after the last descendant. */
  end: number;
  /** Milliseconds since 1970. A span without a start has that of its parent. */
  startMs: number;
  /** Now, while the span is pending. */
  endMs: number;
  /** Of the span, or of all below it where it has none of its own. */
  tokens: number | null;
  /** In dollars, as `tokens`. */
  cost: number | null;
}

export interface SpanTable {
  spans: readonly Span[];
  startMs: number;
  endMs: number;
}

type Node = TreeRun & { child_runs: Node[] };

/** Not recursive, because a deep trace would overflow the stack. */
export const toSpanTable = (tree: Pick<RunTree, 'runs'>, nowMs: number): SpanTable => {
  const spans: Span[] = [];
  const open: { nodes: readonly Node[]; at: number; parent: number }[] = [
    { nodes: tree.runs as unknown as Node[], at: 0, parent: -1 },
  ];
  for (let level = open.at(-1); level !== undefined; level = open.at(-1)) {
    const node = level.nodes[level.at++];
    if (node === undefined) {
      open.pop();
      const parent = spans[level.parent];
      if (parent) parent.end = spans.length;
      continue;
    }
    const above = spans[level.parent];
    const startMs = node.start_time === null ? (above?.startMs ?? nowMs) : Date.parse(node.start_time);
    const endMs = node.end_time === null ? endOfOpen(node, startMs, nowMs) : Date.parse(node.end_time);
    spans.push({
      run: node,
      depth: open.length - 1,
      parent: level.parent,
      end: spans.length + 1,
      startMs,
      endMs: Math.max(startMs, endMs),
      tokens: node.total_tokens,
      cost: node.total_cost === null ? null : Number(node.total_cost),
    });
    open.push({ nodes: node.child_runs, at: 0, parent: spans.length - 1 });
  }
  addSums(spans);
  return { spans, ...spanOf(spans) };
};

/** Children are behind their parent, so the sum of a span is complete when its turn comes. */
const addSums = (spans: readonly Span[]): void => {
  for (const name of ['tokens', 'cost'] as const) {
    const below = new Map<number, number>();
    for (let index = spans.length - 1; index >= 0; index--) {
      const span = spans[index];
      if (!span) continue;
      span[name] ??= below.get(index) ?? null;
      if (span[name] !== null) below.set(span.parent, (below.get(span.parent) ?? 0) + span[name]);
    }
  }
};

const endOfOpen = (run: TreeRun, startMs: number, nowMs: number): number =>
  run.status === 'pending' ? nowMs : startMs;

const spanOf = (spans: readonly Span[]): { startMs: number; endMs: number } => {
  let startMs = Infinity;
  let endMs = -Infinity;
  for (const span of spans) {
    startMs = Math.min(startMs, span.startMs);
    endMs = Math.max(endMs, span.endMs);
  }
  return spans.length === 0 ? { startMs: 0, endMs: 0 } : { startMs, endMs };
};

export const hasChildren = (span: Span, index: number): boolean => span.end > index + 1;

/** Indices of the rows that are shown: closed spans hide their descendants. */
export const visibleRows = ({ spans }: SpanTable, closed: ReadonlySet<string>): number[] => {
  const rows: number[] = [];
  for (let index = 0; index < spans.length;) {
    const span = spans[index];
    if (!span) break;
    rows.push(index);
    index = closed.has(span.run.id) ? span.end : index + 1;
  }
  return rows;
};

/** Indices of all spans that contain the text in their name, type or error, and the indices of the ancestors of these spans. */
export const matchingRows = (
  { spans }: SpanTable,
  text: string,
): { rows: number[]; matches: ReadonlySet<number> } => {
  const wanted = text.toLowerCase();
  const matches = new Set<number>();
  const shown = new Set<number>();
  for (const [index, { run }] of spans.entries()) {
    if (![run.name, run.run_type, run.error].some((one) => one?.toLowerCase().includes(wanted))) continue;
    matches.add(index);
    for (let at = index; at >= 0 && !shown.has(at); at = spans[at]?.parent ?? -1) shown.add(at);
  }
  return { rows: [...shown].toSorted((a, b) => a - b), matches };
};

/** The next span with an error after an index, from the start again after the last one. */
export const nextError = ({ spans }: SpanTable, after: number): number | undefined => {
  const isError = ({ run }: Span): boolean => run.status === 'error';
  const later = spans.findIndex((span, index) => index > after && isError(span));
  const found = later >= 0 ? later : spans.findIndex(isError);
  return found >= 0 ? found : undefined;
};

/** The ids of all ancestors of a span. */
export const ancestorsOf = ({ spans }: SpanTable, index: number): string[] => {
  const ids: string[] = [];
  for (let at = spans[index]?.parent ?? -1; at >= 0; at = spans[at]?.parent ?? -1)
    ids.push(spans[at]?.run.id ?? '');
  return ids;
};
