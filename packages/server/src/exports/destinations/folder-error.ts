// What a file system refuses, as errors of a destination.
import { DestinationError } from './destination-error.ts';

/** What trying again does not change, and what people can do about it. */
const finalReasons = new Map([
  ['EACCES', 'The server may not write there. Let the user that it runs as write to the folder.'],
  ['EPERM', 'The server may not write there. Let the user that it runs as write to the folder.'],
  ['EROFS', 'The file system is read-only. Mount it for writing.'],
  ['ENOTDIR', 'A part of the path is no folder, or a symbolic link, which is not followed.'],
  ['ELOOP', 'A part of the path is a symbolic link, which is not followed.'],
  ['EISDIR', 'There is a folder where the file should be.'],
  ['ENAMETOOLONG', 'The path is longer than the file system takes. Choose a shorter one.'],
  ['ENOENT', 'The folder is not there. See SVC_EXPORT_FILE_ROOTS.'],
]);

const passingReasons = new Map([
  ['ENOSPC', 'The disk is full. Make room.'],
  ['EDQUOT', 'The quota of the disk is used up. Make room.'],
  ['EFBIG', 'The file system takes no file of this size.'],
  ['EMFILE', 'The server has too many files open.'],
  ['ENFILE', 'The machine has too many files open.'],
  ['EIO', 'The disk reported an error.'],
]);

/** Anything else than an error of the system passes as it is. */
export const folderError = (error: unknown): unknown => {
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof DestinationError || !(error instanceof Error) || typeof code !== 'string')
    return error;
  if (!/^E[A-Z]+$/.test(code)) return error;
  const reason =
    finalReasons.get(code) ??
    passingReasons.get(code) ??
    'The file system reported an error that is not known here.';
  return new DestinationError(reason, { code, isFinal: finalReasons.has(code), cause: error });
};
