// The data with which a store is opened, with secrets in clear. It is sent to exporter processes and never stored.
import type { FileConfig, S3Config, S3Credentials } from '@svc/contract';

/** Operations that the last successful probe found to work. */
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
  /** At most one of credentials and aws_role_arn is set. Without both, the server's own credentials are used, if the operator allows it. */
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
