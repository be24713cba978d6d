// Connections from the fault server to the gateway.
import { PutObjectCommand, UploadPartCommand } from '@aws-sdk/client-s3';
import { Agent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Gateway } from './gateway.ts';
import type { S3Request } from './s3-request.ts';

export interface Upstream {
  /** Starts the same request at the gateway; the caller sends its body. */
  forward(request: IncomingMessage): ClientRequest;
  /** Stores different bytes than the client has signed, with the owner's keys; returns the ETag. */
  store(request: S3Request, body: Uint8Array): Promise<string>;
  close(): void;
}

/** Headers of a connection, not of a request. */
const hopByHop = new Set(['connection', 'keep-alive', 'expect']);

/** Removes the headers of the connection; names and values alternate. */
export const endToEnd = (rawHeaders: readonly string[]): string[] => {
  const kept: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    if (!hopByHop.has(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
};

export const openUpstream = (gateway: Pick<Gateway, 'endpoint' | 'client'>): Upstream => {
  const { hostname, port } = new URL(gateway.endpoint);
  const agent = new Agent({ keepAlive: true });
  const owner = gateway.client();
  return {
    forward: ({ method, url, rawHeaders }) =>
      httpRequest({ hostname, port, agent, method, path: url, headers: endToEnd(rawHeaders) }),
    async store({ operation, bucket, key, uploadId, partNumber }, body) {
      const target = { Bucket: bucket, Key: key, Body: body };
      const { ETag } = await (operation === 'UploadPart'
        ? owner.send(new UploadPartCommand({ ...target, UploadId: uploadId, PartNumber: partNumber }))
        : owner.send(new PutObjectCommand(target)));
      return ETag ?? '';
    },
    close() {
      agent.destroy();
      owner.destroy();
    },
  };
};
