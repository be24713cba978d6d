import { createHash } from 'node:crypto';

/** The checksum of Content-MD5, which every S3 service supports. */
export const md5 = (body: Buffer): string => createHash('md5').update(body).digest('base64');
