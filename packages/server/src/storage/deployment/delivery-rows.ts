// Webhook deliveries as they are read.
export interface DeliveryAttempt {
  at: string;
  /** Status of the response; absent when there was none. */
  status?: number;
  error?: string;
  ms: number;
}

export interface DeliveryRow {
  delivery_id: string;
  run_id: string;
  thread_id: string;
  url: string;
  status: 'pending' | 'delivered' | 'failed';
  attempt: number;
  not_before: string;
  error: string | null;
  log: DeliveryAttempt[];
  created_at: string;
  ended_at: string | null;
}
