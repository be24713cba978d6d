// Attachments of trace runs, and links that let the stock client read the content of one without a key.
import { notFound } from '@svc/contract/problem';
import { SealError, type Sealer } from '../../auth/sealed-users/sealer.ts';
import { tenantOf } from '../../auth/principal/caller.ts';
import type { Call } from '../../api/handlers.ts';
import type { Attachment, AttachmentName, TraceStorage } from '../../storage/tracing/traces.ts';

/** The workspace that reads, and the address of the server for it. */
export interface Reader {
  tenant_id: string;
  address: string;
}

export const readerOf = (call: Call): Reader => ({ tenant_id: tenantOf(call), address: call.address });

export interface AttachmentLink {
  name: string;
  content_type: string;
  url: string;
}

interface LinkTarget {
  tenant_id: string;
  run_id: string;
  name: string;
  /** Milliseconds since 1970. */
  expires: number;
}

const linkMs = 3_600_000;
const purpose = 'link to an attachment';

/** Finds no sealer on a server whose key is not that of its database. Its links need a key of the workspace. */
interface SealerSource {
  find(): Promise<Sealer | undefined>;
}

type Content = Omit<Attachment, 'run_id'>;

export class AttachmentService {
  readonly #traces: TraceStorage;
  readonly #sealer: SealerSource;

  constructor(traces: TraceStorage, sealer: SealerSource) {
    this.#traces = traces;
    this.#sealer = sealer;
  }

  async list(tenant_id: string, run_id: string): Promise<AttachmentName[]> {
    const found = await this.#traces.listAttachments(tenant_id, run_id);
    if (found.length === 0 && (await this.#traces.find(tenant_id, run_id)) === undefined)
      throw notFound('Run', run_id);
    return found;
  }

  async get(tenant_id: string, run_id: string, name: string): Promise<Content> {
    const found = await this.#traces.findAttachment(tenant_id, run_id, name);
    if (found === undefined) throw notFound('Attachment', name);
    return found;
  }

  /** Links to the attachments of these trace runs, by trace run. They are valid for an hour. */
  async linksOf(
    { tenant_id, address }: Reader,
    run_ids: readonly string[],
  ): Promise<ReadonlyMap<string, AttachmentLink[]>> {
    const found = run_ids.length === 0 ? [] : await this.#traces.attachmentsOf(tenant_id, run_ids);
    const links = new Map<string, AttachmentLink[]>();
    if (found.length === 0) return links;
    const sealer = await this.#sealer.find();
    const expires = Date.now() + linkMs;
    for (const { run_id, name, content_type } of found) {
      const path =
        sealer === undefined
          ? `runs/${run_id}/attachments?name=${encodeURIComponent(name)}`
          : `attachments/${sealer.seal(JSON.stringify({ tenant_id, run_id, name, expires }), purpose)}`;
      const ofRun = links.get(run_id) ?? [];
      ofRun.push({ name, content_type, url: `${address}/api/v1/${path}` });
      links.set(run_id, ofRun);
    }
    return links;
  }

  /** The content that a link names. */
  async open(token: string): Promise<Content> {
    const target = openedBy(await this.#sealer.find(), token);
    if (target === undefined || target.expires <= Date.now())
      throw notFound('Link to an attachment', `${token.slice(0, 16)}…`);
    return this.get(target.tenant_id, target.run_id, target.name);
  }
}

const openedBy = (sealer: Sealer | undefined, token: string): LinkTarget | undefined => {
  try {
    return sealer && (JSON.parse(sealer.open(token, purpose)) as LinkTarget);
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
};
