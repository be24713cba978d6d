// The schema as text, so that a review shows the effect of every migration.
import type { Database } from '../src/storage/postgres/database.ts';

interface Row {
  line: string;
}

const text = {
  columns: `select format('%s.%s %s%s%s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
      case when a.attcollation <> 0 and co.collname <> 'default' then ' collate ' || co.collname else '' end ||
      case when a.attnotnull then ' not null' else '' end,
      coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')) as line
    from pg_class c join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'svc'
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_collation co on co.oid = a.attcollation
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where c.relkind in ('r', 'p', 'v') and not c.relispartition order by c.relname, a.attnum`,
  constraints: `select format('%s %s', c.relname, pg_get_constraintdef(k.oid)) collate "C" as line
    from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'svc' and k.contype <> 'n' and not c.relispartition order by 1`,
  indexes: `select i.indexdef as line from pg_indexes i where i.schemaname = 'svc' order by i.indexname`,
  policies: `select format('%s %s for %s to %s using (%s)', p.tablename, p.policyname, p.cmd, array_to_string(p.roles, ','),
      p.qual) collate "C" as line
    from pg_policies p where p.schemaname = 'svc' order by 1`,
  functions: `select format('%s(%s) returns %s', p.proname, pg_get_function_identity_arguments(p.oid),
      pg_get_function_result(p.oid)) collate "C" as line
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = 'svc' order by 1`,
};

/** Tables, constraints, indexes with their options, policies and functions, in a fixed order. */
export const schemaSnapshot = async (db: Database): Promise<string> => {
  const parts: string[] = ['-- What the migrations make of an empty database. Written by: npm run generate'];
  for (const [title, query] of Object.entries(text)) {
    const rows = await db.query<Row>({ text: query }, []);
    parts.push(`\n-- ${title}`, ...rows.map((row) => row.line.replaceAll(/\s+/g, ' ')));
  }
  return `${parts.join('\n')}\n`;
};
