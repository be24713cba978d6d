// Text form of sizes: `512b`, `64kb`, `20mb`, `1gb` (powers of 1024). Values are bytes.

const unitsBytes = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 } as const;

type Unit = keyof typeof unitsBytes;

const pattern = /^(\d{1,15}(?:\.\d{1,6})?)(b|kb|mb|gb)$/;

/** Whole bytes; undefined when the text is not a size. The unit is required. */
export function parseSize(text: string): number | undefined {
  const match = pattern.exec(text.trim().toLowerCase());
  if (match === null) return undefined;
  const bytes = Math.round(Number(match[1]) * unitsBytes[match[2] as Unit]);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** The shortest text that `parseSize` turns into this number. */
export function formatSize(bytes: number): string {
  const units: Unit[] = ['gb', 'mb', 'kb'];
  const unit = bytes === 0 ? 'b' : (units.find((candidate) => bytes % unitsBytes[candidate] === 0) ?? 'b');
  return `${bytes / unitsBytes[unit]}${unit}`;
}
