// The variables of AWS programs that name the S3 service of a backup.
import { ConfigError } from './project/mistake.ts';

export interface AwsVariables {
  /** Undefined: AWS, in the region. */
  endpoint: string | undefined;
  region: string | undefined;
  /** Undefined: what the library finds, such as a profile or the role of the machine. */
  credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string } | undefined;
}

type Environment = Readonly<Record<string, string>>;

/** Throws a ConfigError. Empty variables count as unset. */
export const readAwsVariables = (env: Environment): AwsVariables => {
  const accessKeyId = valueOf(env, 'AWS_ACCESS_KEY_ID');
  const secretAccessKey = valueOf(env, 'AWS_SECRET_ACCESS_KEY');
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined))
    throw new ConfigError({
      where: accessKeyId === undefined ? 'AWS_ACCESS_KEY_ID' : 'AWS_SECRET_ACCESS_KEY',
      problem: 'is not set',
      remedy: 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or none of them.',
    });
  const sessionToken = valueOf(env, 'AWS_SESSION_TOKEN');
  return {
    endpoint: readEndpoint(env),
    region: valueOf(env, 'AWS_REGION') ?? valueOf(env, 'AWS_DEFAULT_REGION'),
    credentials:
      accessKeyId === undefined || secretAccessKey === undefined
        ? undefined
        : { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) },
  };
};

const valueOf = (env: Environment, name: string): string | undefined =>
  env[name] === '' ? undefined : env[name];

const readEndpoint = (env: Environment): string | undefined => {
  const name = ['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL'].find((one) => valueOf(env, one) !== undefined);
  if (name === undefined) return undefined;
  const value = env[name] ?? '';
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isEndpoint =
    url !== undefined &&
    ['http:', 'https:'].includes(url.protocol) &&
    url.username + url.password + url.search + url.hash === '';
  if (isEndpoint) return value;
  throw new ConfigError({
    where: name,
    problem: 'is no URL of an S3 service',
    remedy: 'Set it to a URL such as https://s3.example.com, without credentials.',
  });
};
