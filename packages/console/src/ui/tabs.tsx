import { useRef, type KeyboardEvent, type ReactNode } from 'react';

/** Tabs in the ARIA pattern: arrow keys change the tab. */
export const Tabs = <Name extends string>({
  label,
  tabs,
  active,
  onChange,
}: {
  label: string;
  tabs: readonly { name: Name; label: ReactNode }[];
  active: Name;
  onChange: (name: Name) => void;
}): ReactNode => {
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent, index: number): void => {
    const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1 };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = (index + step + tabs.length) % tabs.length;
    const tab = tabs[next];
    if (!tab) return;
    onChange(tab.name);
    (list.current?.children[next] as HTMLElement | undefined)?.focus();
  };
  return (
    <div className="tabs" role="tablist" aria-label={label} ref={list}>
      {tabs.map(({ name, label: text }, index) => (
        <button
          key={name}
          type="button"
          role="tab"
          className="tab"
          aria-selected={name === active}
          tabIndex={name === active ? 0 : -1}
          onClick={() => onChange(name)}
          onKeyDown={(event) => move(event, index)}
        >
          {text}
        </button>
      ))}
    </div>
  );
};
