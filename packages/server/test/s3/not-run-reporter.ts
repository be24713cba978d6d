// Tests of the server that need more than Node.
import { whyNoPythonStock } from '../compatibility/python/python-stock.ts';
import { whyNoShell } from '../documentation/programs.ts';
import { whyNoPandas } from '../exports/pandas.ts';
import { whyNoPatroni } from '../faults/patroni-availability.ts';
import { whyNoPostgres15 } from '../faults/postgres-15.ts';
import { whyNoSchemathesis } from '../fuzz/schemathesis.ts';
import { NotRun } from '../not-run.ts';
import { whyNoPythonClients } from '../python-clients/python.ts';
import { whyNoPythonProjects } from '../python/projects/environment.ts';
import { whyNoS3 } from './availability.ts';

export default class NotRunReporter extends NotRun {
  constructor() {
    super([
      { call: 'describeS3(', need: 'an S3', why: whyNoS3 },
      { call: 'itInShell(', need: 'a shell with its programs', why: whyNoShell },
      { call: 'itInPandas(', need: 'pandas', why: whyNoPandas },
      { call: 'itWithPythonClients(', need: 'the Python clients', why: whyNoPythonClients },
      {
        call: 'describeWithPythonProjects(',
        need: 'packages of Python projects',
        why: whyNoPythonProjects,
      },
      { call: 'describeWithPythonStock(', need: 'the stock Python server', why: whyNoPythonStock },
      { call: 'itWithSchemathesis(', need: 'Schemathesis', why: whyNoSchemathesis },
      { call: 'describeWithPatroni(', need: 'Patroni', why: whyNoPatroni },
      { call: 'describeWithPostgres15(', need: 'PostgreSQL 15', why: whyNoPostgres15 },
    ]);
  }
}
