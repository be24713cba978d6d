// Sessions as signed cookies: `session=<name>.<signature>`.
import { createHmac, timingSafeEqual } from 'node:crypto';

const sign = (name: string): Buffer =>
  createHmac('sha256', process.env['SESSION_SECRET'] ?? 'for development only')
    .update(name)
    .digest();

export const sessionCookie = (name: string): string => `session=${name}.${sign(name).toString('hex')}`;

/** The name of the user; undefined without a valid session. */
export const userOf = (request: Request): string | undefined => {
  const cookies = request.headers.get('cookie') ?? '';
  const [, name = '', signature = ''] = /(?:^|;\s*)session=(\w+)\.([0-9a-f]{64})(?:;|$)/.exec(cookies) ?? [];
  return name !== '' && timingSafeEqual(sign(name), Buffer.from(signature, 'hex')) ? name : undefined;
};
