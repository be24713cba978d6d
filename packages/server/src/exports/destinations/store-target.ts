// A destination as a store is opened with it: plain data, secrets in clear. It goes from process to process and is kept nowhere.
import type { FileConfig, S3Config, S3Credentials } from '@svc/contract';

/** What the place was seen to let us do. */
export interface Abilities {
  can_head: boolean;
  can_delete: boolean;
  can_put_if_none_match: boolean;
}

export interface S3Target {
  destination_type: 's3';
  tenant_id: string;
  id: string;
  config: S3Config;
  /** At most one of these; none: those of the server, where the operator lends them. */
  credentials: S3Credentials | null;
  aws_role_arn: string | null;
  abilities: Partial<Abilities>;
}

export interface FileTarget {
  destination_type: 'file';
  tenant_id: string;
  id: string;
  config: FileConfig;
}

export type StoreTarget = S3Target | FileTarget;
