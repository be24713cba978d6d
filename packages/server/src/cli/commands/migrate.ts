import { type ConfigSources, loadSettings } from '../../config/config.ts';

export interface MigrateOptions {
  /** Print the migrations that would be applied, and change nothing. */
  plan: boolean;
  /** Apply contract migrations too. */
  contract: boolean;
}

/** Applies the missing migrations and prints their names. */
export async function migrate(sources: ConfigSources, { plan, contract }: MigrateOptions): Promise<void> {
  const { settings } = loadSettings(sources);
  const { withUnmigratedDatabase } = await import('../../app/stored-data.ts');
  const schema = await import('../../storage/schema/migrate.ts');
  await withUnmigratedDatabase(settings, async (database) => {
    if (plan) return printPlan(await schema.planMigration(database));
    const { applied } = await schema.migrate(database, { contract });
    for (const name of applied) console.log(`applied ${name}`);
    console.log(applied.length === 0 ? 'The schema is up to date.' : 'The schema is up to date now.');
    const left = (await schema.planMigration(database)).contract;
    if (left.length > 0)
      console.log(
        `When all servers of earlier releases have stopped: svc migrate --contract (${left.join(', ')})`,
      );
  });
}

const printPlan = (plan: { migrations: string[]; functions: boolean; contract: string[] }): void => {
  const lines = [
    ...plan.migrations.map((name) => `${name}: adds; servers of the previous release can continue`),
    ...(plan.functions ? ['functions: replaced; servers of the previous release can continue'] : []),
    ...plan.contract.map(
      (name) => `${name}: removes, only with --contract; first stop all servers of earlier releases`,
    ),
  ];
  console.log(lines.length === 0 ? 'The schema is up to date.' : lines.join('\n'));
};
