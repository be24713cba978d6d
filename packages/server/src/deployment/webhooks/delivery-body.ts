// The body of a webhook request, and its signature.
import { createHmac } from 'node:crypto';

/** The run at its end, with its values. Both are JSON texts, and are not parsed, since values may be large. */
export const deliveryBody = (run: string, values: string | null, sentAt: string): string => {
  const head = JSON.stringify({ ...(JSON.parse(run) as object), webhook_sent_at: sentAt });
  return `${head.slice(0, -1)},"values":${values ?? 'null'}}`;
};

/** `t=<seconds>,v1=<hex>`: an HMAC-SHA256 of `<seconds>.<body>`. The time is signed so that receivers can reject old copies. */
export const sign = (secret: string, body: string, sentAt: string): string => {
  const seconds = Math.floor(Date.parse(sentAt) / 1_000);
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
};
