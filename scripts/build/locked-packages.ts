// The part of package-lock.json that a published package needs at run time.

export interface LockEntry {
  version: string;
  link?: boolean;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
  [field: string]: unknown;
}

/** Entries by their place, such as `node_modules/a/node_modules/b`. */
export type LockEntries = Record<string, LockEntry>;

/** Fields that depend on who needs the package in the checkout. */
const checkoutFields = new Set(['dev', 'devOptional', 'peer']);

/** The names of the packages that a package needs. */
const neededBy = ({
  dependencies,
  optionalDependencies,
  peerDependencies,
  peerDependenciesMeta,
}: LockEntry): string[] => [
  ...Object.keys({ ...dependencies, ...optionalDependencies }),
  ...Object.keys({ ...peerDependencies }).filter((name) => peerDependenciesMeta?.[name]?.optional !== true),
];

/** Where the module in `place` finds a package: in its own node_modules, else in one above. */
const find = (entries: LockEntries, place: string, name: string): string | undefined => {
  for (let at = place; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    const candidate = at === '' ? `node_modules/${name}` : `${at}/node_modules/${name}`;
    if (entries[candidate] !== undefined) return candidate;
    if (at === '') return undefined;
  }
};

/** The packages of the checkout that these names need, without its own packages. Throws when one has another place in a package of it. */
export const lockedPackages = (entries: LockEntries, folder: string, names: string[]): LockEntries => {
  const found = new Map<string, LockEntry>();
  const waiting = names.map((name) => ({ from: folder, name }));
  for (let next; (next = waiting.pop()) !== undefined;) {
    const place = find(entries, next.from, next.name);
    const entry = place === undefined ? undefined : entries[place];
    // Optional packages of other systems may be missing.
    if (place === undefined || entry === undefined || entry.link === true || found.has(place)) continue;
    if (!place.startsWith('node_modules/'))
      throw new Error(`${place} is installed only for ${folder}: hoist it with the same version everywhere`);
    const fields = Object.entries(entry).filter(([field]) => !checkoutFields.has(field));
    found.set(place, Object.fromEntries(fields) as LockEntry);
    for (const name of neededBy(entry)) waiting.push({ from: place, name });
  }
  return Object.fromEntries([...found].toSorted(([a], [b]) => a.localeCompare(b, 'en')));
};
