// The components of the project's graph: the server bundles this file, and the page gets it from the server.
import { useState, type ReactNode } from 'react';
import './forecast-ui.css';

interface ForecastProps {
  city: string;
  /** Unknown until the graph has found it out. */
  degrees?: number;
}

const Forecast = ({ city, degrees }: ForecastProps): ReactNode => {
  const [isFahrenheit, setIsFahrenheit] = useState(false);
  const temperature = (celsius: number): string =>
    isFahrenheit ? `${(celsius * 9) / 5 + 32} °F` : `${celsius} °C`;
  return (
    <article className="forecast">
      {city}: {degrees === undefined ? 'measuring' : temperature(degrees)}
      <button onClick={() => setIsFahrenheit(true)}>in Fahrenheit</button>
    </article>
  );
};

// oxlint-disable-next-line import/no-default-export -- what `ui` of svc.json expects
export default { forecast: Forecast };
