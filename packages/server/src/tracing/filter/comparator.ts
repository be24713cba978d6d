export const comparators = [
  'eq',
  'neq',
  'gt',
  'gte',
  'lt',
  'lte',
  'in',
  'has',
  'search',
  'like',
  'contain',
  'exists',
] as const;
export type Comparator = (typeof comparators)[number];
