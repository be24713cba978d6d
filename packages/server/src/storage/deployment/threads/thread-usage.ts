// How many bytes a thread occupies, and which channels cause them. Blobs that a thread shares with its copies count for each of them.
import type { Database } from '../../postgres/database.ts';
import type { RowFilter } from '../../postgres/row-filter.ts';
import { isRecordedSql, recordedRefs } from '../checkpoints/recorded-state.ts';
import { readStatement } from '../../postgres/statement.ts';

/** `versions`: the different values that the channel has had. */
export interface ChannelUsage {
  channel: string;
  versions: number;
  bytes: number;
}

/** Blobs that several channels share count once in `values_bytes`, and for each channel in `channels`. */
export interface ThreadUsage {
  checkpoints: number;
  checkpoint_bytes: number;
  values: number;
  values_bytes: number;
  writes: number;
  writes_bytes: number;
  channels: ChannelUsage[];
}

/** The channels with the most bytes that are returned. */
const channelsMax = 1_000;

// A reference is `=<json>`, `#<hash>` or `[<hash>,<hash>` (engine/codec/blob.ts).
const hashes = (ref: string): string =>
  `case when left(${ref}, 1) in ('#', '[') then string_to_array(substr(${ref}, 2), ',')::uuid[] else '{}' end`;

export const usage = readStatement<ThreadUsage>(`with recursive thread as (
      select t.thread_id, t.blob_space from threads t where t.thread_id = $1 and t.metadata @@ $2::jsonpath
    ), versions as materialized (
      select distinct e.key as channel, e.value as ref
      from thread t join checkpoints c on c.thread_id = t.thread_id cross join lateral json_each_text(c.channels::json) e
      union
      select e.key, e.value
      from thread t join checkpoint_writes w on w.thread_id = t.thread_id and ${isRecordedSql('w')}
      cross join lateral (values (${recordedRefs('w')} -> 'base'), (${recordedRefs('w')} -> 'head' -> 'values')) r (refs)
      cross join lateral json_each_text(r.refs) e
    ), writes as materialized (
      select w.ref, octet_length(w.ref) + octet_length(w.channel) + octet_length(w.task_id) as bytes
      from thread t join checkpoint_writes w on w.thread_id = t.thread_id and not ${isRecordedSql('w')}
    ), reached (channel, hash) as (
      select v.channel, h.hash from versions v cross join lateral unnest(${hashes('v.ref')}) as h(hash)
      union
      select null, h.hash from writes w cross join lateral unnest(${hashes('w.ref')}) as h(hash)
      union
      select r.channel, h.hash from reached r cross join thread t
      join blobs b on b.space = t.blob_space and b.hash = r.hash
      cross join lateral unnest(b.refs) as h(hash)
    ), sizes as materialized (
      select b.hash, coalesce(octet_length(b.payload), 0) + 16 * coalesce(cardinality(b.refs), 0) + 16 as bytes
      from (select distinct r.hash from reached r) d cross join thread t
      join blobs b on b.space = t.blob_space and b.hash = d.hash
    ), blob_bytes as (
      select r.channel, sum(s.bytes) as bytes from reached r join sizes s using (hash) group by r.channel
    ), by_channel as (
      select v.channel, count(*)::integer as versions, sum(octet_length(v.ref)) + coalesce(max(b.bytes), 0) as bytes
      from versions v left join blob_bytes b using (channel) group by v.channel
    )
    select
      (select count(*)::integer from thread t join checkpoints c on c.thread_id = t.thread_id) as checkpoints,
      (select coalesce(sum(octet_length(c.metadata) + octet_length(c.body) + octet_length(c.channels)
         + coalesce(octet_length(c.wrote), 0) + coalesce(octet_length(c.shape), 0)), 0)::float8
       from thread t join checkpoints c on c.thread_id = t.thread_id) as checkpoint_bytes,
      (select count(*)::integer from versions) as values,
      ((select coalesce(sum(octet_length(v.ref)), 0) from versions v)
        + (select coalesce(sum(s.bytes), 0) from sizes s
           where exists (select 1 from reached r where r.hash = s.hash and r.channel is not null)))::float8 as values_bytes,
      (select count(*)::integer from writes) as writes,
      ((select coalesce(sum(w.bytes), 0) from writes w)
        + (select coalesce(sum(s.bytes), 0) from sizes s
           where not exists (select 1 from reached r where r.hash = s.hash and r.channel is not null)))::float8 as writes_bytes,
      (select coalesce(json_agg(json_build_object('channel', l.channel, 'versions', l.versions, 'bytes', l.bytes)), '[]')
       from (select * from by_channel order by bytes desc, channel limit ${channelsMax}) l) as channels
    from thread`);

/** Undefined when there is no such thread. */
export const findThreadUsage = async (
  db: Database,
  thread_id: string,
  access: RowFilter,
): Promise<ThreadUsage | undefined> => (await db.query(usage, [thread_id, access.jsonpath]))[0];
