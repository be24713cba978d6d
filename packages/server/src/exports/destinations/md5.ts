import { createHash } from 'node:crypto';

/** The oldest checksum of S3, which every service knows. */
export const md5 = (body: Buffer): string => createHash('md5').update(body).digest('base64');
