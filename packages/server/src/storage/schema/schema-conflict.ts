import { Problem } from '@svc/contract/problem';

/** This release cannot use the schema of the database. */
export class SchemaConflict extends Problem {
  readonly what: string;
  readonly remedy: string;

  constructor(what: string, remedy: string) {
    super('conflict', `${what}. ${remedy}`);
    this.what = what;
    this.remedy = remedy;
  }
}
