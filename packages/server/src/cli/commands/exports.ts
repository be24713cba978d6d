// svc exports: uses the platform API of a running server.
import type { BulkExport, ExportEvent, ExportRun, NewExport, PlatformClient } from '@svc/sdk';
import { destinationId, folderDestination } from './destinations.ts';
import { type FlagValues, textOf } from '../flags.ts';
import { connect, isId } from '../platform-api.ts';
import { mistake, printable } from '../server-address.ts';
import { bytes, count, plural } from '../output/quantities.ts';
import { printTable } from '../output/table.ts';
import { exportId } from '../output/short-id.ts';
import { watchExports } from './watch-exports.ts';

/** Limit of the API. */
const eventPageMax = 1_000;

export async function createExport(values: FlagValues): Promise<void> {
  const body = await toBody(values);
  const { client } = connect(values);
  const named = await refer(client, values);
  const made = await client.exports.create({ ...body, ...named } as NewExport);
  const isJson = values['json'] === true;
  if (values['watch'] === true) {
    if (!isJson) console.error(`Export ${made.id} of ${plural(made.progress.runs_total, 'export run')}`);
    process.exitCode = await watchExports({ client, ids: [made.id], json: isJson, terminal: process.stdout });
  } else if (isJson) console.log(JSON.stringify(made, null, 2));
  else {
    console.error(
      made.interval_hours === null
        ? `Export of ${plural(made.progress.runs_total, 'export run')}. Watch: svc exports watch ${made.id}`
        : `Schedule: an export every ${made.interval_hours} h, the next at ${made.next_export_at}`,
    );
    if (made.notice !== null) console.error(made.notice);
    console.log(made.id);
  }
}

/** The request without project and destination. It is validated before the first request to the server. */
const toBody = async (values: FlagValues): Promise<Record<string, unknown>> => {
  const every = textOf(values, 'every');
  if (every !== undefined && !/^\d{1,3}$/.test(every))
    throw mistake('--every', every, 'Give whole hours, 1 to 168.');
  if (every !== undefined && values['watch'] === true)
    throw mistake(
      '--watch',
      'with --every',
      'A schedule does not end: leave it out, and watch the exports that it makes.',
    );
  if (every !== undefined && values['to'] !== undefined)
    throw mistake('--to', textOf(values, 'to'), 'A schedule has no end: leave it out, or --every.');
  const nowMs = Date.now();
  const time = (name: string, fallback?: string): string => {
    const text = textOf(values, name) ?? fallback;
    const found = text === undefined ? undefined : readTime(text, nowMs);
    if (found === undefined)
      throw mistake(
        `--${name}`,
        text,
        'Give a day (2026-11-01), a time (2026-11-01T12:00:00Z), now, or how long ago (36h, 7d).',
      );
    return found;
  };
  const fields = textOf(values, 'fields')
    ?.split(',')
    .map((field) => field.trim());
  return {
    start_time: time('from'),
    ...(every === undefined ? { end_time: time('to', 'now') } : { interval_hours: Number(every) }),
    filter: textOf(values, 'filter'),
    export_fields: fields,
    format_version: textOf(values, 'formatVersion'),
    compression: textOf(values, 'compression'),
  };
};

const refer = async (client: PlatformClient, values: FlagValues): Promise<Record<string, string>> => {
  const project = textOf(values, 'project') ?? '';
  const [destination, folder] = [textOf(values, 'destination'), textOf(values, 'folder')];
  if ((destination === undefined) === (folder === undefined))
    throw mistake('--destination', destination, 'Give either a destination, or a folder with --folder.');
  const session_id = isId(project) ? project : (await client.projects.list({ name: project }))[0]?.id;
  if (session_id === undefined)
    throw new Error(`There is no project with the name ${printable(project)}; its first trace creates it`);
  const bulk_export_destination_id =
    folder === undefined
      ? await destinationId(client, destination ?? '')
      : (await folderDestination(client, folder)).id;
  return { session_id, bulk_export_destination_id };
};

export async function listExports(values: FlagValues): Promise<void> {
  const { client } = connect(values);
  const [status, schedule, limit] = ['status', 'schedule', 'limit'].map((name) => textOf(values, name));
  if (limit !== undefined && !/^\d+$/.test(limit))
    throw mistake('--limit', limit, 'Give a number, 1 to 1000.');
  const exports = await client.exports.list({
    limit: Number(limit ?? 20),
    ...(status === undefined ? {} : { status }),
    ...(schedule === undefined ? {} : { source_bulk_export_id: await exportId(client, schedule) }),
  });
  if (values['json'] === true) return console.log(JSON.stringify(exports, null, 2));
  printTable(
    ['id', 'status', 'done', 'runs', 'rows', 'files', 'from', 'to', 'made'],
    exports.map((one) => [
      one.id,
      one.status,
      one.interval_hours === null ? `${Math.floor(one.progress.percent)} %` : `every ${one.interval_hours} h`,
      `${one.progress.runs_completed}/${one.progress.runs_total}`,
      count(one.progress.rows_written),
      count(one.progress.files),
      short(one.start_time),
      one.end_time === null ? '' : short(one.end_time),
      short(one.created_at),
    ]),
  );
}

const short = (time: string): string => time.slice(0, 16).replace('T', ' ').replace(' 00:00', '');

export async function showExport(named: string, values: FlagValues): Promise<void> {
  const { client } = connect(values);
  const id = await exportId(client, named);
  const [found, runs] = await Promise.all([client.exports.get(id), client.exports.runs(id)]);
  const events = await eventsOf(client, id);
  if (values['json'] === true) return console.log(JSON.stringify({ ...found, runs, events }, null, 2));
  for (const [name, value] of factsOf(found)) console.log(`${name.padEnd(13)}${value}`);
  console.log('');
  printTable(
    ['partition', 'status', 'done', 'attempt', 'rows', 'files', 'bytes', 'error'],
    runs.map(toCells),
  );
  if (events.length > 0) console.log('');
  for (const { at, type, message } of events.slice(-20))
    console.log(`${at}  ${type.padEnd(13)} ${printable(message)}`);
}

/** All events: the last ones report the result. */
const eventsOf = async (client: PlatformClient, id: string): Promise<ExportEvent[]> => {
  const events: ExportEvent[] = [];
  for (;;) {
    const page = await client.exports.events(id, { after: events.at(-1)?.id ?? 0, limit: eventPageMax });
    events.push(...page);
    if (page.length < eventPageMax) return events;
  }
};

const factsOf = (found: BulkExport): [string, string][] =>
  (
    [
      ['export', found.id],
      ['status', `${found.status}${found.error === null ? '' : `: ${printable(found.error)}`}`],
      ['window', `${found.start_time} to ${found.end_time ?? 'further on'}`],
      [
        'schedule',
        found.interval_hours === null
          ? null
          : `every ${found.interval_hours} h, next at ${found.next_export_at}`,
      ],
      ['of schedule', found.source_bulk_export_id],
      ['filter', found.filter],
      ['format', `Parquet ${found.format_version}, ${found.compression}`],
      ['fields', found.export_fields?.join(', ') ?? null],
      [
        'written',
        `${plural(found.progress.rows_written, 'row')}, ${plural(found.progress.files, 'file')}, ${bytes(found.progress.bytes_written)}`,
      ],
      ['made', found.created_at],
      ['began', found.started_at],
      ['ended', found.finished_at],
    ] as [string, string | null][]
  ).filter((fact): fact is [string, string] => fact[1] !== null);

const toCells = (run: ExportRun): string[] => [
  short(run.metadata.start_time),
  run.status,
  `${Math.floor(run.progress.percent)} %`,
  String(run.progress.attempt),
  count(run.progress.rows_written),
  count(run.progress.files),
  bytes(run.progress.bytes_written),
  printable(Object.values(run.errors ?? {}).at(-1) ?? ''),
];

export async function watch(named: string[], values: FlagValues): Promise<void> {
  const { client } = connect(values);
  const found =
    named.length > 0
      ? await Promise.all(named.map((one) => watchedId(client, one)))
      : (await client.exports.list({ status: ['CREATED', 'RUNNING'], limit: 100 })).map(({ id }) => id);
  if (found.length === 0) return console.error('No export is under way.');
  process.exitCode = await watchExports({
    client,
    ids: found,
    json: values['json'] === true,
    terminal: process.stdout,
  });
}

/** Fails at once when the server is unreachable or the id is unknown. Later polls of watch wait for the server. */
const watchedId = async (client: PlatformClient, named: string): Promise<string> => {
  const { id, status } = await client.exports.get(await exportId(client, named));
  if (status.toUpperCase() === 'INTERVALSCHEDULED')
    throw mistake(
      'id',
      named,
      'It is a schedule and never ends. Watch one of its exports (svc exports list --schedule <id>).',
    );
  return id;
};

export async function cancelExport(named: string, values: FlagValues): Promise<void> {
  const { client } = connect(values);
  const cancelled = await client.exports.cancel(await exportId(client, named));
  if (values['json'] === true) return console.log(JSON.stringify(cancelled, null, 2));
  console.log(`Export ${cancelled.id} is cancelled, for good. What it has written stays.`);
}

// Reads times of flags: ISO 8601, a day (its start in UTC), `now`, or a duration before now (`36h`, `7d`).

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 } as const;

/** Returns ISO 8601, or undefined when the text is not a time. */
export const readTime = (text: string, nowMs: number): string | undefined => {
  if (text === 'now') return new Date(nowMs).toISOString();
  const ago = /^(\d{1,6})([mhdw])$/.exec(text);
  if (ago) return new Date(nowMs - Number(ago[1]) * unitMs[ago[2] as keyof typeof unitMs]).toISOString();
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text;
  const isZoned = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(time);
  return isZoned && !Number.isNaN(Date.parse(time)) ? time : undefined;
};
