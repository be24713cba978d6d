// Explains errors of S3 services to the operator who makes or restores a backup. Remedies name variables instead of fields of a destination.
import { findReason, type Reason } from '../s3/s3-reasons.ts';

const region = 'The bucket is in another region. Set AWS_REGION.';
const session = 'The session token is invalid or has expired. Set new credentials.';
const denied =
  'Access denied. A backup needs s3:ListBucket, s3:GetObject, s3:PutObject, s3:DeleteObject and s3:AbortMultipartUpload for the prefix; a restore needs s3:GetObject.';

const reasons = new Map(
  Object.entries({
    AccessDenied: denied,
    NoSuchBucket: 'The bucket does not exist. Check its name, and AWS_ENDPOINT_URL_S3.',
    SignatureDoesNotMatch:
      'The signature does not match. Check AWS_SECRET_ACCESS_KEY, and that no proxy changes the host or the path of requests.',
    InvalidAccessKeyId:
      'The service does not know AWS_ACCESS_KEY_ID. Check that it is correct and was not revoked.',
    CredentialsProviderError: 'There are no credentials. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
    ExpiredToken: session,
    ExpiredTokenException: session,
    InvalidToken: session,
    PermanentRedirect: region,
    AuthorizationHeaderMalformed: region,
    IllegalLocationConstraintException: region,
    NoSuchKey: 'The object does not exist.',
    ENOTFOUND: 'The host of the endpoint does not exist in DNS. Check AWS_ENDPOINT_URL_S3 and AWS_REGION.',
    EPROTO:
      'The TLS handshake with the endpoint failed. Check the scheme and the port of AWS_ENDPOINT_URL_S3.',
    MethodNotAllowed:
      'The endpoint does not accept files. Check that AWS_ENDPOINT_URL_S3 is the address of the S3 API.',
    AnswerTooLong:
      'The response of the endpoint is too long for S3. Check that AWS_ENDPOINT_URL_S3 is the address of the S3 API.',
    QuotaExceeded: 'The quota of the bucket is exceeded. Delete old backups, or raise the quota.',
    KeyTooLongError: 'The prefix is too long.',
    PreconditionFailed: 'The object was replaced while it was read.',
    NotImplemented: 'The service does not support a feature of the request.',
    InvalidRequest: 'The service rejects the request as invalid.',
    InvalidArgument: 'The service rejects the request as invalid.',
  }),
);

export const findBucketReason = (code: string, status: number | undefined): Reason => {
  const found = findReason(code, status);
  return { ...found, reason: reasons.get(code) ?? found.reason };
};
