-- Threads that wait for an answer, the oldest first (`has_interrupts` of searches). Cancelled runs and breakpoints leave interrupted threads
-- without a question, and there may be many of them.
create index threads_waiting on threads (state_updated_at, thread_id) where status = 'interrupted' and interrupts <> '{}';
