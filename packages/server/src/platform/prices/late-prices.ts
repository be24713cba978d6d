// Prices of runs whose model and whose tokens were told apart, in whatever order: known when the second of them is stored.
import { createHash } from 'node:crypto';
import type { RunWrite } from '../../storage/traces.ts';
import type { UnpricedRun } from '../../storage/unpriced-runs.ts';
import type { PriceService } from './price-service.ts';

/** Whether the rest may have been told before, or by another. */
const isHalf = ({ fields: { model, total_tokens, run_type } }: RunWrite): boolean =>
  (run_type ?? 'llm') === 'llm' &&
  [model, total_tokens].filter((known) => (known ?? null) !== null).length === 1;

const costFields = ['prompt_cost', 'completion_cost', 'total_cost', 'usage_details'] as const;

/** What a write of its cost is: of the rank of what is known, so that it may add to the details, and anything newer goes before it. */
const toWrite = (run: UnpricedRun): RunWrite => {
  const { id, model, metadata, prompt_tokens, completion_tokens, total_tokens, usage_details } = run;
  const counted = { prompt_tokens, completion_tokens, total_tokens };
  const hash = createHash('sha1').update(`price.${id}.${model}.${JSON.stringify(counted)}`);
  const texts = Object.entries(counted).map(([name, count]) => [name, count === null ? null : String(count)]);
  return {
    id,
    rank: Number(run.rank),
    patched: 0,
    writes: [hash.digest().readBigInt64LE().toString()],
    start_time: run.start_time,
    metadata,
    fields: { model, run_type: 'llm', usage_details, ...(Object.fromEntries(texts) as object) },
  };
};

/** The writes that say what runs of this batch cost, now that it is stored. */
export const latePrices = async (
  tenant_id: string,
  stored: readonly RunWrite[],
  find: (tenant_id: string, ids: string[]) => Promise<UnpricedRun[]>,
  prices: PriceService,
): Promise<RunWrite[]> => {
  const ids = stored.filter(isHalf).map(({ id }) => id);
  if (ids.length === 0) return [];
  const writes = (await find(tenant_id, ids)).map(toWrite);
  await prices.price(tenant_id, writes);
  return writes
    .filter(({ fields }) => typeof fields.total_cost === 'string')
    .map((write) => ({
      ...write,
      start_time: null,
      metadata: '{}',
      fields: Object.fromEntries(costFields.map((name) => [name, write.fields[name] ?? null])),
    }));
};
