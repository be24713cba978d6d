// The columns of a statement, by PostgreSQL and by the type of its rows.
import pg from 'pg';
import { type Checker, type Symbol, SymbolFlags, type Type } from 'typescript/unstable/sync';

/** What a value of the column is after the driver has read it. `json` may be anything. */
export type Kind = 'string' | 'number' | 'boolean' | 'bytes' | 'list' | 'json';

const kinds = new Map<number, Kind>([
  [pg.types.builtins.BOOL, 'boolean'],
  [pg.types.builtins.BYTEA, 'bytes'],
  [pg.types.builtins.INT2, 'number'],
  [pg.types.builtins.INT4, 'number'],
  [pg.types.builtins.INT8, 'number'],
  [pg.types.builtins.FLOAT4, 'number'],
  [pg.types.builtins.FLOAT8, 'number'],
  [pg.types.builtins.JSON, 'json'],
  [pg.types.builtins.JSONB, 'json'],
]);

/** Prepares a statement without executing it. */
class Description implements pg.Submittable {
  readonly columns: Promise<{ name: string; dataTypeID: number }[]>;
  readonly #text: string;
  #fields: { name: string; dataTypeID: number }[] = [];
  #end: (error?: unknown) => void = () => undefined;

  constructor(text: string) {
    this.#text = text;
    this.columns = new Promise((resolve, reject) => {
      this.#end = (error) => (error === undefined ? resolve(this.#fields) : reject(error as Error));
    });
  }

  submit(connection: pg.Connection): void {
    connection.parse({ name: '', text: this.#text, types: [] }, true);
    connection.describe({ type: 'S', name: '' }, true);
    connection.sync();
  }

  handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }): void {
    this.#fields = fields;
  }

  handleError(error: unknown): void {
    this.#end(error);
  }

  handleReadyForQuery(): void {
    this.#end();
  }
}

/** The columns that PostgreSQL returns for the statement. Rejects when it is not valid for the schema. */
export const storedColumns = async (
  client: pg.Client,
  text: string,
  arrays: ReadonlySet<number>,
): Promise<Map<string, Kind>> => {
  const fields = await client.query(new Description(text)).columns;
  return new Map(
    fields.map(({ name, dataTypeID }) => [
      name,
      arrays.has(dataTypeID) ? 'list' : (kinds.get(dataTypeID) ?? 'string'),
    ]),
  );
};

/** `kinds` of a property of a row type; optional properties may be missing in the rows. */
export interface DeclaredColumn {
  kinds: Kind[];
  isOptional: boolean;
}

/** The properties of a row type. A column of one member of a union is a column. Undefined for a statement whose rows are not read. */
export const declaredColumns = (
  checker: Checker,
  statement: Symbol,
): Map<string, DeclaredColumn> | undefined => {
  const type = checker.getTypeOfSymbol(statement);
  const row = type && checker.getPropertyOfType(type, 'row');
  const rows = row && checker.getTypeOfSymbol(row);
  const members = membersOf(rows && checker.getNonNullableType(rows));
  if (members.every((member) => checker.getPropertiesOfType(member).length === 0)) return undefined;
  const columns = new Map<string, DeclaredColumn>();
  for (const property of members.flatMap((member) => checker.getPropertiesOfType(member))) {
    const known = columns.get(property.name)?.kinds ?? [];
    columns.set(property.name, {
      kinds: [...known, ...kindsOf(checker, checker.getTypeOfSymbol(property))],
      isOptional: (property.flags & SymbolFlags.Optional) !== 0,
    });
  }
  return columns;
};

const membersOf = (type: Type | undefined): readonly Type[] => {
  if (type === undefined) return [];
  return type.isUnionType() ? type.getTypes() : [type];
};

const kindsOf = (checker: Checker, type: Type | undefined): Kind[] =>
  membersOf(type).flatMap((member): Kind[] => {
    const text = checker.typeToString(member);
    if (text === 'null' || text === 'undefined') return [];
    if (checker.isTypeAssignableTo(member, checker.getStringType())) return ['string'];
    if (checker.isTypeAssignableTo(member, checker.getNumberType())) return ['number'];
    if (checker.isTypeAssignableTo(member, checker.getBooleanType())) return ['boolean'];
    if (/^Buffer\b/.test(text)) return ['bytes'];
    if (checker.isArrayLikeType(member)) return ['list', 'json'];
    return ['json'];
  });
