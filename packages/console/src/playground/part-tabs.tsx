import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Tabs } from '../ui/tabs.tsx';

const route = getRouteApi('/playground');

const parts = [
  { name: 'talk', label: 'Conversation' },
  { name: 'graph', label: 'Graph' },
  { name: 'settings', label: 'Config and state' },
] as const;

/** On a narrow screen, one part of the page is shown at a time. A wide screen shows all, without these tabs. */
export const PartTabs = (): ReactNode => {
  const { part = 'talk' } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <div className="playground-parts">
      <Tabs
        label="Parts of the playground"
        tabs={parts}
        active={part}
        onChange={(next) =>
          void navigate({
            search: (search) => ({ ...search, part: next === 'talk' ? undefined : next }),
            replace: true,
          })
        }
      />
    </div>
  );
};
