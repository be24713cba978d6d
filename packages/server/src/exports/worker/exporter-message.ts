// Checks the messages of an exporter before the server process acts on them.
import { fallbackReasons } from '../../storage/replica/fallback.ts';
import type { ExportOutcome, FromExporter } from '../exporter/exporter-protocol.ts';

type Fields = Record<string, unknown>;

/** Returns undefined when the value is not a valid message. */
export const parseFromExporter = (value: unknown): FromExporter | undefined => {
  if (!isObject(value)) return undefined;
  switch (value['kind']) {
    case 'ready':
      return { kind: 'ready' };
    case 'file':
      return ['rows', 'bytes', 'raw_bytes'].every((name) => Number.isFinite(value[name]))
        ? (value as FromExporter)
        : undefined;
    case 'replica':
      return Number.isFinite(value['reads']) && (value['fallback'] === null || isReason(value['fallback']))
        ? (value as FromExporter)
        : undefined;
    case 'outcome':
      return isOutcome(value['outcome']) ? (value as FromExporter) : undefined;
    default:
      return undefined;
  }
};

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

const reasons: ReadonlySet<unknown> = new Set(fallbackReasons);

const isReason = (value: unknown): boolean => reasons.has(value);

const withoutDetail: ReadonlySet<unknown> = new Set<ExportOutcome['kind']>(['done', 'fenced', 'stopped']);

const isOutcome = (outcome: unknown): boolean =>
  isObject(outcome) &&
  (withoutDetail.has(outcome['kind']) ||
    (outcome['kind'] === 'failed' &&
      ['cause', 'message', 'detail'].every((name) => typeof outcome[name] === 'string')));
