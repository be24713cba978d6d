import { loadSettings } from '../../config/config.ts';
import type { ConfigSources } from '../../config/config.ts';

export interface MigrateOptions {
  /** Print what would be applied, and change nothing. */
  plan: boolean;
  /** Apply contract migrations too. */
  contract: boolean;
}

/** Applies what the database lacks, and prints the name of each migration that was applied. */
export async function migrate(sources: ConfigSources, { plan, contract }: MigrateOptions): Promise<void> {
  const { settings } = loadSettings(sources);
  const { withUnmigratedDatabase } = await import('../../app/server.ts');
  const schema = await import('../../storage/schema/migrate.ts');
  await withUnmigratedDatabase(settings, async (database) => {
    if (plan) return printPlan(await schema.planMigration(database));
    const { applied } = await schema.migrate(database, { contract });
    for (const name of applied) console.log(`applied ${name}`);
    console.log(applied.length === 0 ? 'The schema is up to date.' : 'The schema is up to date now.');
    const left = (await schema.planMigration(database)).contract;
    if (left.length > 0)
      console.log(`Once no server of an earlier release runs: svc migrate --contract (${left.join(', ')})`);
  });
}

const printPlan = (plan: { migrations: string[]; functions: boolean; contract: string[] }): void => {
  const lines = [
    ...plan.migrations.map((name) => `${name}: adds; servers of the previous release go on serving`),
    ...(plan.functions ? ['functions: replaced; servers of the previous release go on serving'] : []),
    ...plan.contract.map(
      (name) => `${name}: removes, with --contract only; first stop every server of an earlier release`,
    ),
  ];
  console.log(lines.length === 0 ? 'The schema is up to date.' : lines.join('\n'));
};
