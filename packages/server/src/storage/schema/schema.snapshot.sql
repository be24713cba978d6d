-- What the migrations make of an empty database. Written by: npm run generate

-- columns
api_key_workspaces.key_id uuid not null
api_key_workspaces.tenant_id uuid not null
api_keys.id uuid not null
api_keys.key_hash bytea not null
api_keys.short_key text not null
api_keys.description text not null default ''::text
api_keys.role text not null
api_keys.created_at timestamp with time zone not null default now()
api_keys.expires_at timestamp with time zone
api_keys.last_used_at timestamp with time zone
api_keys.revoked_at timestamp with time zone
api_keys.bootstrap text
assistant_versions.assistant_id uuid not null
assistant_versions.version integer not null
assistant_versions.graph_id text not null
assistant_versions.name text not null
assistant_versions.description text
assistant_versions.config jsonb not null
assistant_versions.context jsonb not null
assistant_versions.metadata jsonb not null
assistant_versions.created_at timestamp with time zone not null default now()
assistants.assistant_id uuid not null
assistants.graph_id text not null
assistants.name text not null
assistants.description text
assistants.config jsonb not null default '{}'::jsonb
assistants.context jsonb not null default '{}'::jsonb
assistants.metadata jsonb not null default '{}'::jsonb
assistants.version integer not null default 1
assistants.created_at timestamp with time zone not null default now()
assistants.updated_at timestamp with time zone not null default now()
assistants.is_default boolean not null default false
blob_garbage.blob_space uuid not null
blob_garbage.since timestamp with time zone not null default now()
blob_garbage.due_at timestamp with time zone not null default (now() + '00:01:00'::interval)
blobs.space uuid not null
blobs.hash uuid not null
blobs.refs uuid[]
blobs.payload text
checkpoint_heads.thread_id uuid not null
checkpoint_heads.checkpoint_ns text not null
checkpoint_heads.checkpoint_id uuid not null
checkpoint_writes.thread_id uuid not null
checkpoint_writes.checkpoint_ns text not null
checkpoint_writes.checkpoint_id uuid not null
checkpoint_writes.task_id text not null
checkpoint_writes.idx integer not null
checkpoint_writes.channel text not null
checkpoint_writes.task_path text
checkpoint_writes.ref text not null
checkpoint_writes.run_id uuid
checkpoints.thread_id uuid not null
checkpoints.checkpoint_ns text not null
checkpoints.checkpoint_id uuid not null
checkpoints.parent_id uuid
checkpoints.run_id uuid
checkpoints.metadata text not null
checkpoints.body text not null
checkpoints.channels text not null
checkpoints.wrote text
checkpoints.shape text
checkpoints.found_head uuid
console_sessions.hash bytea not null
console_sessions.mode text not null
console_sessions.owner bytea not null
console_sessions.sealed text not null
console_sessions.seen_at timestamp with time zone not null default now()
console_sessions.expires_at timestamp with time zone not null
console_sessions.created_at timestamp with time zone not null default now()
console_sessions.browser text
cron_ticks.cron_id uuid not null
cron_ticks.scheduled_for timestamp with time zone not null
cron_ticks.fired_at timestamp with time zone not null default now()
cron_ticks.run_id uuid
crons.cron_id uuid not null
crons.assistant_id uuid not null
crons.thread_id uuid
crons.on_run_completed text not null default 'delete'::text
crons.schedule text not null
crons.timezone text
crons.end_time timestamp with time zone
crons.enabled boolean not null default true
crons.payload text not null
crons.metadata jsonb not null default '{}'::jsonb
crons.next_run_date timestamp with time zone
crons.last_error text
crons.sealed_user text
crons.created_at timestamp with time zone not null default now()
crons.updated_at timestamp with time zone not null default now()
deleted_threads.thread_id uuid not null
deleted_threads.blob_space uuid not null
deleted_threads.deleted_at timestamp with time zone not null default now()
encryption_keys.only_row boolean not null default true
encryption_keys.key_id text not null
expiry_defaults.only_row boolean not null default true
expiry_defaults.thread_ttl_minutes double precision
expiry_defaults.thread_ttl_strategy text
expiry_defaults.item_ttl_minutes double precision
expiry_defaults.item_refresh_on_read boolean not null default true
export_destinations.tenant_id uuid not null
export_destinations.id uuid not null
export_destinations.destination_type text not null
export_destinations.display_name text not null
export_destinations.config text not null
export_destinations.credentials text
export_destinations.credentials_keys text[] not null default '{}'::text[]
export_destinations.aws_role_arn text
export_destinations.abilities jsonb not null default '{}'::jsonb
export_destinations.created_at timestamp with time zone not null default now()
export_destinations.updated_at timestamp with time zone not null default now()
export_events.tenant_id uuid not null
export_events.export_id uuid not null
export_events.id bigint not null
export_events.at timestamp with time zone not null default now()
export_events.type text not null
export_events.run_id uuid
export_events.message text not null
export_files.tenant_id uuid not null
export_files.run_id uuid not null
export_files.number integer not null
export_files.export_id uuid not null
export_files.key text not null
export_files.rows bigint not null
export_files.bytes bigint not null
export_files.raw_bytes bigint not null
export_files.sha256 text not null
export_files.min_start_time timestamp with time zone not null
export_files.max_start_time timestamp with time zone not null
export_files.written_at timestamp with time zone not null default now()
export_runs.tenant_id uuid not null
export_runs.id uuid not null
export_runs.export_id uuid not null
export_runs.window_start timestamp with time zone not null
export_runs.window_end timestamp with time zone not null
export_runs.status text not null default 'CREATED'::text
export_runs.retry_number integer not null default 0
export_runs.errors jsonb not null default '{}'::jsonb
export_runs.not_before timestamp with time zone not null default now()
export_runs.lease_token bigint not null default 0
export_runs.lease_until timestamp with time zone
export_runs.reclaims integer not null default 0
export_runs.cursor text
export_runs.rows_written bigint not null default 0
export_runs.bytes_written bigint not null default 0
export_runs.raw_bytes bigint not null default 0
export_runs.pending_upload jsonb
export_runs.created_at timestamp with time zone not null default now()
export_runs.updated_at timestamp with time zone not null default now()
export_runs.started_at timestamp with time zone
export_runs.attempt_at timestamp with time zone
export_runs.attempt_rows bigint not null default 0
export_runs.heartbeat_at timestamp with time zone
export_runs.finished_at timestamp with time zone
export_runs.claimed_at timestamp with time zone
exports.tenant_id uuid not null
exports.id uuid not null
exports.destination_id uuid not null
exports.session_id uuid not null
exports.window_start timestamp with time zone not null
exports.window_end timestamp with time zone
exports.filter text
exports.format_version text not null
exports.compression text not null
exports.export_fields text[]
exports.interval_hours integer
exports.source_export_id uuid
exports.status text not null
exports.error text
exports.next_window timestamp with time zone
exports.failures integer not null default 0
exports.manifest text
exports.created_at timestamp with time zone not null default now()
exports.updated_at timestamp with time zone not null default now()
exports.started_at timestamp with time zone
exports.finished_at timestamp with time zone
exports.claimed_at timestamp with time zone
exports.completing_at timestamp with time zone
exports.lease_token bigint not null default 0
exports.lease_until timestamp with time zone
exports.retry_number integer not null default 0
exports.not_before timestamp with time zone
exports.reclaims integer not null default 0
exports.writers text[]
exports.layout_version integer not null
feedback.tenant_id uuid not null
feedback.id uuid not null
feedback.run_id uuid not null
feedback.trace_id uuid
feedback.session_id uuid
feedback.key text not null
feedback.score numeric
feedback.value jsonb
feedback.correction jsonb
feedback.comment text
feedback.feedback_source jsonb not null
feedback.created_at timestamp with time zone not null default now()
feedback.modified_at timestamp with time zone not null default now()
feedback_tokens.id uuid not null
feedback_tokens.tenant_id uuid not null
feedback_tokens.run_id uuid not null
feedback_tokens.key text not null
feedback_tokens.expires_at timestamp with time zone not null
feedback_tokens.created_at timestamp with time zone not null default now()
job_rows.job_id uuid not null
job_rows.position integer not null
job_rows.thread_id uuid not null
job_rows.run_id uuid
job_rows.status text not null
job_rows.created_at timestamp with time zone not null
job_rows.result text
job_rows.reason text
jobs.job_id uuid not null default gen_random_uuid()
jobs.kind text not null
jobs.owner text not null
jobs.state text not null default 'preview'::text
jobs.filter jsonb
jobs.arguments jsonb not null
jobs.total integer not null
jobs.done integer not null default 0
jobs.failed integer not null default 0
jobs.skipped integer not null default 0
jobs.error text
jobs.sealed_user text
jobs.turn_at timestamp with time zone
jobs.created_at timestamp with time zone not null default now()
jobs.started_at timestamp with time zone
jobs.ended_at timestamp with time zone
jobs.expires_at timestamp with time zone not null
model_prices.id uuid not null
model_prices.tenant_id uuid
model_prices.name text not null
model_prices.match_pattern text not null
model_prices.provider text
model_prices.start_time timestamp with time zone
model_prices.prompt_cost numeric not null
model_prices.completion_cost numeric not null
model_prices.prompt_cost_details jsonb not null default '{}'::jsonb
model_prices.completion_cost_details jsonb not null default '{}'::jsonb
model_prices.created_at timestamp with time zone not null default now()
own_trace_runs.tenant_id uuid not null
own_trace_runs.id uuid not null
own_trace_runs.run_id uuid not null
own_trace_runs.sent_at timestamp with time zone not null default now()
periodic_tasks.name text not null
periodic_tasks.lease_token bigint not null default 0
periodic_tasks.lease_until timestamp with time zone
periodic_tasks.next_at timestamp with time zone not null default now()
projects.tenant_id uuid not null
projects.id uuid not null
projects.name text not null
projects.description text
projects.extra text
projects.start_time timestamp with time zone not null default now()
replaced_writes.thread_id uuid not null
replaced_writes.checkpoint_ns text not null
replaced_writes.checkpoint_id uuid not null
replaced_writes.task_id text not null
replaced_writes.idx integer not null
replaced_writes.version bigint not null
replaced_writes.run_id uuid
replaced_writes.channel text not null
replaced_writes.task_path text
replaced_writes.ref text not null
run_cancels.run_id uuid not null
run_cancels.action text not null
run_cancels.reason text not null
run_cancels.created_at timestamp with time zone not null default now()
run_events.run_id uuid not null
run_events.first_id integer not null
run_events.last_id integer not null
run_events.events text not null
run_events.outcome text
run_events.created_at timestamp with time zone not null default now()
run_queue_size.only_row boolean not null default true
run_queue_size.pending bigint not null default 0
run_queue_size.counted_at timestamp with time zone not null default now()
run_users.run_id uuid not null
run_users.sealed text not null
runs.run_id uuid not null
runs.thread_id uuid not null
runs.assistant_id uuid not null
runs.status text not null
runs.metadata jsonb not null default '{}'::jsonb
runs.kwargs text not null
runs.multitask_strategy text not null default 'enqueue'::text
runs.temporary boolean not null default false
runs.error text
runs.error_stack text
runs.log text not null default 'nothing'::text
runs.webhook text
runs.attempt integer not null default 0
runs.lease_token bigint not null default 0
runs.lease_until timestamp with time zone
runs.worker_id uuid
runs.started_at timestamp with time zone
runs.final_head uuid
runs.lost_attempts jsonb not null default '[]'::jsonb
runs.not_before timestamp with time zone not null default now()
runs.created_at timestamp with time zone not null default now()
runs.updated_at timestamp with time zone not null default now()
runs.found_head uuid
runs.found_status text
runs.found_interrupts text
runs.found_error text
runs.found_by uuid
runs.graph_id text
runs.owner_hash integer not null default 0
runs.waits_for text
runs.progress_token bigint not null default 0
runs.first_seq bigint
runs.cancel_reason text
runs.input_of uuid
schema_functions.only_row boolean not null default true
schema_functions.revision integer not null
schema_functions.checksum text not null
schema_functions.applied_at timestamp with time zone not null default now()
schema_migrations.version integer not null
schema_migrations.name text not null
schema_migrations.checksum text not null
schema_migrations.applied_at timestamp with time zone not null default now()
schema_migrations.serves_from integer not null default 0
store_items.namespace text[] collate C not null
store_items.key text not null
store_items.value jsonb not null
store_items.created_at timestamp with time zone not null default now()
store_items.updated_at timestamp with time zone not null default now()
store_items.ttl_minutes double precision
store_items.expires_at timestamp with time zone
store_vectors.namespace text[] collate C not null
store_vectors.key text not null
store_vectors.item_updated_at timestamp with time zone not null
store_vectors.dims integer not null
store_vectors.vectors bytea not null
stored_endings.owner uuid not null
stored_endings.lease_token bigint not null
stored_endings.stored_at timestamp with time zone not null default now()
tenant_runs.tenant_id uuid
tenant_runs.day date
tenant_runs.id uuid
tenant_runs.session_id uuid
tenant_runs.trace_id uuid
tenant_runs.parent_run_id uuid
tenant_runs.name text
tenant_runs.run_type text
tenant_runs.dotted_order text collate C
tenant_runs.start_time timestamp with time zone
tenant_runs.end_time timestamp with time zone
tenant_runs.error text
tenant_runs.inputs text
tenant_runs.outputs text
tenant_runs.events text
tenant_runs.serialized text
tenant_runs.extra text
tenant_runs.metadata jsonb
tenant_runs.tags jsonb
tenant_runs.reference_example_id uuid
tenant_runs.model text
tenant_runs.prompt_tokens bigint
tenant_runs.completion_tokens bigint
tenant_runs.total_tokens bigint
tenant_runs.prompt_cost numeric
tenant_runs.completion_cost numeric
tenant_runs.total_cost numeric
tenant_runs.usage_details jsonb
tenant_runs.first_token_time timestamp with time zone
tenant_runs.thread_id text
tenant_runs.status text
tenant_runs.rank bigint
tenant_runs.patched integer
tenant_runs.writes bigint[]
tenant_runs.inserted_at timestamp with time zone
tenant_runs.updated_at timestamp with time zone
threads.thread_id uuid not null
threads.blob_space uuid not null
threads.status text not null default 'idle'::text
threads.metadata jsonb not null default '{}'::jsonb
threads.config jsonb not null default '{}'::jsonb
threads.interrupts text not null default '{}'::text
threads.error text
threads.watched_until timestamp with time zone
threads.created_at timestamp with time zone not null default now()
threads.updated_at timestamp with time zone not null default now()
threads.state_updated_at timestamp with time zone not null default now()
threads.ttl_minutes double precision default default_thread_ttl()
threads.ttl_strategy text default default_thread_ttl_strategy()
threads.ttl_since timestamp with time zone
threads.ttl_done_at timestamp with time zone
threads.removals integer not null default 0
threads.expires_at timestamp with time zone
threads.settled_by uuid
threads.settled_status text not null default 'idle'::text
tickets.hash bytea not null
tickets.mode text not null
tickets.caller bytea not null
tickets.counted_as text
tickets.sealed_user text
tickets.expires_at timestamp with time zone not null
trace_attachments.tenant_id uuid not null
trace_attachments.day date not null
trace_attachments.run_id uuid not null
trace_attachments.name text not null
trace_attachments.content_type text not null
trace_attachments.content bytea not null
trace_days.day date not null
trace_deletions.tenant_id uuid not null
trace_deletions.session_id uuid not null
trace_deletions.deleted_at timestamp with time zone not null default now()
trace_hour_changes.id bigint not null
trace_hour_changes.tenant_id uuid not null
trace_hour_changes.session_id uuid not null
trace_hour_changes.hour timestamp with time zone not null
trace_hour_changes.changed_at timestamp with time zone not null default clock_timestamp()
trace_hours.tenant_id uuid not null
trace_hours.session_id uuid not null
trace_hours.hour timestamp with time zone not null
trace_hours.run_count bigint not null
trace_hours.error_count bigint not null
trace_hours.prompt_tokens bigint not null
trace_hours.completion_tokens bigint not null
trace_hours.total_tokens bigint not null
trace_hours.prompt_cost numeric
trace_hours.completion_cost numeric
trace_hours.total_cost numeric
trace_hours.last_run_start_time timestamp with time zone
trace_hours.latency_steps smallint[] not null
trace_hours.latency_runs integer[] not null
trace_hours.first_token_steps smallint[] not null
trace_hours.first_token_runs integer[] not null
trace_moves.tenant_id uuid not null
trace_moves.id uuid not null
trace_moves.number bigint not null
trace_moves.day date not null
trace_moves.start_time timestamp with time zone not null
trace_moves.moved_at timestamp with time zone not null default clock_timestamp()
trace_orphans.tenant_id uuid not null
trace_orphans.parent_run_id uuid not null
trace_orphans.id uuid not null
trace_run_days.tenant_id uuid not null
trace_run_days.id uuid not null
trace_run_days.day date not null
trace_runs.tenant_id uuid not null
trace_runs.day date not null
trace_runs.id uuid not null
trace_runs.session_id uuid
trace_runs.trace_id uuid
trace_runs.parent_run_id uuid
trace_runs.name text
trace_runs.run_type text
trace_runs.dotted_order text collate C
trace_runs.start_time timestamp with time zone
trace_runs.end_time timestamp with time zone
trace_runs.error text
trace_runs.inputs text
trace_runs.outputs text
trace_runs.events text
trace_runs.serialized text
trace_runs.extra text
trace_runs.metadata jsonb not null
trace_runs.tags jsonb
trace_runs.reference_example_id uuid
trace_runs.model text
trace_runs.prompt_tokens bigint
trace_runs.completion_tokens bigint
trace_runs.total_tokens bigint
trace_runs.prompt_cost numeric
trace_runs.completion_cost numeric
trace_runs.total_cost numeric
trace_runs.usage_details jsonb
trace_runs.first_token_time timestamp with time zone
trace_runs.thread_id text default trace_thread_id(metadata)
trace_runs.status text default CASE WHEN (error IS NOT NULL) THEN 'error'::text WHEN (end_time IS NOT NULL) THEN 'success'::text ELSE 'pending'::text END
trace_runs.rank bigint not null
trace_runs.patched integer not null
trace_runs.writes bigint[] not null
trace_runs.inserted_at timestamp with time zone not null default now()
trace_runs.updated_at timestamp with time zone not null default now()
trace_runs.ranks jsonb
webhook_deliveries.delivery_id uuid not null default gen_random_uuid()
webhook_deliveries.run_id uuid not null
webhook_deliveries.thread_id uuid not null
webhook_deliveries.url text not null
webhook_deliveries.origin text not null default COALESCE("substring"(url, '^[^/]*//[^/?#]*'::text), ''::text)
webhook_deliveries.status text not null default 'pending'::text
webhook_deliveries.attempt integer not null default 0
webhook_deliveries.lease_token bigint not null default 0
webhook_deliveries.lease_until timestamp with time zone
webhook_deliveries.not_before timestamp with time zone not null default now()
webhook_deliveries.run text not null
webhook_deliveries.values text
webhook_deliveries.metadata jsonb not null default '{}'::jsonb
webhook_deliveries.error text
webhook_deliveries.log jsonb not null default '[]'::jsonb
webhook_deliveries.created_at timestamp with time zone not null default now()
webhook_deliveries.ended_at timestamp with time zone
workers.worker_id uuid not null
workers.name text not null
workers.slots integer not null
workers.running integer not null
workers.blocked_executors integer not null default 0
workers.draining boolean not null default false
workers.started_at timestamp with time zone not null default now()
workers.seen_at timestamp with time zone not null default now()
workers.graphs text[] not null
workers.connections integer not null
workers.machine text
workers.process text
workers.ended_at timestamp with time zone
workspaces.id uuid not null
workspaces.display_name text not null
workspaces.created_at timestamp with time zone not null default now()

-- constraints
api_key_workspaces FOREIGN KEY (key_id) REFERENCES api_keys(id) ON DELETE CASCADE
api_key_workspaces FOREIGN KEY (tenant_id) REFERENCES workspaces(id) ON DELETE CASCADE
api_key_workspaces PRIMARY KEY (key_id, tenant_id)
api_keys CHECK ((bootstrap = ANY (ARRAY['current'::text, 'replaced'::text])))
api_keys CHECK ((length(key_hash) = 32))
api_keys CHECK ((role = ANY (ARRAY['admin'::text, 'editor'::text, 'viewer'::text, 'ingest'::text])))
api_keys PRIMARY KEY (id)
api_keys UNIQUE (key_hash)
assistant_versions FOREIGN KEY (assistant_id) REFERENCES assistants(assistant_id) ON DELETE CASCADE
assistant_versions PRIMARY KEY (assistant_id, version)
assistants PRIMARY KEY (assistant_id)
blob_garbage PRIMARY KEY (blob_space)
blobs PRIMARY KEY (space, hash)
checkpoint_heads PRIMARY KEY (thread_id, checkpoint_ns)
checkpoint_writes PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
checkpoints PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id)
console_sessions CHECK ((length(browser) <= 512))
console_sessions CHECK ((mode = ANY (ARRAY['custom'::text, 'keys'::text, 'anonymous'::text])))
console_sessions PRIMARY KEY (hash)
cron_ticks FOREIGN KEY (cron_id) REFERENCES crons(cron_id) ON DELETE CASCADE
cron_ticks PRIMARY KEY (cron_id, scheduled_for)
crons CHECK ((on_run_completed = ANY (ARRAY['delete'::text, 'keep'::text])))
crons FOREIGN KEY (assistant_id) REFERENCES assistants(assistant_id) ON DELETE CASCADE
crons FOREIGN KEY (thread_id) REFERENCES threads(thread_id) ON DELETE CASCADE
crons PRIMARY KEY (cron_id)
deleted_threads PRIMARY KEY (thread_id)
encryption_keys CHECK (only_row)
encryption_keys PRIMARY KEY (only_row)
expiry_defaults CHECK ((thread_ttl_strategy = ANY (ARRAY['delete'::text, 'keep_latest'::text])))
expiry_defaults CHECK (only_row)
expiry_defaults PRIMARY KEY (only_row)
export_destinations CHECK ((destination_type = ANY (ARRAY['s3'::text, 'file'::text])))
export_destinations FOREIGN KEY (tenant_id) REFERENCES workspaces(id) ON DELETE CASCADE
export_destinations PRIMARY KEY (tenant_id, id)
export_events FOREIGN KEY (tenant_id, export_id) REFERENCES exports(tenant_id, id) ON DELETE CASCADE
export_events PRIMARY KEY (tenant_id, export_id, id)
export_files FOREIGN KEY (tenant_id, run_id) REFERENCES export_runs(tenant_id, id) ON DELETE CASCADE
export_files PRIMARY KEY (tenant_id, run_id, number)
export_runs CHECK ((status = ANY (ARRAY['CREATED'::text, 'RUNNING'::text, 'COMPLETED'::text, 'FAILED'::text, 'CANCELLED'::text, 'TIMEDOUT'::text])))
export_runs FOREIGN KEY (tenant_id, export_id) REFERENCES exports(tenant_id, id) ON DELETE CASCADE
export_runs PRIMARY KEY (tenant_id, id)
exports CHECK (((status <> 'INTERVALSCHEDULED'::text) OR (interval_hours IS NOT NULL)))
exports CHECK ((compression = ANY (ARRAY['none'::text, 'gzip'::text, 'snappy'::text, 'zstandard'::text])))
exports CHECK ((format_version = ANY (ARRAY['v1'::text, 'v2_beta'::text])))
exports CHECK ((layout_version = ANY (ARRAY[1, 2])))
exports CHECK ((status = ANY (ARRAY['CREATED'::text, 'RUNNING'::text, 'COMPLETED'::text, 'FAILED'::text, 'CANCELLED'::text, 'TIMEDOUT'::text, 'INTERVALSCHEDULED'::text])))
exports CHECK ((window_end > window_start))
exports FOREIGN KEY (tenant_id) REFERENCES workspaces(id) ON DELETE CASCADE
exports FOREIGN KEY (tenant_id, destination_id) REFERENCES export_destinations(tenant_id, id)
exports FOREIGN KEY (tenant_id, session_id) REFERENCES projects(tenant_id, id) ON DELETE CASCADE
exports PRIMARY KEY (tenant_id, id)
feedback FOREIGN KEY (tenant_id) REFERENCES workspaces(id) ON DELETE CASCADE
feedback PRIMARY KEY (tenant_id, id)
feedback_tokens FOREIGN KEY (tenant_id) REFERENCES workspaces(id) ON DELETE CASCADE
feedback_tokens PRIMARY KEY (id)
job_rows CHECK ((result = ANY (ARRAY['done'::text, 'failed'::text, 'skipped'::text])))
job_rows FOREIGN KEY (job_id) REFERENCES jobs(job_id) ON DELETE CASCADE
job_rows PRIMARY KEY (job_id, "position")
jobs CHECK ((state = ANY (ARRAY['preview'::text, 'running'::text, 'cancelling'::text, 'completed'::text, 'cancelled'::text, 'failed'::text])))
jobs PRIMARY KEY (job_id)
model_prices FOREIGN KEY (tenant_id) REFERENCES workspaces(id) ON DELETE CASCADE
model_prices PRIMARY KEY (id)
own_trace_runs PRIMARY KEY (tenant_id, id)
periodic_tasks PRIMARY KEY (name)
projects CHECK ((name <> ''::text))
projects FOREIGN KEY (tenant_id) REFERENCES workspaces(id) ON DELETE CASCADE
projects PRIMARY KEY (tenant_id, id)
replaced_writes PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, version)
run_cancels CHECK ((action = ANY (ARRAY['interrupt'::text, 'rollback'::text])))
run_cancels PRIMARY KEY (run_id)
run_events PRIMARY KEY (run_id, first_id, last_id)
run_queue_size CHECK (only_row)
run_queue_size PRIMARY KEY (only_row)
run_users PRIMARY KEY (run_id)
runs CHECK ((log = ANY (ARRAY['nothing'::text, 'outcome'::text, 'events'::text])))
runs CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'success'::text, 'error'::text, 'timeout'::text, 'interrupted'::text])))
runs PRIMARY KEY (run_id)
schema_functions CHECK (only_row)
schema_functions PRIMARY KEY (only_row)
schema_migrations PRIMARY KEY (version)
store_items CHECK ((ttl_minutes > (0)::double precision))
store_items PRIMARY KEY (namespace, key)
store_vectors CHECK (((length(vectors) > 0) AND ((length(vectors) % (dims * 4)) = 0)))
store_vectors CHECK ((dims > 0))
store_vectors PRIMARY KEY (namespace, key)
stored_endings PRIMARY KEY (owner, lease_token)
threads CHECK (((ttl_minutes IS NULL) = (ttl_strategy IS NULL)))
threads CHECK ((settled_status = ANY (ARRAY['idle'::text, 'interrupted'::text, 'error'::text])))
threads CHECK ((status = ANY (ARRAY['idle'::text, 'busy'::text, 'interrupted'::text, 'error'::text])))
threads CHECK ((ttl_minutes > (0)::double precision))
threads CHECK ((ttl_strategy = ANY (ARRAY['delete'::text, 'keep_latest'::text])))
threads PRIMARY KEY (thread_id)
tickets CHECK ((mode = ANY (ARRAY['custom'::text, 'keys'::text, 'anonymous'::text])))
tickets PRIMARY KEY (hash)
trace_attachments PRIMARY KEY (tenant_id, run_id, name, day)
trace_days PRIMARY KEY (day)
trace_deletions FOREIGN KEY (tenant_id) REFERENCES workspaces(id) ON DELETE CASCADE
trace_deletions PRIMARY KEY (tenant_id, session_id)
trace_hour_changes PRIMARY KEY (id)
trace_hours PRIMARY KEY (tenant_id, session_id, hour)
trace_moves PRIMARY KEY (tenant_id, id, number)
trace_orphans PRIMARY KEY (tenant_id, parent_run_id, id)
trace_run_days PRIMARY KEY (tenant_id, id)
trace_runs PRIMARY KEY (tenant_id, id, day)
webhook_deliveries CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text])))
webhook_deliveries PRIMARY KEY (delivery_id)
workers PRIMARY KEY (worker_id)
workspaces CHECK ((display_name <> ''::text))
workspaces PRIMARY KEY (id)

-- indexes
CREATE UNIQUE INDEX api_key_workspaces_pkey ON svc.api_key_workspaces USING btree (key_id, tenant_id)
CREATE INDEX api_key_workspaces_tenant ON svc.api_key_workspaces USING btree (tenant_id, key_id)
CREATE INDEX api_keys_bootstrap ON svc.api_keys USING btree (bootstrap) WHERE (bootstrap IS NOT NULL)
CREATE INDEX api_keys_created ON svc.api_keys USING btree (created_at, id)
CREATE UNIQUE INDEX api_keys_key_hash_key ON svc.api_keys USING btree (key_hash)
CREATE UNIQUE INDEX api_keys_pkey ON svc.api_keys USING btree (id)
CREATE UNIQUE INDEX assistant_versions_pkey ON svc.assistant_versions USING btree (assistant_id, version)
CREATE INDEX assistants_created ON svc.assistants USING btree (created_at, assistant_id)
CREATE INDEX assistants_default ON svc.assistants USING btree (graph_id) WHERE is_default
CREATE INDEX assistants_graph ON svc.assistants USING btree (graph_id, created_at)
CREATE INDEX assistants_metadata ON svc.assistants USING gin (metadata jsonb_path_ops) WITH (fastupdate=off)
CREATE UNIQUE INDEX assistants_pkey ON svc.assistants USING btree (assistant_id)
CREATE INDEX assistants_updated ON svc.assistants USING btree (updated_at, assistant_id)
CREATE INDEX blob_garbage_due ON svc.blob_garbage USING btree (due_at)
CREATE UNIQUE INDEX blob_garbage_pkey ON svc.blob_garbage USING btree (blob_space)
CREATE UNIQUE INDEX blobs_pkey ON svc.blobs USING btree (space, hash)
CREATE UNIQUE INDEX checkpoint_heads_pkey ON svc.checkpoint_heads USING btree (thread_id, checkpoint_ns)
CREATE UNIQUE INDEX checkpoint_writes_pkey ON svc.checkpoint_writes USING btree (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
CREATE INDEX checkpoint_writes_run ON svc.checkpoint_writes USING btree (run_id) WHERE (run_id IS NOT NULL)
CREATE UNIQUE INDEX checkpoints_pkey ON svc.checkpoints USING btree (thread_id, checkpoint_ns, checkpoint_id)
CREATE INDEX console_sessions_expiry ON svc.console_sessions USING btree (expires_at)
CREATE INDEX console_sessions_owner ON svc.console_sessions USING btree (owner, seen_at)
CREATE UNIQUE INDEX console_sessions_pkey ON svc.console_sessions USING btree (hash)
CREATE INDEX console_sessions_seen ON svc.console_sessions USING btree (seen_at)
CREATE INDEX cron_ticks_fired ON svc.cron_ticks USING btree (fired_at)
CREATE UNIQUE INDEX cron_ticks_pkey ON svc.cron_ticks USING btree (cron_id, scheduled_for)
CREATE INDEX cron_ticks_run ON svc.cron_ticks USING btree (run_id)
CREATE INDEX crons_assistant ON svc.crons USING btree (assistant_id)
CREATE INDEX crons_created ON svc.crons USING btree (created_at, cron_id)
CREATE INDEX crons_due ON svc.crons USING btree (next_run_date) WHERE (enabled AND (next_run_date IS NOT NULL))
CREATE INDEX crons_metadata ON svc.crons USING gin (metadata jsonb_path_ops) WITH (fastupdate=off)
CREATE UNIQUE INDEX crons_pkey ON svc.crons USING btree (cron_id)
CREATE INDEX crons_thread ON svc.crons USING btree (thread_id)
CREATE INDEX deleted_threads_age ON svc.deleted_threads USING btree (deleted_at)
CREATE UNIQUE INDEX deleted_threads_pkey ON svc.deleted_threads USING btree (thread_id)
CREATE INDEX deleted_threads_space ON svc.deleted_threads USING btree (blob_space)
CREATE UNIQUE INDEX encryption_keys_pkey ON svc.encryption_keys USING btree (only_row)
CREATE UNIQUE INDEX expiry_defaults_pkey ON svc.expiry_defaults USING btree (only_row)
CREATE INDEX export_destinations_created ON svc.export_destinations USING btree (tenant_id, created_at, id)
CREATE UNIQUE INDEX export_destinations_pkey ON svc.export_destinations USING btree (tenant_id, id)
CREATE UNIQUE INDEX export_events_pkey ON svc.export_events USING btree (tenant_id, export_id, id)
CREATE INDEX export_files_export ON svc.export_files USING btree (tenant_id, export_id, key)
CREATE UNIQUE INDEX export_files_pkey ON svc.export_files USING btree (tenant_id, run_id, number)
CREATE INDEX export_runs_due ON svc.export_runs USING btree (not_before) WHERE (status = 'CREATED'::text)
CREATE INDEX export_runs_leased ON svc.export_runs USING btree (lease_until) WHERE (status = 'RUNNING'::text)
CREATE UNIQUE INDEX export_runs_pkey ON svc.export_runs USING btree (tenant_id, id)
CREATE INDEX export_runs_running ON svc.export_runs USING btree (tenant_id, export_id) WHERE (status = 'RUNNING'::text)
CREATE INDEX export_runs_waiting ON svc.export_runs USING btree (tenant_id, export_id, window_start) WHERE (status = 'CREATED'::text)
CREATE UNIQUE INDEX export_runs_window ON svc.export_runs USING btree (tenant_id, export_id, window_start)
CREATE INDEX exports_active ON svc.exports USING btree (tenant_id, status, created_at) WHERE (status = ANY (ARRAY['CREATED'::text, 'RUNNING'::text, 'INTERVALSCHEDULED'::text]))
CREATE INDEX exports_created ON svc.exports USING btree (tenant_id, created_at, id)
CREATE INDEX exports_destination ON svc.exports USING btree (tenant_id, destination_id)
CREATE UNIQUE INDEX exports_pkey ON svc.exports USING btree (tenant_id, id)
CREATE INDEX exports_project ON svc.exports USING btree (tenant_id, session_id)
CREATE INDEX exports_unfinished_children ON svc.exports USING btree (tenant_id, source_export_id) WHERE ((source_export_id IS NOT NULL) AND (status = ANY (ARRAY['CREATED'::text, 'RUNNING'::text])))
CREATE INDEX exports_unseen ON svc.exports USING btree (tenant_id) WHERE ((status = 'CREATED'::text) AND (writers IS NULL))
CREATE UNIQUE INDEX exports_window ON svc.exports USING btree (tenant_id, source_export_id, window_start) WHERE (source_export_id IS NOT NULL)
CREATE INDEX feedback_created ON svc.feedback USING btree (tenant_id, created_at, id)
CREATE UNIQUE INDEX feedback_pkey ON svc.feedback USING btree (tenant_id, id)
CREATE INDEX feedback_run ON svc.feedback USING btree (tenant_id, run_id, key)
CREATE INDEX feedback_tokens_expiry ON svc.feedback_tokens USING btree (tenant_id, expires_at)
CREATE UNIQUE INDEX feedback_tokens_pkey ON svc.feedback_tokens USING btree (id)
CREATE INDEX feedback_tokens_run ON svc.feedback_tokens USING btree (tenant_id, run_id, created_at, id)
CREATE UNIQUE INDEX job_rows_pkey ON svc.job_rows USING btree (job_id, "position")
CREATE INDEX jobs_due ON svc.jobs USING btree (turn_at) WHERE (state = ANY (ARRAY['running'::text, 'cancelling'::text]))
CREATE INDEX jobs_expired ON svc.jobs USING btree (expires_at)
CREATE UNIQUE INDEX jobs_live ON svc.jobs USING btree (kind, owner) WHERE (state = ANY (ARRAY['running'::text, 'cancelling'::text]))
CREATE INDEX jobs_of_owner ON svc.jobs USING btree (owner, created_at, job_id)
CREATE UNIQUE INDEX jobs_pkey ON svc.jobs USING btree (job_id)
CREATE UNIQUE INDEX model_prices_pkey ON svc.model_prices USING btree (id)
CREATE INDEX model_prices_tenant ON svc.model_prices USING btree (tenant_id, created_at)
CREATE UNIQUE INDEX own_trace_runs_pkey ON svc.own_trace_runs USING btree (tenant_id, id)
CREATE INDEX own_trace_runs_sent ON svc.own_trace_runs USING btree (sent_at)
CREATE UNIQUE INDEX periodic_tasks_pkey ON svc.periodic_tasks USING btree (name)
CREATE UNIQUE INDEX projects_name ON svc.projects USING btree (tenant_id, md5(name))
CREATE UNIQUE INDEX projects_pkey ON svc.projects USING btree (tenant_id, id)
CREATE INDEX projects_started ON svc.projects USING btree (tenant_id, start_time, id)
CREATE UNIQUE INDEX replaced_writes_pkey ON svc.replaced_writes USING btree (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, version)
CREATE UNIQUE INDEX run_cancels_pkey ON svc.run_cancels USING btree (run_id)
CREATE INDEX run_events_ended ON svc.run_events USING btree (created_at) WHERE (outcome IS NOT NULL)
CREATE UNIQUE INDEX run_events_pkey ON svc.run_events USING btree (run_id, first_id, last_id)
CREATE UNIQUE INDEX run_queue_size_pkey ON svc.run_queue_size USING btree (only_row)
CREATE UNIQUE INDEX run_users_pkey ON svc.run_users USING btree (run_id)
CREATE INDEX runs_behind ON svc.runs USING btree (thread_id, created_at, run_id DESC) WHERE ((status = 'pending'::text) AND (waits_for = 'thread'::text))
CREATE INDEX runs_by_status ON svc.runs USING btree (status, created_at, thread_id, run_id)
CREATE INDEX runs_delayed ON svc.runs USING btree (not_before, run_id DESC) WHERE ((status = 'pending'::text) AND (waits_for = 'time'::text))
CREATE INDEX runs_first_seq ON svc.runs USING btree (thread_id, first_seq) WHERE (first_seq IS NOT NULL)
CREATE INDEX runs_in_flight ON svc.runs USING btree (thread_id, created_at, run_id) WHERE (status = ANY (ARRAY['pending'::text, 'running'::text]))
CREATE INDEX runs_inputs ON svc.runs USING btree (thread_id, created_at, run_id DESC) WHERE ((status = 'pending'::text) AND (input_of IS NOT NULL))
CREATE INDEX runs_of_assistant ON svc.runs USING btree (assistant_id) WHERE (status = ANY (ARRAY['pending'::text, 'running'::text]))
CREATE INDEX runs_of_owner ON svc.runs USING btree (assistant_id, owner_hash) WHERE (status = 'running'::text)
CREATE UNIQUE INDEX runs_one_running ON svc.runs USING btree (thread_id) WHERE (status = 'running'::text)
CREATE INDEX runs_pending ON svc.runs USING btree (not_before, created_at) WHERE (status = 'pending'::text)
CREATE UNIQUE INDEX runs_pkey ON svc.runs USING btree (run_id)
CREATE INDEX runs_ready ON svc.runs USING btree (graph_id, assistant_id, owner_hash, not_before, run_id) WHERE ((status = 'pending'::text) AND (waits_for = 'slot'::text))
CREATE INDEX runs_ready_on_thread ON svc.runs USING btree (thread_id, run_id) WHERE ((status = 'pending'::text) AND (waits_for = 'slot'::text))
CREATE INDEX runs_ready_since ON svc.runs USING btree (not_before, run_id DESC) WHERE ((status = 'pending'::text) AND (waits_for = 'slot'::text))
CREATE INDEX runs_settled ON svc.runs USING btree (updated_at) WHERE ((status <> 'running'::text) AND ((status <> 'pending'::text) OR (lease_token > 0)))
CREATE INDEX runs_thread ON svc.runs USING btree (thread_id, created_at, run_id)
CREATE UNIQUE INDEX schema_functions_pkey ON svc.schema_functions USING btree (only_row)
CREATE UNIQUE INDEX schema_migrations_pkey ON svc.schema_migrations USING btree (version)
CREATE INDEX store_items_expiring ON svc.store_items USING btree (expires_at) WHERE (expires_at IS NOT NULL)
CREATE UNIQUE INDEX store_items_pkey ON svc.store_items USING btree (namespace, key)
CREATE INDEX store_items_updated ON svc.store_items USING btree (updated_at)
CREATE INDEX store_items_value ON svc.store_items USING gin (value jsonb_path_ops) WITH (fastupdate=off)
CREATE UNIQUE INDEX store_vectors_pkey ON svc.store_vectors USING btree (namespace, key)
CREATE INDEX stored_endings_age ON svc.stored_endings USING btree (stored_at)
CREATE UNIQUE INDEX stored_endings_pkey ON svc.stored_endings USING btree (owner, lease_token)
CREATE INDEX threads_blob_space ON svc.threads USING btree (blob_space)
CREATE INDEX threads_created ON svc.threads USING btree (created_at, thread_id)
CREATE INDEX threads_expiring ON svc.threads USING btree (expires_at) WHERE (expires_at IS NOT NULL)
CREATE INDEX threads_metadata ON svc.threads USING gin (metadata jsonb_path_ops) WITH (fastupdate=off)
CREATE INDEX threads_not_idle ON svc.threads USING btree (status, updated_at) WHERE (status <> 'idle'::text)
CREATE UNIQUE INDEX threads_pkey ON svc.threads USING btree (thread_id)
CREATE INDEX threads_state_updated ON svc.threads USING btree (state_updated_at, thread_id)
CREATE INDEX threads_updated ON svc.threads USING btree (updated_at, thread_id)
CREATE INDEX threads_waiting ON svc.threads USING btree (state_updated_at, thread_id) WHERE ((status = 'interrupted'::text) AND (interrupts <> '{}'::text))
CREATE INDEX tickets_caller ON svc.tickets USING btree (caller, expires_at)
CREATE INDEX tickets_expiry ON svc.tickets USING btree (expires_at)
CREATE UNIQUE INDEX tickets_pkey ON svc.tickets USING btree (hash)
CREATE UNIQUE INDEX trace_attachments_far_pkey ON svc.trace_attachments_far USING btree (tenant_id, run_id, name, day)
CREATE UNIQUE INDEX trace_attachments_pkey ON ONLY svc.trace_attachments USING btree (tenant_id, run_id, name, day)
CREATE UNIQUE INDEX trace_days_pkey ON svc.trace_days USING btree (day)
CREATE UNIQUE INDEX trace_deletions_pkey ON svc.trace_deletions USING btree (tenant_id, session_id)
CREATE INDEX trace_hour_changes_hour ON svc.trace_hour_changes USING btree (tenant_id, session_id, hour)
CREATE UNIQUE INDEX trace_hour_changes_pkey ON svc.trace_hour_changes USING btree (id)
CREATE INDEX trace_hours_hour ON svc.trace_hours USING btree (hour)
CREATE UNIQUE INDEX trace_hours_pkey ON svc.trace_hours USING btree (tenant_id, session_id, hour)
CREATE INDEX trace_moves_moved ON svc.trace_moves USING btree (moved_at)
CREATE UNIQUE INDEX trace_moves_pkey ON svc.trace_moves USING btree (tenant_id, id, number)
CREATE INDEX trace_moves_start ON svc.trace_moves USING btree (tenant_id, day, start_time, id)
CREATE UNIQUE INDEX trace_orphans_pkey ON svc.trace_orphans USING btree (tenant_id, parent_run_id, id)
CREATE INDEX trace_run_days_day ON svc.trace_run_days USING btree (day)
CREATE UNIQUE INDEX trace_run_days_pkey ON svc.trace_run_days USING btree (tenant_id, id)
CREATE INDEX trace_runs_far_inserted ON svc.trace_runs_far USING btree (inserted_at)
CREATE INDEX trace_runs_far_metadata_tags_idx ON svc.trace_runs_far USING gin (metadata jsonb_path_ops, tags jsonb_path_ops) WITH (fastupdate='on', gin_pending_list_limit='1024')
CREATE UNIQUE INDEX trace_runs_far_pkey ON svc.trace_runs_far USING btree (tenant_id, id, day)
CREATE INDEX trace_runs_far_tenant_id_session_id_start_time_id_day_trace_idx ON svc.trace_runs_far USING btree (tenant_id, session_id, start_time, id) INCLUDE (day, trace_id, parent_run_id, run_type, status, end_time, first_token_time, prompt_tokens, completion_tokens, total_tokens, prompt_cost, completion_cost, total_cost)
CREATE INDEX trace_runs_far_tenant_id_session_id_thread_id_start_time_idx ON svc.trace_runs_far USING btree (tenant_id, session_id, thread_id, start_time) WHERE (thread_id IS NOT NULL)
CREATE INDEX trace_runs_far_tenant_id_trace_id_idx ON svc.trace_runs_far USING btree (tenant_id, trace_id)
CREATE INDEX trace_runs_far_updated_at_idx ON svc.trace_runs_far USING btree (updated_at) WHERE ((status = 'pending'::text) AND (metadata ? 'graph_id'::text) AND ((metadata ->> 'run_id'::text) = (trace_id)::text))
CREATE INDEX trace_runs_labels ON ONLY svc.trace_runs USING gin (metadata jsonb_path_ops, tags jsonb_path_ops) WITH (fastupdate='on', gin_pending_list_limit='1024')
CREATE INDEX trace_runs_own_pending ON ONLY svc.trace_runs USING btree (updated_at) WHERE ((status = 'pending'::text) AND (metadata ? 'graph_id'::text) AND ((metadata ->> 'run_id'::text) = (trace_id)::text))
CREATE UNIQUE INDEX trace_runs_pkey ON ONLY svc.trace_runs USING btree (tenant_id, id, day)
CREATE INDEX trace_runs_session ON ONLY svc.trace_runs USING btree (tenant_id, session_id, start_time, id) INCLUDE (day, trace_id, parent_run_id, run_type, status, end_time, first_token_time, prompt_tokens, completion_tokens, total_tokens, prompt_cost, completion_cost, total_cost)
CREATE INDEX trace_runs_thread ON ONLY svc.trace_runs USING btree (tenant_id, session_id, thread_id, start_time) WHERE (thread_id IS NOT NULL)
CREATE INDEX trace_runs_trace ON ONLY svc.trace_runs USING btree (tenant_id, trace_id)
CREATE INDEX webhook_deliveries_by_status ON svc.webhook_deliveries USING btree (status, created_at, delivery_id)
CREATE INDEX webhook_deliveries_due ON svc.webhook_deliveries USING btree (not_before) WHERE (status = 'pending'::text)
CREATE INDEX webhook_deliveries_ended ON svc.webhook_deliveries USING btree (ended_at) WHERE (ended_at IS NOT NULL)
CREATE INDEX webhook_deliveries_origin ON svc.webhook_deliveries USING btree (origin, not_before) WHERE (status = 'pending'::text)
CREATE UNIQUE INDEX webhook_deliveries_pkey ON svc.webhook_deliveries USING btree (delivery_id)
CREATE UNIQUE INDEX webhook_deliveries_run ON svc.webhook_deliveries USING btree (run_id)
CREATE INDEX webhook_deliveries_thread ON svc.webhook_deliveries USING btree (thread_id)
CREATE UNIQUE INDEX workers_pkey ON svc.workers USING btree (worker_id)
CREATE INDEX workspaces_created ON svc.workspaces USING btree (created_at, id)
CREATE UNIQUE INDEX workspaces_pkey ON svc.workspaces USING btree (id)

-- policies
export_destinations tenant for ALL to svc_tenant using ((tenant_id = ( SELECT (current_setting('svc.tenant'::text))::uuid AS current_setting)))
export_events tenant for ALL to svc_tenant using ((tenant_id = ( SELECT (current_setting('svc.tenant'::text))::uuid AS current_setting)))
export_files tenant for ALL to svc_tenant using ((tenant_id = ( SELECT (current_setting('svc.tenant'::text))::uuid AS current_setting)))
export_runs tenant for ALL to svc_tenant using ((tenant_id = ( SELECT (current_setting('svc.tenant'::text))::uuid AS current_setting)))
exports tenant for ALL to svc_tenant using ((tenant_id = ( SELECT (current_setting('svc.tenant'::text))::uuid AS current_setting)))
feedback tenant for ALL to svc_tenant using ((tenant_id = ( SELECT (current_setting('svc.tenant'::text))::uuid AS current_setting)))
feedback_tokens tenant for ALL to svc_tenant using ((tenant_id = ( SELECT (current_setting('svc.tenant'::text))::uuid AS current_setting)))
model_prices shipped for SELECT to svc_tenant using ((tenant_id IS NULL))
model_prices tenant for ALL to svc_tenant using ((tenant_id = ( SELECT (current_setting('svc.tenant'::text))::uuid AS current_setting)))
projects tenant for ALL to svc_tenant using ((tenant_id = ( SELECT (current_setting('svc.tenant'::text))::uuid AS current_setting)))
trace_attachments tenant for ALL to svc_tenant using ((tenant_id = ( SELECT (current_setting('svc.tenant'::text))::uuid AS current_setting)))
trace_deletions tenant for ALL to svc_tenant using ((tenant_id = ( SELECT (current_setting('svc.tenant'::text))::uuid AS current_setting)))
trace_hour_changes tenant for ALL to svc_tenant using ((tenant_id = ( SELECT (current_setting('svc.tenant'::text))::uuid AS current_setting)))
trace_hours tenant for ALL to svc_tenant using ((tenant_id = ( SELECT (current_setting('svc.tenant'::text))::uuid AS current_setting)))
trace_moves tenant for ALL to svc_tenant using ((tenant_id = ( SELECT (current_setting('svc.tenant'::text))::uuid AS current_setting)))
trace_orphans tenant for ALL to svc_tenant using ((tenant_id = ( SELECT (current_setting('svc.tenant'::text))::uuid AS current_setting)))
trace_run_days tenant for ALL to svc_tenant using ((tenant_id = ( SELECT (current_setting('svc.tenant'::text))::uuid AS current_setting)))
trace_runs tenant for ALL to svc_tenant using ((tenant_id = ( SELECT (current_setting('svc.tenant'::text))::uuid AS current_setting)))

-- functions
add_export_event(p_tenant uuid, p_export uuid, p_type text, p_run uuid, p_message text) returns void
add_trace_days(p_days date[]) returns void
adopt_late_orphans(p_limit integer) returns integer
adopt_orphans(p_tenant uuid, p_parents uuid[]) returns integer
advance_thread(p_thread_id uuid) returns void
awaits_answer(p_thread_id uuid) returns boolean
blob_space_lock(p_space uuid) returns bigint
cancel_export(p_tenant uuid, p_export uuid) returns text
cancel_runs(p_thread_id uuid, p_run_ids uuid[], p_action text, p_reason text, p_access jsonpath) returns TABLE(run_id uuid, outcome text)
claim_deliveries(p_count integer, p_lease interval, p_busy text[], p_after text) returns TABLE(delivery_id uuid, run_id uuid, url text, origin text, attempt integer, lease_token bigint, run text, "values" text, resume_after text)
claim_endings(p_owners json, p_endings json) returns uuid[]
claim_export_runs(p_count integer, p_lease interval, p_runs integer, p_exports integer) returns SETOF export_runs
claim_runs(p_count integer, p_worker_id uuid, p_lease interval, p_attempts integer, p_graphs text[], p_assistants uuid[], p_owners integer[]) returns SETOF runs
collect_blobs(p_space uuid, p_count integer) returns integer
commit_batch(p_owners json, p_heads json, p_blobs json, p_checkpoints json, p_writes json, p_shapes json, p_events json, p_endings json) returns uuid[]
commit_export_file(p_tenant uuid, p_run uuid, p_token bigint, p_key text) returns boolean
complete_export(p_tenant uuid, p_export uuid, p_token bigint, p_manifest text) returns boolean
complete_export_run(p_tenant uuid, p_run uuid, p_token bigint) returns boolean
copy_thread(p_source uuid, p_copy uuid, p_metadata jsonb, p_access jsonpath, p_copy_access jsonpath, p_max integer) returns text
count_queued_runs() returns void
count_trace_runs(p_tenant uuid, p_session uuid, p_day date, p_from timestamp with time zone, p_to timestamp with time zone) returns trace_hours
create_run(p_run new_run, p_kwargs text) returns TABLE(outcome text, thread_id uuid, status text, lease_token bigint, created_at timestamp with time zone, graph_id text, assistant_config jsonb, assistant_context jsonb, assistant_metadata jsonb, blob_space uuid, thread_config jsonb, thread_metadata jsonb, head uuid, log text, has_inputs boolean, stopping uuid[])
create_runs(p_runs json, p_kwargs text[]) returns TABLE(n integer, outcome text, thread_id uuid, status text, lease_token bigint, created_at timestamp with time zone, graph_id text, assistant_config jsonb, assistant_context jsonb, assistant_metadata jsonb, blob_space uuid, thread_config jsonb, thread_metadata jsonb, head uuid, log text, has_inputs boolean, stopping uuid[])
default_item_ttl() returns double precision
default_thread_ttl() returns double precision
default_thread_ttl_strategy() returns text
delete_checkpoints(p_thread_id uuid, p_count integer) returns boolean
delete_item_vectors() returns trigger
delete_old_traces(p_days_kept integer, p_limit integer) returns integer
delete_run(p_run_id uuid, p_thread_id uuid, p_access jsonpath) returns text
delete_state(p_thread_id uuid, p_count integer) returns integer
delete_thread(p_thread_id uuid, p_access jsonpath, p_count integer) returns boolean
delete_trace_moves(p_limit integer) returns integer
delete_values(p_space uuid, p_count integer) returns integer
drop_trace_day(p_day date) returns void
end_export(p_tenant uuid, p_export uuid, p_status text, p_cause text, p_message text) returns void
end_lost_traces(p_quiet interval, p_limit integer) returns integer
end_run(p_run_id uuid, p_status text, p_ending text, p_interrupts text, p_error text, p_values text, p_told boolean, p_stack text) returns void
end_spent_run(p_run runs, p_attempts integer, OUT status text, OUT error text) returns record
enter_tenant(p_tenant uuid) returns void
expire_thread(p_thread_id uuid) returns boolean
export_cursor_time(p_cursor text) returns timestamp with time zone
export_span(p_start timestamp with time zone, p_end timestamp with time zone) returns text
fail_export_attempt(p_tenant uuid, p_run uuid, p_token bigint, p_cause text, p_message text, p_retries integer, p_delay interval) returns text
fail_export_manifest(p_tenant uuid, p_export uuid, p_token bigint, p_cause text, p_message text, p_retries integer, p_delay interval) returns text
find_heir(p_run runs) returns TABLE(rests boolean, heir uuid)
find_settled(p_thread_id uuid) returns TABLE(head uuid, status text, interrupts text, error text, settled_by uuid)
fold_trace_hours(p_quiet interval, p_limit integer) returns integer
follow_assistant_graph() returns trigger
follow_run(p_run_id uuid, p_log text, p_next_id integer) returns text
forget_garbage() returns trigger
hand_over_run(p_run_id uuid, p_thread_id uuid) returns boolean
heads_mark(p_thread_id uuid) returns text
ingest_runs(p_tenant uuid, p_days_kept integer, p_id text[], p_start_time text[], p_metadata text[], p_rank text[], p_patched text[], p_write text[], p_session_id text[], p_trace_id text[], p_parent_run_id text[], p_name text[], p_run_type text[], p_dotted_order text[], p_end_time text[], p_error text[], p_inputs text[], p_outputs text[], p_events text[], p_serialized text[], p_extra text[], p_tags text[], p_reference_example_id text[], p_prompt_tokens text[], p_completion_tokens text[], p_total_tokens text[], p_prompt_cost text[], p_completion_cost text[], p_total_cost text[], p_usage_details text[], p_first_token_time text[], p_model text[], p_ranks text[]) returns date[]
is_being_deleted(p_thread_id uuid, p_space uuid) returns boolean
is_charged(p_run runs, p_suspected boolean) returns boolean
is_graph_served(p_graph_id text, p_within interval, p_leaving boolean) returns boolean
is_of_lone_run(p_thread_id uuid) returns boolean
is_run_ready(p_graphs text[]) returns boolean
is_thread_taken(p_thread_id uuid) returns boolean
items_refresh_on_read() returns boolean
keep_replaced_write() returns trigger
kept_interrupts(p_run_id uuid) returns text
lock_batch_runs(p_owners json, p_over uuid[]) returns uuid[]
lock_export_runs(p_tenant uuid, p_export uuid) returns void
lock_ready_run(p_graph_id text, p_assistant_id uuid, p_owner_hash integer) returns SETOF runs
lock_state_updates(p_owners json, p_over uuid[]) returns uuid[]
lost_attempt(p_run runs, p_message text, p_charged boolean, p_worker text) returns jsonb
move_heads(p_heads json, p_owners uuid[]) returns uuid[]
move_ready_runs(p_assistant_id uuid, p_from text, p_to text, p_limit integer) returns integer
new_first_seq(p_thread_id uuid) returns bigint
new_run_events(p_run_ids uuid[], p_next_ids integer[], p_log_bytes bigint, p_all_bytes bigint) returns TABLE(run_id uuid, first_id integer, last_id integer, events text, outcome text, age_ms double precision, found bigint)
next_run_queue(p_graphs text[], p_assistants uuid[], p_owners integer[], p_passed text[], OUT graph_id text, OUT assistant_id uuid, OUT owner_hash integer, OUT is_only boolean) returns record
note_moved_run() returns trigger
note_removals(p_thread_ids uuid[]) returns void
note_removed_checkpoints() returns trigger
price_runs(p_tenant uuid, p_id uuid[], p_model text[], p_prompt_tokens bigint[], p_completion_tokens bigint[], p_total_tokens bigint[], p_usage_details text[], p_prompt_cost numeric[], p_completion_cost numeric[], p_total_cost numeric[], p_priced_details text[]) returns integer
promote_due_runs(p_limit integer) returns integer
prune_default_assistant(p_assistant_id uuid, p_within interval) returns text
prune_thread(p_thread_id uuid, p_mark text, p_kept json, p_count integer) returns text
queue_webhook(p_run_id uuid, p_values text) returns void
ready_assistants(p_graph_id text, p_after uuid, p_limit integer) returns SETOF uuid
ready_graphs() returns text[]
recover_lost_runs(p_limit integer, p_attempts integer) returns SETOF runs
refuse_deleted_thread() returns trigger
release_runs(p_run_ids uuid[], p_lease_tokens bigint[], p_charge boolean, p_reason text, p_lost boolean) returns void
remove_run(p_run_id uuid, p_thread_id uuid) returns void
remove_runs(p_thread_id uuid) returns void
repair_ready_graphs(p_graph_id text, p_after uuid, OUT last uuid, OUT repaired integer) returns record
requeue_export_manifest(p_tenant uuid, p_export uuid, p_token bigint, p_lost boolean, p_reason text, p_retries integer, p_delay interval) returns boolean
requeue_export_run(p_tenant uuid, p_run uuid, p_token bigint, p_lost boolean, p_reason text, p_retries integer, p_delay interval) returns boolean
restore_head(p_thread_id uuid, p_checkpoint_ns text, p_removed uuid[], p_found uuid) returns void
restore_thread(p_thread_id uuid) returns void
run_error_message(p_error text) returns text
run_owner(p_metadata jsonb, p_thread_metadata jsonb) returns integer
run_settings(p_run_ids uuid[]) returns TABLE(run_id uuid, thread_id uuid, status text, lease_token bigint, created_at timestamp with time zone, graph_id text, assistant_config jsonb, assistant_context jsonb, assistant_metadata jsonb, blob_space uuid, thread_config jsonb, thread_metadata jsonb, head uuid, log text, next_event_id integer, sealed_user text, webhook text, cancelled boolean, has_inputs boolean)
sent_usage_details(p_patched integer, p_details jsonb) returns jsonb
set_thread_expiry() returns trigger
settle_stopped_thread(p_thread_id uuid, p_run_id uuid) returns void
settle_thread(p_thread_id uuid, p_run_id uuid, p_ending text, p_interrupts text, p_error text) returns void
spawn_exports(p_lag interval, p_unfinished integer, p_limit integer) returns integer
stop_runs(p_thread_id uuid, p_run_ids uuid[], p_action text, p_reason text) returns TABLE(run_id uuid, outcome text)
store_endings(p_owners uuid[], p_endings json) returns void
store_events(p_owners uuid[], p_events json) returns void
store_rows(p_owners uuid[], p_runs uuid[], p_blobs json, p_checkpoints json, p_writes json, p_shapes json) returns void
stored_status(p_thread_id uuid) returns text
sweep_deleted_thread(p_thread_id uuid, p_count integer) returns boolean
sweep_projects(p_tenant uuid, p_limit integer) returns integer
take_inputs(p_owners json, p_held uuid[]) returns void
time_out_export(p_tenant uuid, p_export uuid, p_timeout interval) returns boolean
token_sum(p_sum numeric) returns bigint
trace_bit(p_field text) returns integer
trace_calls_from(p_start timestamp with time zone) returns timestamp with time zone
trace_calls_until(p_start timestamp with time zone, p_end timestamp with time zone) returns timestamp with time zone
trace_day(p_start timestamp with time zone, p_days_kept integer) returns date
trace_entries(p_payload text) returns jsonb
trace_hour_of(p_time timestamp with time zone) returns timestamp with time zone
trace_hours_called(p_start timestamp with time zone, p_end timestamp with time zone) returns SETOF timestamp with time zone
trace_merge(p_old_rank bigint, p_old_patched integer, p_old_ranks jsonb, p_old_metadata jsonb, p_new_rank bigint, p_new_patched integer, p_new_ranks jsonb, p_new_metadata jsonb, OUT wins integer, OUT rank bigint, OUT patched integer, OUT ranks jsonb, OUT metadata jsonb) returns record
trace_pick(p_wins integer, p_new anyelement, p_old anyelement) returns anyelement
trace_step(p_seconds double precision) returns smallint
trace_thread_id(p_metadata jsonb) returns text
undo_run_writes(p_run_id uuid, p_thread_id uuid, p_results boolean) returns integer
unsettle_thread(p_thread_id uuid, p_run runs, p_moved boolean) returns void
