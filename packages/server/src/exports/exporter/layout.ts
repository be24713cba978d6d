// Keys of the files of an export, relative to the prefix of its destination. Every key contains the id of the export and the day of
// the partition, so no two exports and no two partition runs write the same key.
//
// Readers with Hive partitioning turn every folder `key=value` into a column. In layout 1 the folder keys `tenant_id` and `session_id`
// are also columns of the files, and some readers give the two different types: Arrow (pandas.read_parquet) rejects the folder, DuckDB
// replaces the column by the value of the folder. Exports of LangSmith have these folders. In layout 2 no folder key is the name of a column.
import { resolve } from 'node:path';
import type { FormatVersion, LayoutVersion } from '@svc/contract';
import { trimPrefix } from '../../s3/bucket-address.ts';

interface PartitionScope {
  export_id: string;
  tenant_id: string;
  session_id: string;
  format_version: FormatVersion;
  layout_version: LayoutVersion;
  /** Start of the partition: ISO 8601, in UTC. */
  start: string;
}

const exportFolder = (export_id: string): string => `export_id=${export_id}`;

/** Folders for workspace, project and resource in layout 1. In format `v1` the folder of the resource is not `key=value`. */
const layout1Folders = ({ tenant_id, session_id, format_version }: PartitionScope): string[] => [
  `tenant_id=${tenant_id}`,
  `session_id=${session_id}`,
  format_version === 'v1' ? 'runs' : 'resource=runs',
];

export const partitionFolder = (partition: PartitionScope): string => {
  const { export_id, tenant_id, session_id, layout_version, start } = partition;
  const [year, month, day] = start.slice(0, 10).split('-').map(Number);
  return [
    exportFolder(export_id),
    ...(layout_version === 1
      ? layout1Folders(partition)
      : [`workspace=${tenant_id}`, `project=${session_id}`, 'resource=runs']),
    `year=${year}`,
    `month=${month}`,
    `day=${day}`,
  ].join('/');
};

/** `number` counts the files of a partition run from 0. */
export const fileName = (number: number): string => `part-${String(number).padStart(5, '0')}.parquet`;

/** In the folder of the export. Parquet readers ignore files whose names begin with an underscore. */
export const manifestKey = (export_id: string): string => `${exportFolder(export_id)}/_manifest.json`;

interface DestinationConfig {
  destination_type: string;
  config: Readonly<Record<string, unknown>>;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const joined = (...parts: string[]): string => parts.filter((part) => part !== '').join('/');

/** The prefix of all keys in the bucket; empty for a folder. */
export const prefixOf = ({ config }: DestinationConfig): string => trimPrefix(textOf(config['prefix']));

/** Bucket and prefix, or the folder: the beginning of each entry of `exported_files`. Relative paths are resolved against `fileRoot`. */
export const rootOf = (destination: DestinationConfig, fileRoot: string): string =>
  destination.destination_type === 's3'
    ? joined(textOf(destination.config['bucket_name']), prefixOf(destination))
    : resolve(fileRoot, textOf(destination.config['path']));
