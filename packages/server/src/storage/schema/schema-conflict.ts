import { Problem } from '@svc/contract/problem';

/** This release cannot use the schema of the database. */
export class SchemaConflict extends Problem {
  constructor(
    readonly what: string,
    readonly remedy: string,
  ) {
    super('conflict', `${what}. ${remedy}`);
  }
}
