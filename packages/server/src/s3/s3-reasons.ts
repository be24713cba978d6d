// Explains error codes to users: the meaning, a remedy, and whether a retry may help.

export interface Reason {
  reason: string;
  isFinal: boolean;
}

const final = (reason: string): Reason => ({ reason, isFinal: true });
const temporary = (reason: string): Reason => ({ reason, isFinal: false });

const certificate = final(
  'The certificate of the endpoint is not trusted. Install a valid one, or add its certificate authority to NODE_EXTRA_CA_CERTS.',
);
const kms = final(
  'The KMS key cannot be used. Check SSEKMSKeyId, that the key is enabled, and that kms:GenerateDataKey and kms:Decrypt are allowed.',
);
const region = final(
  'The bucket is in another region or at another endpoint. Set region to the region of the bucket.',
);
const token = final('The session token is invalid or has expired. Set new credentials.');
const unreachable = temporary(
  'The endpoint cannot be reached. Check its address and whether the service is running.',
);
const cutOff = temporary('The connection was interrupted.');
const timeout = temporary('The endpoint did not respond in time.');
const busy = temporary('The service is limiting the rate of requests.');
const broken = temporary('The upload was corrupted or incomplete when it reached the service.');
const fault = temporary('The service reported an internal error.');

const reasons = new Map<string, Reason>(
  Object.entries({
    AccessDenied: final(
      'Access denied. The credentials need s3:PutObject on the bucket and the prefix, and kms:GenerateDataKey for a bucket with a KMS key.',
    ),
    AllAccessDisabled: final('All access to the bucket is disabled.'),
    AccountProblem: final('There is a problem with the account that owns the bucket.'),
    UnauthorizedAccess: final('The service rejects these credentials for this region or endpoint.'),
    NotSignedUp: final('The account is not signed up for the service.'),
    InvalidSecurity: final('The credentials are not valid.'),
    InvalidAccessKeyId: final(
      'The service does not know the access key id. Check that it is correct and was not revoked.',
    ),
    SignatureDoesNotMatch: final(
      'The signature does not match. Check secret_access_key, and that no proxy changes the host or the path of requests.',
    ),
    ExpiredToken: token,
    ExpiredTokenException: token,
    InvalidToken: token,
    TokenRefreshRequired: token,
    InvalidClientTokenId: final("AWS STS does not know the server's own credentials."),
    NoCredentials: final(
      "The destination has no credentials and may not use the server's own (SVC_EXPORT_AMBIENT_CREDENTIALS).",
    ),
    CredentialsNotLent: final(
      "The server's own credentials are sent only to AWS and to hosts in SVC_EGRESS_ALLOW. Set credentials for the destination.",
    ),
    CredentialsProviderError: final(
      'The server has no credentials of its own that the destination could use.',
    ),
    RoleAccessDenied: final(
      'The role cannot be assumed. Its trust policy must allow the identity of the server to call sts:AssumeRole with the id of the workspace as external id.',
    ),
    NoSuchBucket: final(
      'The bucket does not exist. Check bucket_name, and include_bucket_in_prefix if endpoint_url contains the bucket.',
    ),
    InvalidBucketName: final('The service does not allow this bucket name.'),
    PermanentRedirect: region,
    AuthorizationHeaderMalformed: region,
    IllegalLocationConstraintException: region,
    TemporaryRedirect: temporary('The bucket is being moved.'),
    MethodNotAllowed: final(
      'The endpoint does not accept files. Check that endpoint_url is the address of the S3 API.',
    ),
    NotImplemented: final(
      'The service does not support a feature of the request. Check s3_additional_kwargs.',
    ),
    InvalidRequest: final(
      'The service rejects the request as invalid. Check s3_additional_kwargs and config_kwargs_s3.',
    ),
    InvalidArgument: final('The service rejects an option. Check s3_additional_kwargs.'),
    InvalidStorageClass: final('The service does not know the storage class.'),
    InvalidTag: final('The service rejects the tags.'),
    MissingContentMD5: final('The bucket requires checksums. Set ChecksumAlgorithm in s3_additional_kwargs.'),
    AccessControlListNotSupported: final(
      'The bucket does not support ACLs. Remove ACL from s3_additional_kwargs.',
    ),
    KeyTooLongError: final('The prefix is too long.'),
    EntityTooLarge: final('The service does not support files of this size.'),
    EntityTooSmall: temporary('The service requires larger parts.'),
    QuotaExceeded: temporary('The quota of the bucket is exceeded. Free some space.'),
    RequestTimeTooSkewed: temporary(
      'The clocks of the server and the service differ too much. Correct them.',
    ),
    EndpointError: final(
      'The configuration does not determine an endpoint. Check region and config_kwargs_s3.',
    ),
    // The destination has been tested, so its name has existed.
    ENOTFOUND: temporary('The host of the endpoint does not exist in DNS. Check endpoint_url and region.'),
    ProxyNotFound: temporary(
      'The endpoint answered 404 without an S3 error, as a proxy does. Check that endpoint_url is the address of the S3 API, and that the service is running.',
    ),
    EAI_AGAIN: temporary('The DNS lookup of the endpoint failed temporarily.'),
    ECONNREFUSED: unreachable,
    EHOSTUNREACH: unreachable,
    ENETUNREACH: unreachable,
    ECONNRESET: cutOff,
    EPIPE: cutOff,
    ETIMEDOUT: timeout,
    Timeout: timeout,
    AnswerTooLong: final(
      'The response of the endpoint is too long for S3. Check that endpoint_url is the address of the S3 API.',
    ),
    RequestTimeout: timeout,
    SlowDown: busy,
    TooManyRequests: busy,
    Throttling: busy,
    ThrottlingException: busy,
    InternalError: fault,
    ServiceUnavailable: fault,
    BadDigest: broken,
    IncompleteBody: broken,
    XAmzContentSHA256Mismatch: broken,
    XAmzContentChecksumMismatch: broken,
    InvalidPart: temporary('A part of the upload was lost.'),
    NoSuchUpload: temporary('The upload was aborted by another client.'),
    ConditionalRequestConflict: temporary('Another client wrote to the same key at the same time.'),
    EPROTO: final(
      'The TLS handshake with the endpoint failed. Check the scheme and the port of endpoint_url.',
    ),
    CERT_HAS_EXPIRED: certificate,
    CERT_NOT_YET_VALID: certificate,
    DEPTH_ZERO_SELF_SIGNED_CERT: certificate,
    SELF_SIGNED_CERT_IN_CHAIN: certificate,
    UNABLE_TO_GET_ISSUER_CERT: certificate,
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: certificate,
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: certificate,
    ERR_TLS_CERT_ALTNAME_INVALID: final('The certificate of the endpoint is for another host.'),
  }),
);

export const findReason = (code: string, status: number | undefined): Reason => {
  const known = reasons.get(code);
  if (known) return known;
  if (/^KMS\.?/i.test(code)) return /Throttling|Internal/.test(code) ? temporary(kms.reason) : kms;
  if (/^ERR_(SSL|TLS)/.test(code)) return reasons.get('EPROTO') ?? fault;
  if (status === 401 || status === 403) return final(reasons.get('AccessDenied')?.reason ?? '');
  if (status === 301) return region;
  if (status !== undefined && status >= 500) return fault;
  return temporary('The service reported an unexpected error.');
};
