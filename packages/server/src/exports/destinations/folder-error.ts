// Converts errors of the file system to errors of a destination.
import { DestinationError } from '../../s3/destination-error.ts';

/** Errors for which a retry does not help, with a remedy. */
const finalReasons = new Map([
  [
    'EACCES',
    'The server has no permission to write to the folder. Grant it to the user that runs the server.',
  ],
  [
    'EPERM',
    'The server has no permission to write to the folder. Grant it to the user that runs the server.',
  ],
  ['EROFS', 'The file system is read-only. Mount it for writing.'],
  ['ENOTDIR', 'A part of the path is not a folder, or is a symbolic link; those are not followed.'],
  ['ELOOP', 'A part of the path is a symbolic link; those are not followed.'],
  ['EISDIR', 'The path of the file is a folder.'],
  ['ENAMETOOLONG', 'The path is longer than the file system allows. Choose a shorter one.'],
  ['ENOENT', 'The folder does not exist. See SVC_EXPORT_FILE_ROOTS.'],
]);

/** Errors for which a retry may help. */
const temporaryReasons = new Map([
  ['ENOSPC', 'The disk is full. Free some space.'],
  ['EDQUOT', 'The disk quota is exceeded. Free some space.'],
  ['EFBIG', 'The file system does not support files of this size.'],
  ['EMFILE', 'The server has too many files open.'],
  ['ENFILE', 'The machine has too many files open.'],
  ['EIO', 'The disk reported an error.'],
]);

/** Returns errors other than system errors unchanged. */
export const folderError = (error: unknown): unknown => {
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof DestinationError || !(error instanceof Error) || typeof code !== 'string')
    return error;
  if (!/^E[A-Z]+$/.test(code)) return error;
  const reason =
    finalReasons.get(code) ?? temporaryReasons.get(code) ?? 'The file system reported an unexpected error.';
  return new DestinationError(reason, { code, isFinal: finalReasons.has(code), cause: error });
};
