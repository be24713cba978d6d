// Checks the messages of an executor. An executor runs the code of users, so its messages are not trusted.
import { isAbsolute } from 'node:path';
import { isRecord } from '../../json/is-record.ts';
import type { ItemVectors, RankedItem } from '../../storage/deployment/store/store-vectors.ts';
import type {
  AttemptMessage,
  FlushTrouble,
  FromExecutor,
  LoadReport,
  RunError,
  RunStatus,
} from './protocol.ts';

type Fields = Record<string, unknown>;

const statuses: ReadonlySet<unknown> = new Set<RunStatus>(['success', 'error', 'interrupted', 'timeout']);

const troubles: ReadonlySet<unknown> = new Set<FlushTrouble>(['repeated', 'split', 'failed']);

/** The message; undefined when the value is not a valid message. */
export const parseFromExecutor = (value: unknown): FromExecutor | undefined => {
  if (!isRecord(value)) return undefined;
  if (value['kind'] === 'ready') return { kind: 'ready' };
  if (value['kind'] === 'modules') return areFiles(value['files']) ? (value as FromExecutor) : undefined;
  if (value['kind'] === 'log') return isLogLine(value) ? (value as FromExecutor) : undefined;
  if (value['kind'] === 'flush_trouble')
    return troubles.has(value['trouble']) ? (value as FromExecutor) : undefined;
  if (value['kind'] === 'event_loop') return isEventLoop(value) ? (value as FromExecutor) : undefined;
  if (value['kind'] === 'answer') return isAnswer(value) ? (value as FromExecutor) : undefined;
  return isOfAttempt(value) ? (value as AttemptMessage) : undefined;
};

const areFiles = (files: unknown): boolean =>
  Array.isArray(files) && files.every((file) => typeof file === 'string' && isAbsolute(file));

const isLogLine = ({ line, dropped }: Fields): boolean => typeof line === 'string' && isCount(dropped);

const isAnswer = ({ call, problem }: Fields): boolean =>
  Number.isSafeInteger(call) &&
  (problem === undefined ||
    (isRecord(problem) &&
      typeof problem['code'] === 'string' &&
      typeof problem['message'] === 'string' &&
      (problem['faults'] === undefined ||
        (Array.isArray(problem['faults']) && problem['faults'].every(isFault)))));

const isEventLoop = ({ running, delayMs, utilization, isHeapFull, silentMs }: Fields): boolean =>
  isCount(running) &&
  isDuration(delayMs) &&
  Number.isFinite(utilization) &&
  typeof isHeapFull === 'boolean' &&
  isDuration(silentMs);

const isFault = (value: unknown): boolean =>
  isRecord(value) &&
  Array.isArray(value['loc']) &&
  value['loc'].every((part) => typeof part === 'string' || Number.isSafeInteger(part)) &&
  typeof value['msg'] === 'string' &&
  typeof value['type'] === 'string';

/** The report of an executor that has loaded its graphs; an empty one when the value is none. */
export const parseLoadReport = (value: unknown): LoadReport => {
  const { failures, notices, store_index } = isRecord(value) ? value : {};
  const isFailure = (each: unknown): boolean =>
    isRecord(each) && typeof each['graph_id'] === 'string' && typeof each['message'] === 'string';
  const areValid =
    Array.isArray(failures) &&
    failures.every(isFailure) &&
    Array.isArray(notices) &&
    notices.every((notice) => typeof notice === 'string') &&
    (store_index === undefined || typeof store_index === 'string');
  return areValid ? (value as LoadReport) : { failures: [], notices: [] };
};

/** The vectors of an item, or null; undefined when the value is neither. */
export const parseItemVectors = (value: unknown): ItemVectors | null | undefined => {
  if (value === null) return null;
  if (!isRecord(value)) return undefined;
  const { dims, bytes } = value;
  if (typeof dims !== 'number' || !Number.isSafeInteger(dims) || dims < 1) return undefined;
  return bytes instanceof Uint8Array && bytes.length > 0 && bytes.length % (dims * 4) === 0
    ? { dims, bytes }
    : undefined;
};

/** The items of a ranking; undefined when the value is none. */
export const parseRanking = (value: unknown): RankedItem[] | undefined =>
  Array.isArray(value) && value.every(isRanked) ? (value as RankedItem[]) : undefined;

const isRanked = (value: unknown): boolean =>
  isRecord(value) &&
  Array.isArray(value['namespace']) &&
  value['namespace'].every((label) => typeof label === 'string') &&
  typeof value['key'] === 'string' &&
  Number.isFinite(value['score']);

const isOfAttempt = (fields: Fields): boolean => {
  if (typeof fields['run_id'] !== 'string' || !Number.isSafeInteger(fields['lease_token'])) return false;
  switch (fields['kind']) {
    case 'events':
      return isEvents(fields);
    case 'done':
      return (
        statuses.has(fields['status']) &&
        isValues(fields['values']) &&
        isError(fields['error']) &&
        isStack(fields['stack'])
      );
    case 'aborted':
      return isError(fields['error']);
    case 'log_only':
    case 'graph_ended':
    case 'drained':
      return true;
    case 'lost':
      return typeof fields['message'] === 'string' && typeof fields['isOutage'] === 'boolean';
    default:
      return false;
  }
};

const isEvents = ({ first_id, events, ack }: Fields): boolean =>
  isCount(first_id) && (ack === undefined || isCount(ack)) && Array.isArray(events) && events.every(isEvent);

const isDuration = (value: unknown): boolean => Number.isFinite(value) && (value as number) >= 0;

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

const isEvent = (value: unknown): boolean =>
  Array.isArray(value) && value.length === 2 && typeof value[0] === 'string' && typeof value[1] === 'string';

const isValues = (value: unknown): boolean =>
  value === undefined || value === null || typeof value === 'string';

const isStack = (value: unknown): boolean => value === undefined || typeof value === 'string';

const isError = (value: unknown): value is RunError | null =>
  value === null ||
  (isRecord(value) && typeof value['error'] === 'string' && typeof value['message'] === 'string');
