// The path of a run in its trace, from the root down: segments of start time and id, such as `20261121T080000123456Z<uuid>`,
// with dots between. It sorts the runs of a trace as a tree.
import { timeMs, toTime } from './time.ts';

export interface DottedPath {
  /** From the root to the run itself. */
  ids: string[];
  /** When the run started. */
  start_time: string;
}

const segment =
  /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{6})Z([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;
export const pathCharsMax = 65_536;

/** Undefined for what is no such path. The text must be in lower case, save T and Z. */
export const parseDottedOrder = (text: string): DottedPath | undefined => {
  if (text.length > pathCharsMax) return undefined;
  const ids: string[] = [];
  let start_time: string | undefined;
  for (const part of text.split('.')) {
    const match = segment.exec(part);
    if (!match) return undefined;
    const [, year, month, day, hour, minute, second, micros, id = ''] = match;
    start_time = toTime(`${year}-${month}-${day}T${hour}:${minute}:${second}.${micros}Z`);
    if (start_time === undefined) return undefined;
    ids.push(id);
  }
  return start_time === undefined ? undefined : { ids, start_time };
};

/** The segment of a run that started then, at a time as `toTime` returns it. */
export const segmentOf = (start_time: string, id: string): string => {
  const utc = new Date(timeMs(start_time)).toISOString().slice(0, 20) + start_time.slice(20, 26);
  return `${utc.replaceAll(/[-:.]/g, '')}Z${id}`;
};
