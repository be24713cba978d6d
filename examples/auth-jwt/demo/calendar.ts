// A placeholder for an external calendar service: it has its own tokens, and returns the appointments of the token's user.
import { Hono } from 'hono';

const days: Record<string, { at: string; what: string }[]> = {
  'demo-calendar-token-of-alice': [
    { at: '9:30', what: 'tea with the hatter' },
    { at: '14:00', what: 'croquet' },
  ],
  'demo-calendar-token-of-bob': [{ at: '8:00', what: 'fix the roof' }],
};

export const calendar = new Hono().get('/', (context) => {
  const [, token = ''] = /^Bearer (\S+)$/.exec(context.req.header('authorization') ?? '') ?? [];
  const day = Object.hasOwn(days, token) ? days[token] : undefined;
  return day ? context.json(day) : context.json({ message: 'The token is unknown' }, 401);
});
