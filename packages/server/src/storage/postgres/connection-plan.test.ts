import { describe, expect, it } from 'vitest';
import { connectionsToPooler, planConnections, planPooled, wantedConnections } from './connection-plan.ts';

const node = (executors: number, exporters: number, poolMax = 10) => ({ executors, exporters, poolMax });

describe('a plan of connections', () => {
  it('gives every process the configured connections when there are enough', () => {
    expect(wantedConnections(node(1, 2))).toBe(32);
    expect(planConnections(node(1, 2), { allowed: 97, others: 0 })).toEqual({
      server: 10,
      executor: 10,
      solitary: 2,
      exporters: 2,
      total: 29,
      warning: undefined,
    });
  });

  it('stays within the limit for any number of processes, or throws', () => {
    for (let executors = 1; executors <= 256; executors += 5)
      for (const exporters of [0, 1, 8, 64])
        for (const allowed of [10, 20, 50, 97, 200, 1_000]) {
          try {
            const plan = planConnections(node(executors, exporters), { allowed, others: 0 });
            expect(plan.total).toBeLessThanOrEqual(allowed);
            expect(plan.executor).toBeGreaterThanOrEqual(2);
            expect(plan.server).toBeGreaterThanOrEqual(3);
            expect(plan.warning).toBeUndefined();
          } catch (error) {
            expect((error as Error).message).toMatch(
              /raise max_connections by \d+ .* or lower SVC_EXECUTORS/,
            );
          }
        }
  });

  it('shrinks pools before it reduces the number of exporters', () => {
    expect(planConnections(node(7, 8), { allowed: 97, others: 0 })).toMatchObject({
      executor: 9,
      exporters: 8,
      server: 10,
    });
    expect(planConnections(node(15, 64), { allowed: 97, others: 0 })).toMatchObject({
      executor: 2,
      server: 3,
      exporters: 26,
    });
  });

  it('behind a pooler gives every process the configured connections, and counts only the one for LISTEN', () => {
    expect(planPooled(node(60, 4))).toEqual({
      server: 10,
      executor: 10,
      solitary: 15,
      exporters: 4,
      total: 1,
      warning: undefined,
    });
    expect(connectionsToPooler(node(60, 4))).toBe(10 + 600 + 30 + 8);
  });

  it('throws with a remedy when the node does not fit', () => {
    expect(() => planConnections(node(60, 4), { allowed: 97, others: 0 })).toThrow(
      'This server needs at least 159 connections to PostgreSQL, and only 97 are allowed: raise max_connections by 62 ' +
        '(or the limit of the role or the database), or lower SVC_EXECUTORS (60) or SVC_EXPORT_SLOTS (4)',
    );
  });

  it('uses the minimum, and reports that, when other nodes have the rest', () => {
    expect(planConnections(node(1, 2), { allowed: 97, others: 80 })).toEqual({
      server: 3,
      executor: 2,
      solitary: 2,
      exporters: 2,
      total: 14,
      warning: undefined,
    });
    expect(planConnections(node(1, 2), { allowed: 97, others: 95 })).toMatchObject({
      total: 12,
      warning:
        'All servers on this database together may need 110 connections, and it allows 97: raise max_connections by 13, ' +
        'or lower SVC_EXECUTORS (1) or SVC_EXPORT_SLOTS (2) here or elsewhere',
    });
  });
});
