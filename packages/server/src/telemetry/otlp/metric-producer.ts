// Converts the metrics of /metrics to those of OpenTelemetry. They keep their names, and have no unit, which receivers would append to the
// names: dashboards and alerts work with both.
import { type HrTime, ValueType } from '@opentelemetry/api';
import { millisToHrTime } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { MetricSnapshot } from '../metrics.ts';
import type { TelemetrySources } from '../server-telemetry.ts';
import type { FailureLog } from './failure-log.ts';

type Labels = MetricSnapshot['values'][number]['labels'];

interface Period {
  startTime: HrTime;
  endTime: HrTime;
}

export const metricProducer = ({
  resource,
  version,
  readMetrics,
  failures,
}: { resource: Resource; failures: FailureLog } & Pick<
  TelemetrySources,
  'version' | 'readMetrics'
>): MetricProducer => {
  const startTime = millisToHrTime(Date.now());
  return {
    collect: async () => {
      let snapshots: MetricSnapshot[];
      try {
        snapshots = await readMetrics();
      } catch (error) {
        failures.report(error);
        throw error;
      }
      const period = { startTime, endTime: millisToHrTime(Date.now()) };
      const metrics = snapshots.flatMap((snapshot) => toMetric(snapshot, period) ?? []);
      return {
        resourceMetrics: { resource, scopeMetrics: [{ scope: { name: 'svc', version }, metrics }] },
        errors: [],
      };
    },
  };
};

/** Undefined for a type that no metric of the server has. */
export const toMetric = (
  { name, help, type, values }: MetricSnapshot,
  period: Period,
): MetricData | undefined => {
  const common = {
    descriptor: { name, description: help, unit: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const points = (): DataPoint<number>[] =>
    values.map(({ value, labels }) => ({ ...period, attributes: attributesOf(labels), value }));
  switch (type) {
    case 'counter':
      return { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points() };
    case 'gauge':
      return { ...common, dataPointType: DataPointType.GAUGE, dataPoints: points() };
    case 'histogram': {
      const dataPoints = histogramsOf(name, values).map((point) => ({ ...period, ...point }));
      return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints };
    }
    case 'summary':
      return undefined;
  }
};

const attributesOf = (labels: Labels): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).map(([key, value]) => [key, String(value)]));

interface Point {
  attributes: Record<string, string>;
  value: Histogram;
}

/** Buckets of Prometheus contain the smaller ones; those of OpenTelemetry do not. */
const histogramsOf = (name: string, values: MetricSnapshot['values']): Point[] => {
  const points = new Map<string, Point>();
  const below = new Map<Point, number>();
  for (const { value, labels, metricName } of values) {
    const { le, ...others } = labels;
    const attributes = attributesOf(others);
    const key = JSON.stringify(attributes);
    const point = points.get(key) ?? {
      attributes,
      value: { buckets: { boundaries: [], counts: [] }, sum: 0, count: 0 },
    };
    points.set(key, point);
    const { buckets } = point.value;
    if (metricName === `${name}_sum`) point.value.sum = value;
    else if (metricName === `${name}_count`) point.value.count = value;
    else {
      if (le !== '+Inf') buckets.boundaries.push(Number(le));
      buckets.counts.push(value - (below.get(point) ?? 0));
      below.set(point, value);
    }
  }
  return [...points.values()];
};
