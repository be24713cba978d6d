import type { ConsoleSession } from '@svc/sdk';

export type KeyRole = NonNullable<ConsoleSession['workspace']>['role'];

/** What a page may need: to look, to add, or to change everything. */
export type NeededRole = Exclude<KeyRole, 'ingest'>;

const sufficient: Record<NeededRole, readonly KeyRole[]> = {
  viewer: ['viewer', 'editor', 'admin'],
  editor: ['editor', 'admin'],
  admin: ['admin'],
};

export const isSufficient = (role: KeyRole, needed: NeededRole): boolean => sufficient[needed].includes(role);

/** `editor or admin` */
export const sufficientText = (needed: NeededRole): string => sufficient[needed].join(' or ');
