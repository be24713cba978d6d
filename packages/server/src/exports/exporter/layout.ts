// Where the files of an export are, below the prefix of its destination. The id of the export in every key keeps exports apart,
// and the day keeps apart the runs of one.
//
// Readers with Hive partitioning make a column of every folder `key=value`. In layout 1 the keys `tenant_id` and `session_id` are
// columns of the files too, and their types differ in some readers: Arrow (pandas.read_parquet) refuses the folder, DuckDB
// replaces the column by the folder's value. In layout 2 no key is the name of a column.
import { resolve } from 'node:path';
import type { FormatVersion, LayoutVersion } from '@svc/contract';
import { trimPrefix } from '../destinations/s3-place.ts';

interface PartitionPlace {
  export_id: string;
  tenant_id: string;
  session_id: string;
  format_version: FormatVersion;
  layout_version: LayoutVersion;
  /** Where the partition begins: ISO 8601, in UTC. */
  start: string;
}

const exportFolder = (export_id: string): string => `export_id=${export_id}`;

/** The folders of layout 1 that name the workspace, the project and what the files hold. In `v1` not all of them are `key=value`. */
const firstFolders = ({ tenant_id, session_id, format_version }: PartitionPlace): string[] => [
  `tenant_id=${tenant_id}`,
  `session_id=${session_id}`,
  format_version === 'v1' ? 'runs' : 'resource=runs',
];

export const partitionFolder = (place: PartitionPlace): string => {
  const { export_id, tenant_id, session_id, layout_version, start } = place;
  const [year, month, day] = start.slice(0, 10).split('-').map(Number);
  return [
    exportFolder(export_id),
    ...(layout_version === 1
      ? firstFolders(place)
      : [`workspace=${tenant_id}`, `project=${session_id}`, 'resource=runs']),
    `year=${year}`,
    `month=${month}`,
    `day=${day}`,
  ].join('/');
};

/** Of a run's file, by its number. */
export const fileName = (number: number): string => `part-${String(number).padStart(5, '0')}.parquet`;

/** Beside the partitions; readers of Parquet pass over what begins with an underscore. */
export const manifestKey = (export_id: string): string => `${exportFolder(export_id)}/_manifest.json`;

interface DestinationPlace {
  destination_type: string;
  config: Readonly<Record<string, unknown>>;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const joined = (...parts: string[]): string => parts.filter((part) => part !== '').join('/');

/** What the keys of a destination are below, within its bucket; a folder has none. */
export const prefixOf = ({ config }: DestinationPlace): string => trimPrefix(textOf(config['prefix']));

/** Bucket and prefix, or the folder: what `exported_files` begin with. A path that is not absolute is below `fileRoot`. */
export const rootOf = (place: DestinationPlace, fileRoot: string): string =>
  place.destination_type === 's3'
    ? joined(textOf(place.config['bucket_name']), prefixOf(place))
    : resolve(fileRoot, textOf(place.config['path']));
