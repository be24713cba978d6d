import * as z from 'zod';
import { Empty, Id, nullish, Time, When } from '../json.ts';
import { routesOf } from '../route.ts';

const route = routesOf('Model prices');

const Decimal = z
  .union([z.number().nonnegative(), z.string().max(64)])
  .transform(String)
  .refine((text) => /^\d{1,20}(?:\.\d{1,30})?(?:[eE]-?\d{1,2})?$/.test(text), 'must be a decimal')
  .meta({ type: 'string', description: 'A decimal, of any precision as a string' });
const Details = z.record(z.string().min(1).max(64), Decimal);

const price = {
  name: z.string().min(1).max(256),
  match_pattern: z
    .string()
    .min(1)
    .max(256)
    .refine((text) => !/\\[1-9]/.test(text), 'must not have back references')
    .describe('A PostgreSQL regular expression for the name of the model'),
  provider: nullish(z.string().min(1).max(256)).describe('Such as openai; any provider when absent'),
  start_time: nullish(When).describe('When the price begins to apply; always when absent'),
  prompt_cost: Decimal.describe('Cost of one token'),
  completion_cost: Decimal.describe('Cost of one token'),
  prompt_cost_details: nullish(Details).describe('Cost of one token of a kind: {"cache_read": "0.0000001"}'),
  completion_cost_details: nullish(Details),
};

export const ModelPrice = z
  .object({
    id: z.uuid(),
    is_default: z.boolean().describe('Built into the server, for all workspaces'),
    name: z.string(),
    match_pattern: z.string(),
    provider: z.string().nullable(),
    start_time: Time.nullable(),
    prompt_cost: z.string(),
    completion_cost: z.string(),
    prompt_cost_details: z.record(z.string(), z.string()),
    completion_cost_details: z.record(z.string(), z.string()),
    created_at: Time,
  })
  .meta({ id: 'ModelPrice', description: 'What a token of a model costs' });
export type ModelPrice = z.output<typeof ModelPrice>;

const params = z.object({ price_id: Id });

export const modelPriceRoutes = {
  listModelPrices: route('get', '/api/v1/model-prices', {
    summary: 'Prices, those of the workspace first; the first one that matches a model applies',
    access: { permission: 'read' },
    response: z.array(ModelPrice),
  }),
  createModelPrice: route('post', '/api/v1/model-prices', {
    summary: 'Create a price; the costs of stored trace runs do not change',
    access: { permission: 'write' },
    body: z.object(price),
    response: ModelPrice,
  }),
  replaceModelPrice: route('put', '/api/v1/model-prices/:price_id', {
    summary: 'Replace a price of the workspace',
    access: { permission: 'write' },
    params,
    body: z.object(price),
    response: ModelPrice,
    errors: ['not_found'],
  }),
  deleteModelPrice: route('delete', '/api/v1/model-prices/:price_id', {
    audited: 'model_price.delete',
    summary: 'Delete a price of the workspace',
    access: { permission: 'write' },
    params,
    response: Empty,
    status: 204,
    errors: ['not_found'],
  }),
};
