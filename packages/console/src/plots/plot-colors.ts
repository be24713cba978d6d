// Colours for a canvas. A custom property is read through an element, because getPropertyValue() returns `light-dark(…)` as it is written.
import type { Tone } from './plot-series.ts';

export interface PlotColors {
  tones: Record<Tone, string>;
  text: string;
  grid: string;
}

/** Colours of tokens.css as the browser shows them now. `host`: an element of the page, where a probe is added for a moment. */
export const readColors = (host: HTMLElement): PlotColors => {
  const probe = document.createElement('span');
  probe.hidden = true;
  host.append(probe);
  const read = (token: string): string => {
    probe.style.color = `var(--${token})`;
    return getComputedStyle(probe).color;
  };
  const colors = {
    tones: {
      green: read('green'),
      red: read('red'),
      amber: read('amber'),
      blue: read('blue'),
      accent: read('accent'),
      muted: read('muted'),
    },
    text: read('muted'),
    grid: read('line'),
  };
  probe.remove();
  return colors;
};
