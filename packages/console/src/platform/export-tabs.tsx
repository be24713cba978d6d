import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** Exports and destinations are two pages of one entry of the rail. */
export const ExportTabs = (): ReactNode => (
  <nav className="chips" aria-label="Exports and destinations">
    <Link to="/exports" className="chip">
      Exports
    </Link>
    <Link to="/destinations" className="chip">
      Destinations
    </Link>
  </nav>
);
