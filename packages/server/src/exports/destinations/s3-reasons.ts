// What error codes mean to people, and whether trying again may help.

interface Reason {
  reason: string;
  isFinal: boolean;
}

const final = (reason: string): Reason => ({ reason, isFinal: true });
const passing = (reason: string): Reason => ({ reason, isFinal: false });

const certificate = final(
  'The certificate of the endpoint is not trusted. Install a valid one, or name its authority in NODE_EXTRA_CA_CERTS.',
);
const kms = final(
  'The key of KMS cannot be used. Check SSEKMSKeyId, that the key is enabled, and that kms:GenerateDataKey and kms:Decrypt are allowed.',
);
const region = final('The bucket is in another region, or at another endpoint. Set region to where it is.');
const token = final('The session token is not valid, or no longer. Give new credentials.');
const unreachable = passing(
  'The endpoint cannot be reached. Check its address, and whether the service runs.',
);
const cutOff = passing('The connection was cut off.');
const timeout = passing('The endpoint did not answer in time.');
const busy = passing('The service asks for fewer requests.');
const broken = passing('What arrived at the service was not what was sent.');
const fault = passing('The service reported a fault of its own.');

const reasons = new Map<string, Reason>(
  Object.entries({
    AccessDenied: final(
      'The service refuses. The credentials need s3:PutObject on the bucket and the prefix; for a bucket with a key of KMS also kms:GenerateDataKey.',
    ),
    AllAccessDisabled: final('All access to the bucket is disabled.'),
    AccountProblem: final('There is a problem with the account that owns the bucket.'),
    UnauthorizedAccess: final('The service refuses these credentials for this region or endpoint.'),
    NotSignedUp: final('The account is not signed up for the service.'),
    InvalidSecurity: final('The credentials are not valid.'),
    InvalidAccessKeyId: final(
      'The service does not know the access key id. Check it, and whether it was revoked.',
    ),
    SignatureDoesNotMatch: final(
      'The signature does not match. Check secret_access_key, and that nothing between here and the service changes the host or the path.',
    ),
    ExpiredToken: token,
    ExpiredTokenException: token,
    InvalidToken: token,
    TokenRefreshRequired: token,
    InvalidClientTokenId: final('The service that lends roles does not know the credentials of the server.'),
    NoCredentials: final(
      'There are no credentials, and those of the server are not lent (SVC_EXPORT_AMBIENT_CREDENTIALS).',
    ),
    CredentialsNotLent: final(
      'The credentials of the server are sent to AWS only, and to hosts on the list of SVC_EGRESS_ALLOW. Give credentials.',
    ),
    CredentialsProviderError: final('The server has no credentials of its own that could be lent.'),
    RoleAccessDenied: final(
      'The role cannot be assumed. Its trust policy must allow the identity of the server to call sts:AssumeRole, with the id of the workspace as external id.',
    ),
    NoSuchBucket: final(
      'There is no such bucket. Check bucket_name, and include_bucket_in_prefix where endpoint_url names the bucket.',
    ),
    InvalidBucketName: final('The service does not take the name of the bucket.'),
    PermanentRedirect: region,
    AuthorizationHeaderMalformed: region,
    IllegalLocationConstraintException: region,
    TemporaryRedirect: passing('The bucket is being moved.'),
    MethodNotAllowed: final(
      'The endpoint does not take files. Check that endpoint_url is that of the S3 API.',
    ),
    NotImplemented: final(
      'The service does not know something that was asked of it. Check s3_additional_kwargs.',
    ),
    InvalidRequest: final(
      'The service does not take the request. Check s3_additional_kwargs and config_kwargs_s3.',
    ),
    InvalidArgument: final('The service does not take an option. Check s3_additional_kwargs.'),
    InvalidStorageClass: final('The service does not know the storage class.'),
    InvalidTag: final('The service does not take the tags.'),
    MissingContentMD5: final('The bucket wants checksums. Set ChecksumAlgorithm in s3_additional_kwargs.'),
    AccessControlListNotSupported: final('The bucket takes no ACL. Leave ACL out of s3_additional_kwargs.'),
    KeyTooLongError: final('The prefix is too long.'),
    EntityTooLarge: final('The service takes no file of this size.'),
    EntityTooSmall: passing('The service wants larger parts.'),
    QuotaExceeded: passing('The quota of the bucket is used up. Make room.'),
    RequestTimeTooSkewed: passing(
      'The clocks of the server and of the service differ too much. Set them right.',
    ),
    EndpointError: final('No endpoint follows from what was given. Check region and config_kwargs_s3.'),
    ENOTFOUND: final('The host of the endpoint is not known. Check endpoint_url and region.'),
    EAI_AGAIN: passing('The host of the endpoint cannot be looked up at the moment.'),
    ECONNREFUSED: unreachable,
    EHOSTUNREACH: unreachable,
    ENETUNREACH: unreachable,
    ECONNRESET: cutOff,
    EPIPE: cutOff,
    ETIMEDOUT: timeout,
    Timeout: timeout,
    AnswerTooLong: final(
      'The endpoint answers with more than S3 ever says. Check that endpoint_url is that of the S3 API.',
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
    InvalidPart: passing('A part of the upload was lost.'),
    NoSuchUpload: passing('The upload was aborted by somebody else.'),
    ConditionalRequestConflict: passing('Something else was written under the same name at the same time.'),
    EPROTO: final(
      'The endpoint does not speak TLS as it should. Check the scheme and the port of endpoint_url.',
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
  if (/^KMS\.?/i.test(code)) return /Throttling|Internal/.test(code) ? passing(kms.reason) : kms;
  if (/^ERR_(SSL|TLS)/.test(code)) return reasons.get('EPROTO') ?? fault;
  if (status === 401 || status === 403) return final(reasons.get('AccessDenied')?.reason ?? '');
  if (status === 301) return region;
  if (status !== undefined && status >= 500) return fault;
  return passing('The service reported an error that is not known here.');
};
