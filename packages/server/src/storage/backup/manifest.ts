// The manifest of a backup: what it contains, and the checksums of its files and of itself.
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { BackupError, type BackupSource } from './places.ts';

export const manifestName = 'manifest.json';
const formatVersion = 1;

/** These names and values become parts of SQL statements and paths. */
const name = z.string().regex(/^[a-z][a-z0-9_]{0,62}$/);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const bound = z.string().regex(/^FOR VALUES FROM \((?:MINVALUE|'[0-9-]+')\) TO \('[0-9-]+'\)$/);
const storageOption = z.string().regex(/^[a-z_]+=[a-z0-9.]+$/);

const Table = z.strictObject({
  name,
  /** Of a partition: its parent, bounds and storage options. */
  partition: z.strictObject({ parent: name, bound, options: z.array(storageOption) }).nullable(),
  columns: z.array(name).min(1),
  rows: z.int().nonnegative(),
  /** PostgreSQL's binary COPY format, compressed with gzip. */
  file: z.string().regex(/^[a-z][a-z0-9_]*\.copy\.gz$/),
  bytes: z.int().nonnegative(),
  sha256,
});

const Sequence = z.strictObject({ name, last_value: z.string().regex(/^\d+$/), is_called: z.boolean() });

const Manifest = z.strictObject({
  format: z.literal(formatVersion),
  /** Version of the svc that wrote the backup. */
  program: z.string(),
  /** Version of PostgreSQL. */
  postgres: z.string(),
  /** Time of the snapshot. */
  created_at: z.string(),
  /** Applied migrations. */
  migrations: z.array(z.strictObject({ version: z.int(), name: z.string() })).min(1),
  /** A table comes after those that its foreign keys refer to. */
  tables: z.array(Table),
  sequences: z.array(Sequence),
});

export type Manifest = z.infer<typeof Manifest>;
export type BackupTable = Manifest['tables'][number];
export type BackupSequence = Manifest['sequences'][number];

const Signed = z.object({ checksum: sha256, content: z.unknown() });

const checksumOf = (content: unknown): string =>
  createHash('sha256').update(JSON.stringify(content)).digest('hex');

export const newManifest = (content: Omit<Manifest, 'format'>): Manifest => ({
  format: formatVersion,
  ...content,
});

export const manifestText = (content: Manifest): string =>
  `${JSON.stringify({ checksum: checksumOf(content), content }, null, 2)}\n`;

/** Throws a BackupError when the place has no backup, or the manifest is damaged or of a later format. */
export const readManifest = async (source: BackupSource): Promise<Manifest> => {
  const file = `${source.place}/${manifestName}`;
  const signed = Signed.safeParse(parseJson(await readText(source)));
  if (!signed.success || checksumOf(signed.data.content) !== signed.data.checksum)
    throw new BackupError(`${file} is damaged: its checksum differs. Use another backup`);
  const manifest = Manifest.safeParse(signed.data.content);
  if (manifest.success) return manifest.data;
  throw new BackupError(`${file} has a format that this release cannot read. Use the release that wrote it`);
};

const readText = async (source: BackupSource): Promise<string> => {
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of source.read(manifestName)) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  } catch (cause) {
    if (cause instanceof BackupError) throw cause;
    throw new BackupError(`There is no backup: ${source.place}/${manifestName} cannot be read`, { cause });
  }
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // reported as damaged
  }
};
