// What a webhook says, and the header that proves who says it.
import { createHmac } from 'node:crypto';

/** The run as it ended, with its values: both are JSON text already, and values may be large. */
export const deliveryBody = (run: string, values: string | null, sentAt: string): string => {
  const head = JSON.stringify({ ...(JSON.parse(run) as object), webhook_sent_at: sentAt });
  return `${head.slice(0, -1)},"values":${values ?? 'null'}}`;
};

/** `t=<seconds>,v1=<hex>`: an HMAC-SHA256 of `<seconds>.<body>`. The time is signed too, so that a copy grows stale. */
export const sign = (secret: string, body: string, sentAt: string): string => {
  const seconds = Math.floor(Date.parse(sentAt) / 1_000);
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
};
