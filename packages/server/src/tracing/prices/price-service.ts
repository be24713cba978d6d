// Prices of models. The cost of a run is computed when the run is stored; later price changes do not affect it.
import type { ModelPrice, modelPriceRoutes, RouteInput } from '@svc/contract';
import { invalid, notFound, Problem } from '@svc/contract/problem';
import { toExactJson } from '../../storage/postgres/exact-text.ts';
import type { ModelPriceStorage, NewModelPrice, PricedModel } from '../../storage/tracing/model-prices.ts';
import { pricedBit } from '../../storage/tracing/trace-columns.ts';
import type { TraceWrite } from '../../storage/tracing/traces.ts';
import { microsOf } from '../../api/time.ts';
import type { Handlers } from '../../api/handlers.ts';
import { tenantOf } from '../../auth/principal/caller.ts';
import { addDecimals, type Decimal, decimalText, parseDecimal, timesDecimal } from '../decimal.ts';

type PriceBody = RouteInput<(typeof modelPriceRoutes)['createModelPrice']>['body'];

export type GivenPrice = Partial<PriceBody> &
  Pick<PriceBody, 'name' | 'match_pattern' | 'prompt_cost' | 'completion_cost'>;

/** Lifetime of a cache entry, after which changes by other nodes are seen. */
const freshMs = 30_000;
const modelsMax = 5_000;
/** Maximum number of models in one statement, which matches each with the pattern of every price of the workspace. */
const lookupMax = 50;
/** Longer names are not priced, because matching them is slow. */
const modelCharsMax = 500;

export class PriceService {
  readonly #storage: ModelPriceStorage;
  /** Cache, by workspace, provider and model. */
  readonly #known = new Map<string, { rows: readonly ModelPrice[]; untilMs: number }>();
  /** Incremented by every change of a price. A lookup that began before a change is not cached. */
  #changes = 0;

  constructor(storage: ModelPriceStorage) {
    this.#storage = storage;
  }

  list(tenant_id: string): Promise<ModelPrice[]> {
    return this.#storage.list(tenant_id);
  }

  async create(tenant_id: string, given: GivenPrice): Promise<ModelPrice> {
    const row = await this.#change(() => this.#storage.create(tenant_id, toPrice(given)));
    if (row === undefined) throw new Error('The new price has no row');
    return row;
  }

  async replace(tenant_id: string, id: string, given: GivenPrice): Promise<ModelPrice> {
    const row = await this.#change(() => this.#storage.replace(tenant_id, id, toPrice(given)));
    if (row === undefined) throw notFound('Price', id);
    return row;
  }

  async delete(tenant_id: string, id: string): Promise<void> {
    if (!(await this.#change(() => this.#storage.delete(tenant_id, id)))) throw notFound('Price', id);
  }

  /** Sets the costs of runs that have a model and tokens, and were sent without costs. */
  async price(tenant_id: string, runs: readonly TraceWrite[]): Promise<void> {
    const unpriced = runs.flatMap((run) => {
      const model = modelToPrice(run);
      return model === undefined ? [] : [{ run, model }];
    });
    const found = await this.#find(
      tenant_id,
      unpriced.map(({ model }) => model),
    );
    for (const { run, model } of unpriced) {
      const rows = found.get(keyOf(tenant_id, model)) ?? [];
      // The start may be in another write. Then the run is priced after that write is stored.
      if (run.start_time === null && rows.some((row) => row.start_time !== null)) continue;
      const price = rows.find((row) => isActive(row, run.start_time));
      if (price) writeCost(run, price);
    }
  }

  /** Prices by cache key. Models that are not cached are looked up together, up to `lookupMax` in a statement. */
  async #find(
    tenant_id: string,
    models: readonly PricedModel[],
  ): Promise<ReadonlyMap<string, readonly ModelPrice[]>> {
    const found = new Map<string, readonly ModelPrice[]>();
    const unknown = new Map<string, PricedModel>();
    for (const model of models) {
      const key = keyOf(tenant_id, model);
      const known = this.#known.get(key);
      if (known && performance.now() < known.untilMs) found.set(key, known.rows);
      else unknown.set(key, model);
    }
    const entries = [...unknown];
    for (let from = 0; from < entries.length; from += lookupMax) {
      const part = entries.slice(from, from + lookupMax);
      const before = this.#changes;
      const lists = await this.#storage.ofModels(
        tenant_id,
        part.map(([, model]) => model),
      );
      for (const [at, [key]] of part.entries()) {
        const rows = lists[at] ?? [];
        found.set(key, rows);
        if (this.#changes === before) this.#remember(key, rows);
      }
    }
    return found;
  }

  #remember(key: string, rows: readonly ModelPrice[]): void {
    if (this.#known.size >= modelsMax) this.#known.clear();
    this.#known.set(key, { rows, untilMs: performance.now() + freshMs });
  }

  async #change<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const isInvalid = error instanceof Problem && error.code === 'invalid';
      throw isInvalid
        ? invalid(['body', 'match_pattern'], 'match_pattern is not a valid regular expression')
        : error;
    } finally {
      this.#changes++;
      this.#known.clear();
    }
  }
}

/** The model for which a run needs a price. Undefined when the run cannot be priced, or was sent with a cost. */
const modelToPrice = ({ fields, metadata }: TraceWrite): PricedModel | undefined => {
  const { model, run_type, total_tokens, total_cost, prompt_cost, completion_cost } = fields;
  const isPriced = [total_cost, prompt_cost, completion_cost].some((cost) => (cost ?? null) !== null);
  const isModel = (run_type ?? 'llm') === 'llm';
  if (typeof model !== 'string' || model.length > modelCharsMax) return undefined;
  if ((total_tokens ?? null) === null || isPriced || !isModel) return undefined;
  return { model, provider: providerOf(metadata) };
};

const keyOf = (tenant_id: string, { model, provider }: PricedModel): string =>
  JSON.stringify([tenant_id, provider, model]);

const toPrice = ({
  provider,
  start_time,
  prompt_cost_details,
  completion_cost_details,
  ...given
}: GivenPrice): NewModelPrice => ({
  ...given,
  provider: provider ?? null,
  start_time: start_time ?? null,
  prompt_cost_details: prompt_cost_details ?? {},
  completion_cost_details: completion_cost_details ?? {},
});

const isActive = (price: ModelPrice, start_time: string | null): boolean =>
  price.start_time === null ||
  start_time === null ||
  Date.parse(price.start_time) * 1_000 <= Number(microsOf(start_time));

/** The provider of the model. `metadata`: JSON text of the labels. */
const providerOf = (metadata: string): string | null => {
  if (!metadata.includes('"ls_provider"')) return null;
  const { ls_provider } = JSON.parse(metadata) as { ls_provider?: unknown };
  return typeof ls_provider === 'string' ? ls_provider : null;
};

const writeCost = (run: TraceWrite, price: ModelPrice): void => {
  const { prompt_tokens, completion_tokens, total_tokens, usage_details } = run.fields;
  const details = typeof usage_details === 'string' ? (JSON.parse(usage_details) as Details) : {};
  const completion = Number(completion_tokens ?? 0);
  const { prompt_cost_details, completion_cost_details, ...costs } = costOf(
    {
      // When only the total is known, all tokens count as prompt tokens, which are cheaper.
      prompt_tokens: Number(prompt_tokens ?? Math.max(0, Number(total_tokens) - completion)),
      completion_tokens: completion,
      prompt_details: details.prompt_token_details ?? {},
      completion_details: details.completion_token_details ?? {},
    },
    price,
  );
  Object.assign(run.fields, costs);
  run.patched |= pricedBit;
  const more = {
    ...(Object.keys(prompt_cost_details).length > 0 ? { prompt_cost_details } : {}),
    ...(Object.keys(completion_cost_details).length > 0 ? { completion_cost_details } : {}),
  };
  if (Object.keys(more).length > 0) run.fields.usage_details = toExactJson({ ...details, ...more });
};

type Details = Partial<Record<'prompt_token_details' | 'completion_token_details', Record<string, unknown>>>;

export const priceHandlers = (prices: PriceService): Handlers<typeof modelPriceRoutes> => ({
  listModelPrices: (_, call) => prices.list(tenantOf(call)),

  createModelPrice: ({ body }, call) => prices.create(tenantOf(call), body),

  replaceModelPrice: ({ params, body }, call) => prices.replace(tenantOf(call), params.price_id, body),

  deleteModelPrice: async ({ params }, call) => {
    await prices.delete(tenantOf(call), params.price_id);
    return undefined;
  },
});

// Computes the cost of tokens as exact decimals.

interface Price {
  prompt_cost: string;
  completion_cost: string;
  prompt_cost_details: Record<string, string>;
  completion_cost_details: Record<string, string>;
}

interface Tokens {
  prompt_tokens: number;
  completion_tokens: number;
  /** Number of prompt tokens by kind, such as cache_read. */
  prompt_details: Record<string, unknown>;
  completion_details: Record<string, unknown>;
}

interface Cost {
  prompt_cost: string;
  completion_cost: string;
  total_cost: string;
  prompt_cost_details: Record<string, string>;
  completion_cost_details: Record<string, string>;
}

export const costOf = (tokens: Tokens, price: Price): Cost => {
  const prompt = side(
    tokens.prompt_tokens,
    tokens.prompt_details,
    price.prompt_cost,
    price.prompt_cost_details,
  );
  const completion = side(
    tokens.completion_tokens,
    tokens.completion_details,
    price.completion_cost,
    price.completion_cost_details,
  );
  return {
    prompt_cost: decimalText(prompt.sum),
    completion_cost: decimalText(completion.sum),
    total_cost: decimalText(addDecimals(prompt.sum, completion.sum)),
    prompt_cost_details: prompt.details,
    completion_cost_details: completion.details,
  };
};

const zero: Decimal = { units: 0n, scale: 0 };

/** Cost of the prompt or the completion. Kinds with their own price cost that; all other tokens cost `plain`. */
const side = (
  count: number,
  kinds: Record<string, unknown>,
  plain: string,
  prices: Record<string, string>,
): { sum: Decimal; details: Record<string, string> } => {
  let rest = count;
  let sum = zero;
  const details: [string, string][] = [];
  for (const [kind, price] of Object.entries(prices)) {
    const reported = kinds[kind];
    if (typeof reported !== 'number' || !Number.isSafeInteger(reported) || reported <= 0) continue;
    const ofKind = Math.min(reported, rest);
    rest -= ofKind;
    const cost = times(ofKind, price);
    details.push([kind, decimalText(cost)]);
    sum = addDecimals(sum, cost);
  }
  return { sum: addDecimals(sum, times(rest, plain)), details: Object.fromEntries(details) };
};

const times = (count: number, price: string): Decimal =>
  timesDecimal({ units: BigInt(count), scale: 0 }, parseDecimal(price) ?? zero);
