// An earlier version of the assistant. The runs of the page get its config and context.
import type { Assistant } from '@svc/sdk';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useServerQuery } from '../api/client.tsx';
import { Button } from '../ui/button.tsx';
import { visibleText } from '../ui/visible-text.ts';

const route = getRouteApi('/playground');
const pageSize = 100;

interface ChosenVersion {
  /** Undefined without one, and until it is read. */
  version: Assistant | undefined;
  /** Why no run can start. */
  problem: string | undefined;
}

/** The version that the address names. */
export const useChosenVersion = (assistantId: string): ChosenVersion => {
  const { version: chosen } = route.useSearch();
  const { data, error } = useServerQuery({
    queryKey: ['assistants', assistantId, 'version', chosen],
    read: async (client, call) => {
      for (let offset = 0; ; offset += pageSize) {
        const page = await client.assistants.versions(assistantId, { limit: pageSize, offset }, call);
        const found = page.find(({ version }) => String(version) === chosen);
        if (found || page.length < pageSize) return found ?? null;
      }
    },
    enabled: chosen !== undefined,
    // A version never changes.
    staleTime: 'static',
  });
  if (chosen === undefined) return { version: undefined, problem: undefined };
  if (data) return { version: data, problem: undefined };
  const isMissing = data === null;
  return {
    version: undefined,
    problem: isMissing
      ? `The assistant has no version ${chosen}.`
      : (error?.message ?? 'Reading the version…'),
  };
};

export const VersionNotice = ({
  assistant,
  version,
}: {
  assistant: Assistant;
  version: Assistant;
}): ReactNode => {
  const navigate = route.useNavigate();
  const kept = keptFrom(assistant, version);
  return (
    <div className="notice playground-version" data-tone="blue">
      <span className="notice-text">
        Runs get the config and context of version {version.version}, which the settings show. Version{' '}
        {assistant.version} is current.
        {kept.length > 0 &&
          ` Runs also get what only the current version sets: ${visibleText(kept.join(', '))}.`}
      </span>
      <Button
        onClick={() =>
          void navigate({ search: (search) => ({ ...search, version: undefined }), replace: true })
        }
      >
        Use the current version
      </Button>
    </div>
  );
};

type Content = Pick<Assistant, 'config' | 'context'>;

/** The values of the current version that the other one lacks: the server merges the config of a run into that of its assistant. */
export const keptFrom = (current: Content, version: Content): string[] =>
  (['configurable', 'context'] as const).flatMap((part) => {
    const values = ({ config, context }: Content): Record<string, unknown> =>
      ((part === 'context' ? context : config.configurable) ?? {}) as Record<string, unknown>;
    const others = values(version);
    return Object.keys(values(current))
      .filter((name) => others[name] === undefined)
      .map((name) => `${part}.${name}`);
  });
