// A deterministic embedding model: one number for each word that it knows. Some texts make it fail.
const words = ['apple', 'banana', 'cat', 'dog', 'river', 'mountain'];

const vectorOf = (text: string): unknown => {
  if (text.includes('wrong-size')) return [1, 2, 3];
  if (text.includes('not-a-number')) return words.map(() => Number.NaN);
  if (text.includes('not-a-vector')) return 'vector';
  return words.map((word) => text.toLowerCase().split(word).length - 1);
};

export const embed = async (texts: string[]): Promise<unknown> => {
  await Promise.resolve();
  const all = texts.join('\n');
  if (all.includes('fail-now')) throw new Error('model failed with the key secret-key');
  if (all.includes('exit-now')) process.exit(1);
  if (all.includes('no-list')) return undefined;
  if (all.includes('one-less')) return texts.slice(1).map(vectorOf);
  return texts.map(vectorOf);
};

export const model = {
  embedDocuments: (texts: string[]) => embed(texts),
  embedQuery: (text: string) => vectorOf(text),
};
