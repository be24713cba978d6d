import { Hono } from 'hono';
import { Hono as HonoOf4 } from 'hono-4-0';
import { describe, expect, it } from 'vitest';
import { hasDefaultErrors, isUserApp, routeFor, type UserApp } from './user-app.ts';

describe.each([
  ['this copy of hono', Hono],
  ['hono 4.0', HonoOf4 as unknown as typeof Hono],
])('an app of %s', (_, App) => {
  const of = (app: Hono): UserApp => app as unknown as UserApp;

  it('is recognized', () => {
    expect(isUserApp(new App())).toBe(true);
    for (const other of [undefined, null, 'app', {}, { fetch: () => undefined }, () => undefined])
      expect(isUserApp(other)).toBe(false);
  });

  it('has routes and middleware', () => {
    const inner = new App().get('/deep/:id', (context) => context.text(''));
    inner.onError((_error, context) => context.text('', 500));
    const app = new App()
      .use(async (_context, next) => next())
      .use('/files/*', async (context, _next) => context.text(''))
      .get('/a', (context) => context.text(''))
      .get('/guarded', async (_context, next) => next())
      .all('/any', (context) => context.text(''))
      .route('/inner', inner);
    const found = (method: string, path: string) => routeFor(of(app), method, path)?.path;
    expect(found('GET', '/a')).toBe('/a');
    expect(found('HEAD', '/a')).toBe('/a');
    expect(found('POST', '/a')).toBeUndefined();
    expect(found('PUT', '/any')).toBe('/any');
    expect(found('GET', '/guarded')).toBe('/guarded');
    expect(found('GET', '/inner/deep/1')).toBe('/inner/deep/:id');
    expect(found('GET', '/files/x')).toBeUndefined();
    expect(found('GET', '/nowhere')).toBeUndefined();
  });

  it('has the error handler of its copy of hono, or its own', () => {
    const app = new App();
    expect(hasDefaultErrors(of(app))).toBe(true);
    app.onError((_error, context) => context.text('', 500));
    expect(hasDefaultErrors(of(app))).toBe(false);
  });
});
