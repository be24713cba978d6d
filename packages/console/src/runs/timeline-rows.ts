// The timeline of a run as rows in the order of time: waits, attempts and supersteps.
import type { RunTimeline } from '@svc/sdk';
import { runStatusNames } from '../api/statuses.ts';
import { countText } from '../ui/number-text.ts';

export interface TimelineRow {
  key: string;
  kind: 'wait' | 'attempt' | 'step' | 'executing';
  label: string;
  /** More about it, such as why an attempt was lost. */
  note?: string | undefined;
  isFailed?: boolean;
  /** Another run that it waited for. */
  runId?: string | undefined;
  fromMs: number;
  toMs: number;
  /** It goes on. */
  isOpen: boolean;
}

export interface TimelineTable {
  rows: TimelineRow[];
  startMs: number;
  endMs: number;
}

const waitedFor: Record<RunTimeline['waits'][number]['reason'], string> = {
  time: 'Waited for its delay',
  thread: 'Waited for a run of the thread',
  slot: 'Waited for a worker with a free slot',
};

/** In the same millisecond, what comes first. */
const order: Record<TimelineRow['kind'], number> = { wait: 0, attempt: 1, step: 2, executing: 3 };

/** The engine's node that takes over the input. */
const nameOf = (node: string): string => (node === '__start__' ? 'Start' : node);

/** Checkpoints have the time of their worker's clock, and the rest that of the database: an end can be before its start. */
const bounds = (fromMs: number, toMs: number) => ({ fromMs, toMs: Math.max(fromMs, toMs) });

export const toTimelineTable = (timeline: RunTimeline): TimelineTable => {
  const nowMs = Date.parse(timeline.read_at);
  const isCancelled = timeline.status === 'interrupted';
  const span = (from: string, to: string | undefined) => ({
    ...bounds(Date.parse(from), to === undefined ? nowMs : Date.parse(to)),
    isOpen: to === undefined,
  });
  const rows = [
    ...timeline.waits.map(({ reason, from, to, run_id: runId }, at): TimelineRow => ({
      key: `wait ${at}`,
      kind: 'wait',
      label: to === undefined ? waitedFor[reason].replace('Waited', 'Waits') : waitedFor[reason],
      runId,
      ...span(from, to),
    })),
    ...timeline.attempts.map(({ attempt, outcome, from, to, message, charged }, at): TimelineRow => ({
      key: `attempt ${at}`,
      kind: 'attempt',
      label: `Attempt ${attempt}${outcome === 'lost' ? `, lost${charged === false ? ', not charged' : ''}` : ''}`,
      note: message ?? (isCancelled && outcome === 'ended' ? runStatusNames.interrupted : undefined),
      isFailed: outcome === 'lost' || timeline.status === 'error' || timeline.status === 'timeout',
      ...span(from ?? to ?? timeline.created_at, to),
    })),
    ...timeline.steps.map(({ checkpoint_id: key, step, source, nodes, from, to }): TimelineRow => ({
      key,
      kind: 'step',
      label: source === 'input' ? 'Input' : nodes.map(nameOf).join(', ') || (source ?? 'Step'),
      // The input is stored before step 0.
      note: step === null || step < 0 ? undefined : `step ${step}`,
      ...span(from, to),
    })),
    ...executingRows(timeline, nowMs),
  ].toSorted((a, b) => a.fromMs - b.fromMs || order[a.kind] - order[b.kind]);
  const startMs = Math.min(...rows.map(({ fromMs }) => fromMs), Date.parse(timeline.created_at));
  const endMs = Math.max(...rows.map(({ toMs }) => toMs), startMs);
  return { rows, startMs, endMs };
};

/** The part of the whole time as `12 %`. Undefined for an attempt, which contains its steps, and for a run without a length. */
export const shareText = (
  { kind, fromMs, toMs }: TimelineRow,
  { startMs, endMs }: TimelineTable,
): string | undefined => {
  if (kind === 'attempt' || endMs <= startMs) return undefined;
  const percent = ((toMs - fromMs) / (endMs - startMs)) * 100;
  return percent > 0 && percent < 1 ? '< 1 %' : `${Math.round(percent)} %`;
};

/** The step that has not ended, from the last checkpoint or the start of the attempt. `to`: when the run stopped in it. */
export const unfinishedStep = ({
  status,
  steps,
  attempts,
  executing,
  ended_at: to,
}: RunTimeline): { nodes: string[]; since: string; to: string | undefined } | undefined => {
  const times = [steps.at(-1)?.to, attempts.at(-1)?.from].flatMap((time) =>
    time === undefined ? [] : [time],
  );
  const since = times.toSorted().at(-1);
  const hasUnfinished = status === 'running' || executing.length > 0;
  return hasUnfinished && since !== undefined ? { nodes: executing, since, to } : undefined;
};

const executingRows = (timeline: RunTimeline, nowMs: number): TimelineRow[] => {
  const step = unfinishedStep(timeline);
  if (!step) return [];
  const { nodes, since, to } = step;
  const hasFailed = timeline.status === 'error' || timeline.status === 'timeout';
  return [
    {
      key: 'executing',
      kind: 'executing',
      label: nodes.join(', ') || 'Starts',
      note: to === undefined ? 'executes now' : hasFailed ? 'failed here' : 'stopped here',
      isFailed: hasFailed,
      ...bounds(Date.parse(since), to === undefined ? nowMs : Date.parse(to)),
      isOpen: to === undefined,
    },
  ];
};

/** What the timeline leaves out, in one sentence each. */
export const omissions = ({ attempts_omitted: omitted, has_earlier_steps: isCut }: RunTimeline): string[] => [
  ...(omitted > 0 ? [`${countText(omitted, 'more attempt')} ended without a record.`] : []),
  ...(isCut ? ['Only the newest 1,000 steps are shown.'] : []),
];
