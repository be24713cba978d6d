// `dotted_order`: the path of a trace run from the root of its trace. Its segments consist of start time and id, such as
// `20261121T080000123456Z<uuid>`, and are separated by dots. Sorting by it lists the runs of a trace in the order of the tree.
import { timeMs, toTime } from '../../api/time.ts';

export interface DottedPath {
  /** From the root to the run itself. */
  ids: string[];
  /** Start of the run itself. */
  start_time: string;
}

const segment =
  /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{6})Z([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;
export const pathCharsMax = 65_536;

/** Returns undefined for an invalid path. All letters except T and Z must be in lower case. */
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

/** The segment of a run. `start_time` has the form that `toTime` returns. */
export const segmentOf = (start_time: string, id: string): string => {
  const utc = new Date(timeMs(start_time)).toISOString().slice(0, 20) + start_time.slice(20, 26);
  return `${utc.replaceAll(/[-:.]/g, '')}Z${id}`;
};
