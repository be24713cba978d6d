// Export destinations. Credentials are stored and returned encrypted.
import type { Database } from '../postgres/database.ts';
import { fromExactText, toExactText } from '../postgres/exact-text.ts';
import { asTenant } from '../postgres/tenant.ts';
import { type Statement, statement } from '../postgres/statement.ts';

export interface DestinationRow {
  tenant_id: string;
  id: string;
  destination_type: 's3' | 'file';
  display_name: string;
  /** JSON text. */
  config: string;
  /** Encrypted; null when there are none. */
  credentials: string | null;
  credentials_keys: string[];
  aws_role_arn: string | null;
  abilities: Record<string, boolean>;
  created_at: string;
  updated_at: string;
}

export type NewDestination = Omit<DestinationRow, 'created_at' | 'updated_at'>;

/** Credentials of a destination, and the abilities that a probe found with them. */
export type NewAccess = Pick<
  DestinationRow,
  'credentials' | 'credentials_keys' | 'aws_role_arn' | 'abilities'
>;

export const destinationsMax = 1_000;

const columns = `tenant_id, id, destination_type, display_name, config, credentials, credentials_keys, aws_role_arn, abilities,
  created_at, updated_at`;

export const statements = {
  create:
    statement<DestinationRow>(`insert into export_destinations (tenant_id, id, destination_type, display_name, config, credentials, credentials_keys,
        aws_role_arn, abilities)
      select $1, $2, $3, $4, $5, $6, $7, $8, $9
      where (select count(*) from (select from export_destinations where tenant_id = $1 limit ${destinationsMax}) d) < ${destinationsMax}
      returning ${columns}`),
  list: statement<DestinationRow>(`select ${columns} from export_destinations where tenant_id = $1
      order by created_at desc, id desc limit ${destinationsMax}`),
  find: statement<DestinationRow>(
    `select ${columns} from export_destinations where tenant_id = $1 and id = $2`,
  ),
  change:
    statement<DestinationRow>(`update export_destinations set credentials = $3, credentials_keys = $4, aws_role_arn = $5, abilities = $6,
        updated_at = now()
      where tenant_id = $1 and id = $2 returning ${columns}`),
  learn: statement(
    `update export_destinations set abilities = $4 where tenant_id = $1 and id = $2 and date_trunc('milliseconds', updated_at) = $3`,
  ),
  lock: statement<{ id: string }>(
    'select id from export_destinations where tenant_id = $1 and id = $2 for update',
  ),
  delete: statement<DestinationRow>(`delete from export_destinations where tenant_id = $1 and id = $2
      and not exists (select from exports e where e.tenant_id = $1 and e.destination_id = $2) returning ${columns}`),
};

const toRow = (row: DestinationRow): DestinationRow => ({ ...row, config: fromExactText(row.config) });

export type DestinationStorage = ReturnType<typeof destinationStorage>;

export const destinationStorage = (db: Database) => {
  const query = async (
    statement: Statement<DestinationRow>,
    tenant_id: string,
    ...values: unknown[]
  ): Promise<DestinationRow[]> =>
    asTenant(db, tenant_id, async (tx) => (await tx.query(statement, [tenant_id, ...values])).map(toRow));
  return {
    /** Undefined when the workspace has reached its limit. */
    async create(made: NewDestination): Promise<DestinationRow | undefined> {
      const [row] = await query(
        statements.create,
        made.tenant_id,
        made.id,
        made.destination_type,
        made.display_name,
        toExactText(made.config),
        made.credentials,
        made.credentials_keys,
        made.aws_role_arn,
        JSON.stringify(made.abilities),
      );
      return row;
    },

    /** Newest first. */
    list: (tenant_id: string): Promise<DestinationRow[]> => query(statements.list, tenant_id),

    async find(tenant_id: string, id: string): Promise<DestinationRow | undefined> {
      return (await query(statements.find, tenant_id, id))[0];
    },

    /** Undefined when the destination does not exist. */
    async change(tenant_id: string, id: string, access: NewAccess): Promise<DestinationRow | undefined> {
      const { credentials, credentials_keys, aws_role_arn, abilities } = access;
      const values = [credentials, credentials_keys, aws_role_arn, JSON.stringify(abilities)];
      return (await query(statements.change, tenant_id, id, ...values))[0];
    },

    /** Stores the abilities that a probe found, unless the destination was changed in the meantime. */
    async learn(row: DestinationRow, abilities: Record<string, boolean>): Promise<void> {
      const values = [row.tenant_id, row.id, row.updated_at, JSON.stringify(abilities)];
      await asTenant(db, row.tenant_id, (tx) => tx.query(statements.learn, values));
    },

    /** Undefined when the destination does not exist; `in use` when an export refers to it. */
    delete: (tenant_id: string, id: string): Promise<DestinationRow | 'in use' | undefined> =>
      asTenant(db, tenant_id, async (tx) => {
        // The creation of an export takes a share lock on this row.
        const [locked] = await tx.query(statements.lock, [tenant_id, id]);
        if (locked === undefined) return undefined;
        const [row] = await tx.query(statements.delete, [tenant_id, id]);
        return row === undefined ? 'in use' : toRow(row);
      }),
  };
};
