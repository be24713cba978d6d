import type { modelPriceRoutes } from '@svc/contract';
import type { Handlers } from '../../api/handlers.ts';
import { grantOf } from '../../auth/keys/grant-of.ts';
import type { PriceService } from './price-service.ts';

export const priceHandlers = (prices: PriceService): Handlers<typeof modelPriceRoutes> => ({
  listModelPrices: (_, call) => prices.list(grantOf(call.caller).tenant_id),

  createModelPrice: ({ body }, call) => prices.create(grantOf(call.caller).tenant_id, body),

  replaceModelPrice: ({ params, body }, call) =>
    prices.replace(grantOf(call.caller).tenant_id, params.price_id, body),

  deleteModelPrice: async ({ params }, call) => {
    await prices.delete(grantOf(call.caller).tenant_id, params.price_id);
    return undefined;
  },
});
