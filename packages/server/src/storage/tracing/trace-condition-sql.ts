// Conditions on trace runs as SQL. Every value goes through `bind`, and every name is from a fixed list.
import { toExactJson, toExactText } from '../postgres/exact-text.ts';
import type {
  NumberField,
  NumberTest,
  Order,
  TraceRunCondition,
  TextField,
  TextTest,
  ValueTest,
} from './trace-condition.ts';

/** Returns the SQL of a value: the placeholder of a new parameter, or an escaped literal where COPY takes no parameters. */
export type Bind = (value: unknown) => string;

const operators: Readonly<Record<Order, string>> = { eq: '=', gt: '>', gte: '>=', lt: '<', lte: '<=' };

const ids: readonly string[] = [
  'id',
  'trace_id',
  'parent_run_id',
  'reference_example_id',
] satisfies TextField[];

/** SQL that is true when the condition holds, else false or null. `r` is the alias of the trace run. */
export const conditionSql = (condition: TraceRunCondition, bind: Bind, r: string): string => {
  switch (condition.is) {
    case 'all':
      return joined(condition.of, ' and ', 'true', bind, r);
    case 'any':
      return joined(condition.of, ' or ', 'false', bind, r);
    case 'not':
      return `(${conditionSql(condition.of, bind, r)}) is not true`;
    case 'root':
      return `${r}.parent_run_id is null`;
    case 'empty':
      return `${condition.field === 'latency' ? latency(r) : `${r}.${condition.field}`} is null`;
    case 'text':
      return textSql(condition.field, condition.test, bind, r);
    case 'payload':
      return payloadSql(`${r}.${condition.field}`, condition.test, bind);
    case 'number':
      return numberSql(numberColumn(condition.field, r), condition.test, bind);
    case 'time':
      return `${r}.${condition.field} ${operators[condition.op]} ${bind(condition.time)}::timestamptz`;
    case 'tag':
      return `${r}.tags @> ${bind(toExactJson([condition.tag]))}::jsonb`;
    case 'metadata':
      return `${r}.metadata @> ${bind(toExactJson(condition.has))}::jsonb`;
    case 'entry':
      return entrySql(condition, bind, r);
    case 'feedback': {
      const { keys, scores, values } = condition;
      const tests = [
        `f.tenant_id = ${r}.tenant_id and f.run_id = ${r}.id`,
        ...(keys === null ? [] : [`f.key = any (${bind(keys.map(toExactText))}::text[])`]),
        ...scores.map((test) => numberSql('f.score', test, bind)),
        ...values.map((test) => valueSql('f.value', test, bind)),
      ];
      return `exists (select from feedback f where ${tests.join(' and ')})`;
    }
  }
};

const joined = (of: TraceRunCondition[], word: string, empty: string, bind: Bind, r: string): string =>
  of.length === 0 ? empty : `(${of.map((inner) => conditionSql(inner, bind, r)).join(word)})`;

const latency = (r: string): string => `extract(epoch from ${r}.end_time - ${r}.start_time)`;

const numberColumn = (field: NumberField, r: string): string =>
  field === 'latency' ? latency(r) : `${r}.${field}`;

const numberSql = (what: string, { op, number }: NumberTest, bind: Bind): string =>
  `${what} ${operators[op]} ${bind(number)}::numeric`;

const lowerAscii = (text: string): string => text.replaceAll(/[A-Z]+/g, (found) => found.toLowerCase());

const searchSql = (what: string, text: string, bind: Bind): string =>
  `strpos(lower(${what} collate "C"), ${bind(lowerAscii(text))}) > 0`;

const textSql = (field: TextField, test: TextTest, bind: Bind, r: string): string => {
  const what = `${r}.${field}`;
  switch (test.op) {
    case 'in': {
      const type = ids.includes(field) ? 'uuid' : 'text';
      const [first] = test.values;
      // A plain equality, which every index supports.
      if (test.values.length === 1 && first !== undefined)
        return `${what} = ${bind(toExactText(first))}::${type}`;
      return `${what} = any (${bind(test.values.map(toExactText))}::${type}[])`;
    }
    case 'like':
      return `${what} like ${bind(toExactText(test.pattern))} escape ''`;
    case 'search':
      return searchSql(what, toExactText(test.text), bind);
  }
};

/** Payloads are stored as the JSON that was sent, so the search text is escaped as in JSON. */
const payloadSql = (what: string, test: TextTest, bind: Bind): string =>
  test.op === 'search' ? searchSql(what, JSON.stringify(test.text).slice(1, -1), bind) : 'false';

/** With more combinations, a scan of the entries is cheaper than index lookups. */
const containmentsMax = 20;

const entrySql = (
  { of, keys, tests }: Extract<TraceRunCondition, { is: 'entry' }>,
  bind: Bind,
  r: string,
): string => {
  const [test, ...others] = tests;
  if (of === 'metadata' && keys && test?.op === 'in' && others.length === 0) {
    const found = keys.flatMap((key) =>
      test.values.flatMap(jsonOf).map((json) => `{${toExactJson(key)}:${json}}`),
    );
    if (found.length <= containmentsMax)
      return found.length === 0
        ? 'false'
        : `(${found.map((json) => `${r}.metadata @> ${bind(json)}::jsonb`).join(' or ')})`;
  }
  const conditions = [
    ...(keys === null ? [] : [`e.key = any (${bind(keys.map(toExactText))}::text[])`]),
    ...tests.map((one) => valueSql('e.value', one, bind)),
  ];
  const entries = of === 'metadata' ? `${r}.metadata` : `trace_entries(${r}.${of})`;
  return `exists (select from jsonb_each(${entries}) e where ${conditions.length === 0 ? 'true' : conditions.join(' and ')})`;
};

/** The JSON texts of the values (string, number, boolean) that are written like this. */
const jsonOf = (text: string): string[] => [
  toExactJson(text),
  ...(/^-?\d{1,15}(?:\.\d{1,15})?$/.test(text) ? [text.replace(/^(-?)0+(?=\d)/, '$1')] : []),
  ...(text === 'true' || text === 'false' ? [text] : []),
];

const valueSql = (what: string, test: ValueTest, bind: Bind): string => {
  const ofType = (type: string, sql: string): string =>
    `case when jsonb_typeof(${what}) = '${type}' then ${sql} else false end`;
  switch (test.op) {
    case 'in':
      return `${what} = any (${bind(test.values.flatMap(jsonOf))}::jsonb[])`;
    case 'not in':
      return `not (coalesce(${what}, 'null') = any (${bind(test.values.flatMap(jsonOf))}::jsonb[]))`;
    case 'like':
      return ofType('string', `${what} #>> '{}' like ${bind(toExactText(test.pattern))} escape ''`);
    case 'search':
      return ofType('string', searchSql(`(${what} #>> '{}')`, toExactText(test.text), bind));
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return ofType('number', numberSql(`${what}::numeric`, test, bind));
  }
};
