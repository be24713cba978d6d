// Runs that appear while somebody looks at older ones: they are counted, and come into the list when the user requests them.
import { useCallback, useMemo, useRef, useState, type UIEvent } from 'react';
import type { RunSummary } from '@svc/sdk';
import { metadataOf } from '../app/metadata-filter.ts';
import type { ListMeta } from '../live/patch-runs.ts';
import { withinSpan } from '../plots/time-span.ts';
import { endedWithin, problemOf, type RunFilter } from './run-filter.ts';

/** Pixels below the beginning of the list from which on it is not moved. */
const topPx = 40;

export interface NewRuns {
  count: number;
  meta: ListMeta;
  /** True while the list must not move: somebody reads older runs, or it is long. */
  isHeld: boolean;
  /** Called with whether the list is long. */
  noteLong: (isLong: boolean) => void;
  onScroll: (event: UIEvent<HTMLElement>) => void;
  /** The list was read again. */
  clear: () => void;
}

/** False for runs that the filter surely leaves out. The graph of a run is known to the server only. */
export const canContain = (filter: RunFilter, run: RunSummary, nowMs: number): boolean => {
  if (problemOf(filter) !== undefined) return false;
  const { status, thread, meta } = filter;
  const { fromMs = -Infinity, toMs = Infinity } = withinSpan(filter, nowMs);
  const createdMs = Date.parse(run.created_at);
  return (
    (status === undefined || status.includes(run.status)) &&
    (thread === undefined || thread === run.thread_id) &&
    createdMs >= fromMs &&
    createdMs < toMs &&
    canHaveEnded(filter, run) &&
    Object.entries(metadataOf(meta) ?? {}).every(
      ([key, value]) => JSON.stringify(run.metadata[key]) === JSON.stringify(value),
    )
  );
};

/** Runs that have not ended match no range of ends. */
const canHaveEnded = (filter: RunFilter, { ended_at: end }: RunSummary): boolean => {
  const { fromMs, toMs } = endedWithin(filter);
  if (fromMs === undefined && toMs === undefined) return true;
  const endMs = Date.parse(end ?? '');
  return endMs >= (fromMs ?? -Infinity) && endMs < (toMs ?? Infinity);
};

export const useNewRuns = (filter: RunFilter): NewRuns => {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [isHeld, setHeld] = useState(false);
  const reasons = useRef({ isScrolled: false, isLong: false });
  const held = useRef(false);
  const filterText = JSON.stringify(filter);
  const [shown, setShown] = useState(filterText);
  // Another list has other new runs.
  if (shown !== filterText) {
    setShown(filterText);
    setIds(new Set());
  }
  const meta = useMemo((): ListMeta => {
    const asked = JSON.parse(filterText) as RunFilter;
    return {
      canContain: (run) => canContain(asked, run, Date.now()),
      isHeld: () => held.current,
      onNew: ({ run_id: id }) => setIds((before) => (before.has(id) ? before : new Set([...before, id]))),
    };
  }, [filterText]);
  const hold = useCallback((changed: Partial<typeof reasons.current>) => {
    reasons.current = { ...reasons.current, ...changed };
    held.current = reasons.current.isScrolled || reasons.current.isLong;
    setHeld(held.current);
  }, []);
  const onScroll = useCallback(
    ({ currentTarget }: UIEvent<HTMLElement>) => hold({ isScrolled: currentTarget.scrollTop > topPx }),
    [hold],
  );
  const noteLong = useCallback((isLong: boolean) => hold({ isLong }), [hold]);
  const clear = useCallback(() => setIds((before) => (before.size === 0 ? before : new Set())), []);
  return { count: ids.size, meta, isHeld, noteLong, onScroll, clear };
};
