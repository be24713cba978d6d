import { useRouter } from '@tanstack/react-router';
import { useState } from 'react';

/** Whether the address still leads to the page that was open at first: the user may have left it while a request was pending. */
export const useStillHere = (): (() => boolean) => {
  const router = useRouter();
  const [path] = useState(() => router.latestLocation.pathname);
  return () => router.latestLocation.pathname === path;
};
