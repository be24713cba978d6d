// Prices of models per token: those of a workspace, and the defaults of the server.
import { randomUUID } from 'node:crypto';
import type { ModelPrice } from '@svc/contract';
import type { Database } from '../postgres/database.ts';
import { toExactText } from '../postgres/exact-text.ts';
import { asTenant } from '../postgres/tenant.ts';
import { namedStatement, type Statement, statement } from '../postgres/statement.ts';

/** The key of a price lookup. */
export interface PricedModel {
  model: string;
  provider: string | null;
}

export type NewModelPrice = Omit<ModelPrice, 'id' | 'is_default' | 'created_at'>;

const columns = `id, tenant_id is null as is_default, name, match_pattern, provider, start_time, trim_scale(prompt_cost)::text as prompt_cost,
  trim_scale(completion_cost)::text as completion_cost, prompt_cost_details, completion_cost_details, created_at`;
const visible = '(tenant_id = $1 or tenant_id is null)';
const inOrder = 'order by tenant_id is null, start_time desc nulls last, created_at desc, id limit 1000';

export const statements = {
  list: statement<ModelPrice>(`select ${columns} from model_prices where ${visible} ${inOrder}`),
  ofModels: statement<
    ModelPrice & { at: number }
  >(`select m.at::integer as at, p.* from unnest($2::text[], $3::text[]) with ordinality as m (model, provider, at)
      cross join lateral (
        select ${columns} from model_prices
        where ${visible} and m.model ~ match_pattern and (model_prices.provider is null or model_prices.provider = m.provider)
        ${inOrder}) p`),
  create:
    namedStatement<ModelPrice>(`insert into model_prices (tenant_id, id, name, match_pattern, provider, start_time, prompt_cost, completion_cost,
        prompt_cost_details, completion_cost_details)
      select :tenant_id, :id, :name, :match_pattern, :provider, :start_time, :prompt_cost, :completion_cost,
        :prompt_cost_details, :completion_cost_details
      -- Fails for an invalid pattern.
      where ('' ~ :match_pattern) is not null returning ${columns}`),
  replace:
    namedStatement<ModelPrice>(`update model_prices set name = :name, match_pattern = :match_pattern, provider = :provider, start_time = :start_time,
        prompt_cost = :prompt_cost, completion_cost = :completion_cost, prompt_cost_details = :prompt_cost_details,
        completion_cost_details = :completion_cost_details
      where tenant_id = :tenant_id and id = :id and ('' ~ :match_pattern) is not null returning ${columns}`),
  delete: statement('delete from model_prices where tenant_id = $1 and id = $2 returning id'),
};

const recordOf = (tenant_id: string, id: string, price: NewModelPrice) => ({
  ...price,
  tenant_id,
  id,
  prompt_cost_details: JSON.stringify(price.prompt_cost_details),
  completion_cost_details: JSON.stringify(price.completion_cost_details),
});

export type ModelPriceStorage = ReturnType<typeof modelPriceStorage>;

export const modelPriceStorage = (db: Database) => {
  const query = <Row>(statement: Statement<Row>, tenant_id: string, values: unknown[]) =>
    asTenant(db, tenant_id, (tx) => tx.query(statement, values));
  return {
    /** Prices of the workspace first, then defaults; newest first in each group. */
    list: (tenant_id: string): Promise<ModelPrice[]> => query(statements.list, tenant_id, [tenant_id]),

    /** The prices that match each model, one list per model, each in the order of `list`. The caller bounds the number of models. */
    async ofModels(tenant_id: string, models: readonly PricedModel[]): Promise<ModelPrice[][]> {
      const rows = await query(statements.ofModels, tenant_id, [
        tenant_id,
        models.map(({ model }) => model),
        models.map(({ provider }) => (provider === null ? null : toExactText(provider))),
      ]);
      const lists: ModelPrice[][] = models.map(() => []);
      for (const { at, ...row } of rows) lists[at - 1]?.push(row);
      return lists;
    },

    async create(tenant_id: string, price: NewModelPrice): Promise<ModelPrice | undefined> {
      const values = statements.create.values(recordOf(tenant_id, randomUUID(), price));
      return (await query(statements.create, tenant_id, values))[0];
    },

    async replace(tenant_id: string, id: string, price: NewModelPrice): Promise<ModelPrice | undefined> {
      const values = statements.replace.values(recordOf(tenant_id, id, price));
      return (await query(statements.replace, tenant_id, values))[0];
    },

    /** Returns whether it existed. */
    delete: async (tenant_id: string, id: string): Promise<boolean> =>
      (await query(statements.delete, tenant_id, [tenant_id, id])).length > 0,
  };
};
