import type { User } from '../../auth/principal/caller.ts';

/** The owner of a job as it is stored: a project may have a user with an empty identity. */
export const ownerOf = (user: User | undefined): string => (user === undefined ? '' : `:${user.identity}`);

/** The identity of an owner with a user. */
export const userOfOwner = (owner: string): string => owner.slice(1);
