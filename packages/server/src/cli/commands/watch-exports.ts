// Shows the progress of exports until they end.
import { setTimeout as sleep } from 'node:timers/promises';
import { type BulkExport, ExportError, type PlatformClient } from '@svc/sdk';
import { exitCodes } from '../output/exit-code.ts';
import { liveLines, type Look, plainLine, Screen } from '../output/progress-view.ts';
import { printable } from '../server-address.ts';
import { bytes, plural } from '../output/quantities.ts';

const pollMs = 1_000;
/** Number of looks from which a rate is computed. */
const looksMax = 20;
/** Interval at which a log shows an export without progress. */
const quietMs = 30_000;

export interface WatchOptions {
  client: PlatformClient;
  ids: readonly string[];
  json: boolean;
  /** Standard output. */
  terminal: { isTTY?: boolean; columns?: number; rows?: number; write(text: string): unknown };
}

/** Returns the exit code: all exports completed, one did not, or watching was interrupted. */
export async function watchExports({ client, ids, json, terminal }: WatchOptions): Promise<number> {
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  process.on('SIGINT', onSignal);
  const view = json ? undefined : terminal.isTTY === true ? new LiveView(terminal) : new PlainView(terminal);
  try {
    const ended = await Promise.all(ids.map((id) => watchOne(client, id, stop.signal, view)));
    view?.end();
    if (json) terminal.write(`${JSON.stringify(ended.length === 1 ? ended[0] : ended, null, 2)}\n`);
    else for (const one of ended) terminal.write(await outcomeOf(client, one));
    return ended.every(({ status }) => status.toUpperCase() === 'COMPLETED')
      ? exitCodes.done
      : exitCodes.exportFailed;
  } catch (error) {
    view?.end();
    if (!stop.signal.aborted) throw error;
    const what = ids.length === 1 ? 'The export continues' : 'The exports continue';
    process.stderr.write(
      `${what}. Watch: svc exports watch ${ids.join(' ')}\nStop: svc exports cancel <id>\n`,
    );
    return exitCodes.interrupted;
  } finally {
    process.off('SIGINT', onSignal);
    stop.abort();
  }
}

const watchOne = async (
  client: PlatformClient,
  id: string,
  signal: AbortSignal,
  view: View | undefined,
): Promise<BulkExport> => {
  const looks: Look[] = [];
  for (;;) {
    const found = await look(client, id, signal);
    const isOver = !['CREATED', 'RUNNING'].includes(found.status.toUpperCase());
    const runs =
      isOver || view === undefined
        ? []
        : await client.exports.runs(id, { status: ['CREATED', 'RUNNING'], limit: 1_000 }, { signal });
    looks.push({ atMs: Date.now(), found, retried: runs.filter((run) => run.retry_number > 0) });
    if (looks.length > looksMax) looks.shift();
    view?.show(id, looks);
    if (isOver) return found;
    await sleep(pollMs, undefined, { signal });
  }
};

/** Reads the export once. Waits while the server is unreachable. */
const look = async (client: PlatformClient, id: string, signal: AbortSignal): Promise<BulkExport> => {
  let found: BulkExport | undefined;
  const first = new AbortController();
  try {
    return await client.exports.waitFor(id, {
      signal: AbortSignal.any([signal, first.signal]),
      pollMs,
      onProgress: (one) => ((found = one), first.abort()),
    });
  } catch (error) {
    if (error instanceof ExportError) return error.export;
    if (found !== undefined && !signal.aborted) return found;
    throw error;
  }
};

interface View {
  show(id: string, looks: readonly Look[]): void;
  end(): void;
}

class LiveView implements View {
  readonly #screen: Screen;
  readonly #looks = new Map<string, readonly Look[]>();

  constructor(terminal: WatchOptions['terminal']) {
    this.#screen = new Screen(terminal);
  }

  show(id: string, looks: readonly Look[]): void {
    this.#looks.set(id, looks);
    this.#screen.draw([...this.#looks.values()].flatMap((each) => liveLines(each, Date.now())));
  }

  end(): void {
    this.#screen.leave();
  }
}

class PlainView implements View {
  readonly #terminal: WatchOptions['terminal'];
  readonly #said = new Map<string, { what: string; atMs: number }>();

  constructor(terminal: WatchOptions['terminal']) {
    this.#terminal = terminal;
  }

  show(id: string, looks: readonly Look[]): void {
    const last = looks.at(-1);
    if (last === undefined) return;
    const { status, progress } = last.found;
    const what = `${status} ${Math.floor(progress.percent / 10)} ${progress.runs_completed} ${last.retried.length}`;
    const said = this.#said.get(id);
    if (said?.what === what && last.atMs - said.atMs < quietMs) return;
    this.#said.set(id, { what, atMs: last.atMs });
    this.#terminal.write(`${plainLine(looks)}\n`);
    for (const run of last.retried) {
      const reason = printable(run.errors?.[`retry_${run.retry_number - 1}`] ?? '');
      this.#terminal.write(
        `  ${run.metadata.start_time.slice(0, 10)}: attempt ${run.progress.attempt}: ${reason}\n`,
      );
    }
  }

  end(): void {
    this.#said.clear();
  }
}

/** The result of an export, and the place of its files. */
const outcomeOf = async (client: PlatformClient, ended: BulkExport): Promise<string> => {
  const { rows_written, files, bytes_written } = ended.progress;
  const status = ended.status.toUpperCase();
  const head = `${ended.id} ${status}: ${plural(rows_written, 'row')} in ${plural(files, 'file')}, ${bytes(bytes_written)}\n`;
  const reason = ended.error === null ? '' : `  ${printable(ended.error)}\n`;
  if (status === 'INTERVALSCHEDULED') return `${ended.id} is a schedule, which does not end\n`;
  const place = files > 0 ? await placeOf(client, ended) : undefined;
  if (place === undefined) return head + reason;
  const how =
    status === 'COMPLETED' && place.startsWith('/')
      ? `Read:  duckdb -c "select count(*) from '${place}/**/*.parquet'"\n`
      : '';
  return `${head}${reason}Files: ${printable(place)}\n${how}`;
};

/** The folder of the export, in a bucket or on the server. */
const placeOf = async (client: PlatformClient, { id }: BulkExport): Promise<string | undefined> => {
  const runs = await client.exports.runs(id, {
    status: ['COMPLETED', 'RUNNING', 'FAILED', 'CANCELLED', 'TIMEDOUT'],
    limit: 1_000,
  });
  const path = runs.find((run) => run.metadata.result !== null)?.metadata.result?.export_path;
  const folder = path?.slice(0, path.indexOf(`export_id=${id}`) + `export_id=${id}`.length);
  if (folder === undefined) return undefined;
  return folder.startsWith('/') ? folder : `s3://${folder}`;
};
