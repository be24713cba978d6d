// Prices stored runs whose model and tokens came in different writes. They can be priced after the second write.
import type { TraceWrite } from '../../storage/tracing/traces.ts';
import type { PricedTraceRun, UnpricedTraceRun } from '../../storage/tracing/unpriced-runs.ts';
import type { PriceService } from './price-service.ts';

const toWrite = (run: UnpricedTraceRun): TraceWrite => {
  const { id, model, start_time, metadata, usage_details } = run;
  const text = (count: number | null): string | null => (count === null ? null : String(count));
  return {
    id,
    rank: 0,
    patched: 0,
    writes: [],
    start_time,
    metadata,
    fields: {
      model,
      run_type: 'llm',
      usage_details,
      prompt_tokens: text(run.prompt_tokens),
      completion_tokens: text(run.completion_tokens),
      total_tokens: text(run.total_tokens),
    },
  };
};

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** Returns the runs for which there is a price, with their costs. */
export const pricesOf = async (
  tenant_id: string,
  runs: readonly UnpricedTraceRun[],
  prices: PriceService,
): Promise<PricedTraceRun[]> => {
  const writes = runs.map(toWrite);
  await prices.price(tenant_id, writes);
  return runs.flatMap((run, at) => {
    const { total_cost, prompt_cost, completion_cost, usage_details } = writes[at]?.fields ?? {};
    if (typeof total_cost !== 'string') return [];
    return [
      {
        ...run,
        total_cost,
        prompt_cost: textOf(prompt_cost),
        completion_cost: textOf(completion_cost),
        priced_details: textOf(usage_details),
      },
    ];
  });
};
